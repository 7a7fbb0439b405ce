package store

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// revenueReportSQL adds up the reservations of each period and currency. A reservation belongs to the period that
// contains its first date. Reservations belong to no group of a report by anything else than time. A reservation that the owner made has no price; it counts in the currency of the business.
const revenueReportSQL = `
SELECT CASE WHEN @by IN ('day', 'week', 'month') THEN date_trunc(@by, start_date::timestamp)::date ELSE @from::date END - date '1970-01-01', coalesce(currency, @currency), count(*) FILTER (WHERE status <> 'cancelled'),
	coalesce(sum(total) FILTER (WHERE status <> 'cancelled'), 0)::bigint,
	coalesce(sum((payment->>'amount')::bigint) FILTER (WHERE payment->>'status' = 'paid'), 0)::bigint,
	coalesce(sum((CASE WHEN payment->>'dispute_status' = 'lost' THEN payment->>'amount' ELSE payment->>'refunded' END)::bigint), 0)::bigint
FROM reservations
WHERE business_id = @business_id AND start_date >= @from::date AND start_date < @to::date
GROUP BY 1, 2 ORDER BY 1, 2
LIMIT @most`

// RevenueReport returns the revenue of a business by period and currency. A reservation without a price counts in the
// currency that the argument `currency` names. Fault: invalid_parameter if there are more than [report.MaxRows] rows.
func (s *Store) RevenueReport(ctx context.Context, businessID uuid.UUID, q report.Query,
	currency string) ([]report.RevenueRow, error) {
	rows, err := postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (report.RevenueRow, error) {
		r := report.RevenueRow{Kind: "reservation"}
		var day int32
		var total, paid, refunded int64
		if err := row.Scan(&day, &r.Currency, &r.Sold, &total, &paid, &refunded); err != nil {
			return r, err
		}
		in, err := money.ParseCurrency(r.Currency)
		r.Date, r.Total, r.Paid, r.Refunded = timespan.Date(day), in.JSON(total), in.JSON(paid), in.JSON(refunded)
		return r, err
	}, "add up revenue", revenueReportSQL, pgx.NamedArgs{
		"business_id": businessID, "from": q.From.String(), "to": (q.To + 1).String(), "by": string(q.By),
		"currency": currency, "most": report.MaxRows + 1,
	})
	if err == nil && len(rows) > report.MaxRows {
		err = report.TooManyRows()
	}
	return rows, err
}
