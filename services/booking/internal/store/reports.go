package store

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// grouping has the SQL expressions by which a report groups bookings.
type grouping struct {
	from   string // table with one row for each booking, or for each booked service
	date   string // first instant of the period
	id     string // id of the group
	name   string // name of the group
	isNew  string // whether the booking is the first one of its customer
	total  string // price
	paying string // condition for the rows with which the payment of a booking counts
}

// newGrouping returns the expressions of a report by `by`. The alias of the bookings is b.
func newGrouping(by report.By) grouping {
	g := grouping{from: "bookings b", date: "@from::timestamp", id: "NULL::uuid", name: "''::text", isNew: "NULL::boolean",
		total: "b.total", paying: "true"}
	switch by {
	case report.Location:
		g.id, g.name = "coalesce((b.location->>'id')::uuid, @default_location::uuid)", "b.location->>'name'"
	case report.Staff:
		g.id, g.name = "b.staff_id", "b.staff_name"
	case report.Service:
		g.from += " CROSS JOIN LATERAL jsonb_array_elements(b.services) WITH ORDINALITY AS sold (service, place)"
		g.id, g.name = "(sold.service->>'id')::uuid", "sold.service->>'name'"
		g.total, g.paying = "(sold.service->>'price')::bigint", "sold.place = 1"
	case report.CustomerKind:
		g.from += ` LEFT JOIN (
    SELECT lower(customer_email) AS email, min(local_start) AS start FROM bookings
    WHERE business_id = @business_id AND customer_email <> '' AND status <> 'cancelled' AND local_start < @to::date GROUP BY 1
) AS earliest ON earliest.email = lower(b.customer_email)`
		g.isNew = "CASE WHEN b.customer_email <> '' THEN coalesce(b.local_start <= earliest.start, true) END"
	default:
		g.date = "date_trunc(@by, b.local_start)"
	}
	return g
}

// bookingsReportSQL returns the statement that counts bookings by group, source and status. The local start of a
// booking, as it is stored, determines the period. The inner query has few columns, because it reads every booking.
func bookingsReportSQL(by report.By) string {
	g := newGrouping(by)
	return `
SELECT stretch::date - date '1970-01-01', id, coalesce(max(name), ''), is_new, source, sum(n)::bigint,
	coalesce(sum(n) FILTER (WHERE status = 'pending'), 0)::bigint, coalesce(sum(n) FILTER (WHERE status = 'confirmed'), 0)::bigint,
	coalesce(sum(n) FILTER (WHERE status = 'completed'), 0)::bigint, coalesce(sum(n) FILTER (WHERE status = 'no_show'), 0)::bigint,
	coalesce(sum(n) FILTER (WHERE status = 'cancelled'), 0)::bigint, coalesce(sum(guests) FILTER (WHERE status <> 'cancelled'), 0)::bigint
FROM (
	SELECT ` + g.date + ` AS stretch, ` + g.id + ` AS id, max(` + g.name + `) AS name, ` + g.isNew + ` AS is_new, b.source, b.status,
		count(*) AS n, sum(b.party_size) AS guests
	FROM ` + g.from + `
	WHERE b.business_id = @business_id AND b.local_start >= @from::date AND b.local_start < @to::date
	GROUP BY 1, 2, 4, b.source, b.status
) AS counted
GROUP BY stretch, id, is_new, source ORDER BY stretch, source, id, is_new
LIMIT @most`
}

// revenueReportSQL returns the statement that adds up the prices and payments of bookings and of orders of tickets.
// Orders belong to no group. In a report by service, a payment counts with the first service of its booking.
func revenueReportSQL(by report.By) string {
	g := newGrouping(by)
	return `
SELECT ` + g.date + `::date - date '1970-01-01', ` + g.id + `, coalesce(max(` + g.name + `), ''), ` + g.isNew + `, 'booking', b.currency,
	count(*) FILTER (WHERE b.status <> 'cancelled'), coalesce(sum(` + g.total + `) FILTER (WHERE b.status <> 'cancelled'), 0)::bigint,
	` + paymentSums + `
FROM ` + g.from + ` LEFT JOIN payments p ON p.business_id = b.business_id AND p.subject_kind = 'booking' AND p.subject_id = b.id AND ` + g.paying + `
WHERE b.business_id = @business_id AND b.local_start >= @from::date AND b.local_start < @to::date
GROUP BY 1, 2, 4, b.currency
UNION ALL
SELECT ` + strings.ReplaceAll(g.date, "b.", "t.") + `::date - date '1970-01-01', NULL, '', NULL, 'ticket', t.currency, count(*) FILTER (WHERE t.status <> 'cancelled'),
	coalesce(sum(t.total) FILTER (WHERE t.status <> 'cancelled'), 0)::bigint,
	` + paymentSums + `
FROM tickets t LEFT JOIN payments p ON p.business_id = t.business_id AND p.subject_kind = 'ticket' AND p.subject_id = t.id
WHERE t.business_id = @business_id AND t.local_start >= @from::date AND t.local_start < @to::date
GROUP BY 1, t.currency
ORDER BY 1, 5, 6, 2, 4
LIMIT @most`
}

// paymentSums adds up the paid and the refunded amounts of the payments p.
const paymentSums = `coalesce(sum(p.amount) FILTER (WHERE p.status = 'paid'), 0)::bigint, coalesce(sum(CASE WHEN p.dispute_status = 'lost' THEN p.amount ELSE p.refunded END), 0)::bigint`

const (
	// staffTimeReportSQL adds up the booked time of staff members by period: day, week or month.
	//
	// The statement adds time directly if it lies within one period and overlaps no other
	// booking. It merges all other time, because the guests of a class share their time,
	// which must count only once. Then it cuts the merged time at the ends of periods.
	staffTimeReportSQL = `
WITH calendar AS MATERIALIZED (
    SELECT array_agg(stretch AT TIME ZONE @timezone ORDER BY stretch) AS starts,
           @from::timestamp AT TIME ZONE @timezone AS begins, @to::timestamp AT TIME ZONE @timezone AS ends
    FROM generate_series(date_trunc(@by, @from::timestamp), @to::timestamp + @step::interval, @step::interval) AS stretch
), held AS (
    SELECT resource_id, during, holder FROM occupied_time
    WHERE business_id = @business_id AND lane = 0 AND during && (SELECT tstzrange(begins, ends) FROM calendar)
    UNION ALL
    SELECT resource_id, during, holder FROM past_occupied_time
    WHERE business_id = @business_id AND lane = 0 AND during && (SELECT tstzrange(begins, ends) FROM calendar)
), placed AS (
    SELECT resource_id, during, lower(during) AS begun, upper(during) AS ended, width_bucket(lower(during), starts) AS stretch,
           holder = '00000000-0000-0000-0000-000000000000' AS shared, starts, begins, ends
    FROM held, calendar
), sums AS (
    SELECT resource_id, stretch, sum(ended - begun) FILTER (WHERE simple) AS length, range_agg(during) FILTER (WHERE NOT simple) AS others
    FROM placed, LATERAL (SELECT NOT shared AND ended <= starts[stretch + 1] AND begun >= begins AND ended <= ends AS simple) AS kind
    GROUP BY 1, 2
), rest AS (
    SELECT resource_id, unnest(range_agg(others)) AS span FROM sums WHERE others IS NOT NULL GROUP BY 1
), parts AS (
    SELECT resource_id, stretch, length FROM sums WHERE length IS NOT NULL
    UNION ALL
    SELECT resource_id, stretch, least(upper(span), starts[stretch + 1], ends) - greatest(lower(span), starts[stretch], begins)
    FROM rest, calendar, LATERAL generate_series(greatest(width_bucket(lower(span), starts), 1), width_bucket(upper(span), starts)) AS stretch
)
SELECT (starts[stretch] AT TIME ZONE @timezone)::date - date '1970-01-01', resource_id, (extract(epoch FROM sum(length)) / 60)::bigint
FROM parts, calendar
WHERE length > interval '0'
GROUP BY 1, 2 ORDER BY 1, 2
LIMIT @most`
)

func reportArgs(businessID uuid.UUID, q report.Query) pgx.NamedArgs {
	args := pgx.NamedArgs{
		"business_id": businessID, "from": q.From.String(), "to": (q.To + 1).String(), "by": string(q.By),
		"most": report.MaxRows + 1, "default_location": nil,
	}
	if q.DefaultLocation != uuid.Nil {
		args["default_location"] = q.DefaultLocation
	}
	return args
}

// readRows returns the rows of a report. All reports have the same maximum number
// of rows. Fault: invalid_parameter if there are more than report.MaxRows rows.
func readRows[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], what, sql string,
	args pgx.NamedArgs) ([]T, error) {
	rows, err := postgres.Rows(ctx, s.pool, scan, what, sql, args)
	if err == nil && len(rows) > report.MaxRows {
		err = report.TooManyRows()
	}
	return rows, err
}

// groupColumns are the columns of a row that describe its group.
type groupColumns struct {
	id    *uuid.UUID
	name  string
	isNew *bool // nil if the customer is unknown
}

func (g groupColumns) newGroup(by report.By) report.Group {
	switch {
	case by != report.CustomerKind:
		return report.NewGroup(by, g.id, g.name)
	case g.isNew == nil:
		return report.Group{}
	case *g.isNew:
		return report.Group{CustomerKind: report.NewCustomer}
	}
	return report.Group{CustomerKind: report.ReturningCustomer}
}

// BookingsReport returns the numbers of bookings of a business, with one row for each period
// and source. If q.By is not a length of time, each row belongs to one group. Each row has the
// number of bookings in each status. Fault: invalid_parameter if the report has too many rows.
func (s *Store) BookingsReport(ctx context.Context, businessID uuid.UUID,
	q report.Query) ([]booking.BookingsRow, error) {
	return readRows(ctx, s, func(row pgx.CollectableRow) (booking.BookingsRow, error) {
		var r booking.BookingsRow
		var day int32
		var group groupColumns
		err := row.Scan(&day, &group.id, &group.name, &group.isNew, &r.Source, &r.Bookings, &r.Pending, &r.Confirmed,
			&r.Completed, &r.NoShow, &r.Cancelled, &r.Guests)
		r.Date, r.Group = timespan.Date(day), group.newGroup(q.By)
		return r, err
	}, "count bookings", bookingsReportSQL(q.By), reportArgs(businessID, q))
}

// RevenueRow is the revenue of one kind of sale in one currency and one period. The
// period begins at Date and is a day, a week or a month long. Amounts are in minor units.
type RevenueRow struct {
	Date                  timespan.Date
	Kind                  string
	Currency              money.Currency
	Sold                  int64
	Total, Paid, Refunded int64
	report.Group
}

// RevenueReport returns the sold, paid and refunded amounts of a business, with one row for each
// period, kind of sale and currency. Fault: invalid_parameter if the report has too many rows.
func (s *Store) RevenueReport(ctx context.Context, businessID uuid.UUID, q report.Query) ([]RevenueRow, error) {
	return readRows(ctx, s, func(row pgx.CollectableRow) (RevenueRow, error) {
		var r RevenueRow
		var day int32
		var currency string
		var group groupColumns
		err := row.Scan(&day, &group.id, &group.name, &group.isNew, &r.Kind, &currency, &r.Sold, &r.Total, &r.Paid,
			&r.Refunded)
		if err != nil {
			return r, err
		}
		r.Date, r.Group = timespan.Date(day), group.newGroup(q.By)
		r.Currency, err = money.ParseCurrency(currency)
		return r, err
	}, "add up revenue", revenueReportSQL(q.By), reportArgs(businessID, q))
}

// StaffTimeReport returns the number of minutes for which each staff member is booked in each period.
// The length of a period is q.By: a day, a week or a month. Periods begin and end in the given time
// zone, which PostgreSQL must know. Fault: invalid_parameter if the report has too many rows.
func (s *Store) StaffTimeReport(ctx context.Context, businessID uuid.UUID, q report.Query,
	timezone string) ([]booking.StaffTimeRow, error) {
	args := reportArgs(businessID, q)
	args["timezone"], args["step"] = timezone, "1 "+string(q.By)
	return readRows(ctx, s, func(row pgx.CollectableRow) (booking.StaffTimeRow, error) {
		var r booking.StaffTimeRow
		var day int32
		err := row.Scan(&day, &r.StaffID, &r.Minutes)
		r.Date = timespan.Date(day)
		return r, err
	}, "add up the time of staff", staffTimeReportSQL, args)
}
