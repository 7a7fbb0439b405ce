package store_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func TestRevenueReportCountsFirstDay(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business := uuid.New()
	if _, err := pool.Exec(testkit.AsSystem(t), `INSERT INTO rentals VALUES ($1, $1)`, business); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		status, start string
		total         *int64
		currency      *string
	}{
		{"reserved", "2027-03-31", new(int64(2400)), new("EUR")},
		{"returned", "2027-03-01", new(int64(1200)), new("EUR")},
		{"cancelled", "2027-03-02", new(int64(9900)), new("EUR")}, {"picked_up", "2027-03-03", nil, nil},
		{"reserved", "2027-03-03", new(int64(500)), new("JPY")},
		{"reserved", "2027-04-01", new(int64(100)), new("EUR")},
	} {
		_, err := pool.Exec(testkit.AsSystem(t),
			`INSERT INTO reservations (business_id, id, rental_id, rental_name, status, quantity, start_date, end_date,
				price, total, currency, customer_name, locale, offer_version, created_at, updated_at)
			VALUES ($1, $2, $1, 'Kayak', $3, 1, $4::text::date, $4::text::date + 3, $5, $5, $6, 'Zoë', 'en', 1, now(), now())`,
			business, uuid.New(), r.status, r.start, r.total, r.currency)
		if err != nil {
			t.Fatal(err)
		}
	}
	q := report.Query{From: timespan.NewDate(2027, 3, 1), To: timespan.NewDate(2027, 3, 31), By: report.Month}
	got, err := s.RevenueReport(testkit.AsSystem(t), business, q, "EUR")
	want := []report.RevenueRow{
		{Date: q.From, Kind: "reservation", Currency: "EUR", Sold: 3, Total: "36.00", Paid: "0.00", Refunded: "0.00"},
		{Date: q.From, Kind: "reservation", Currency: "JPY", Sold: 1, Total: "500", Paid: "0", Refunded: "0"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(want, got))
	}
}
