package reports

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// drawOverview returns random report rows with any dates, sources, kinds, currencies and members that the services may
// report.
func drawOverview(t *rapid.T) *Overview {
	from := timespan.NewDate(2027, time.January, rapid.IntRange(1, 31).Draw(t, "from"))
	q := report.Query{From: from, To: from + timespan.Date(rapid.IntRange(0, 200).Draw(t, "days")),
		By: rapid.SampledFrom([]report.By{report.Day, report.Week, report.Month}).Draw(t, "by")}
	r := &Overview{Query: q, Periods: q.Periods()}
	n := func(name string) int64 { return rapid.Int64Range(0, 9999).Draw(t, name) }
	of := func(name string, all ...string) string { return rapid.SampledFrom(all).Draw(t, name) }
	members := []uuid.UUID{{1}, {2}, {3}}
	for range rapid.IntRange(0, 30).Draw(t, "rows") {
		date := rapid.SampledFrom(r.Periods).Draw(t, "date")
		r.Bookings.List = append(r.Bookings.List, booking.BookingsRow{
			Date: date, Source: of("source", "page", "api", "=x"), Bookings: n("bookings"), Pending: n("pending"),
			Confirmed: n("confirmed"),
			Completed: n("completed"), NoShow: n("missed"), Cancelled: n("cancelled"), Guests: n("guests"),
		})
		amount := func(name string) json.Number {
			return json.Number(fmt.Sprintf("%d.%02d", n(name), rapid.IntRange(0, 99).Draw(t, "cents")))
		}
		r.Revenue.List = append(r.Revenue.List, report.RevenueRow{
			Date: date, Kind: of("kind", "booking", "ticket", "reservation"), Currency: of("currency", "EUR", "CHF"),
			Total: amount("total"), Paid: amount("paid"), Refunded: amount("refunded"),
		})
		r.Time.List = append(r.Time.List, report.UtilisationRow{Date: date,
			StaffID: rapid.SampledFrom(members).Draw(t, "member"), BookedMinutes: n("booked"), OpenMinutes: n("open")})
	}
	return r
}

// parseHundredths returns an amount in hundredths. It does not use the decimal arithmetic of the tested code.
func parseHundredths(t *rapid.T, n string) int64 {
	var whole, part int64
	if _, err := fmt.Sscanf(n, "%d.%d", &whole, &part); err != nil {
		t.Fatal(err)
	}
	return 100*whole + part
}

func TestOverviewCountIsUnknownWithoutKinds(t *testing.T) {
	t.Parallel()
	for by, want := range map[report.By]bool{report.Service: true, report.Month: false} {
		r := &Overview{Query: report.Query{By: by}}
		if r.Kinds.IsUnknown = true; r.IsCountUnknown() != want {
			t.Errorf("by %s: unknown is %v, want %v", by, r.IsCountUnknown(), want)
		}
	}
}

// TestOverviewSumsMatchRows shows that the sums by source, date, currency, kind and member count each row once.
func TestOverviewSumsMatchRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawOverview(t)
		want, got := map[string]int64{}, map[string]int64{}
		for _, b := range r.Bookings.List {
			for _, place := range []string{"all", b.Source, b.Date.String()} {
				addBookingsTo(want, place, b)
			}
		}
		addBookingsTo(got, "all", r.SumBookings())
		for _, b := range r.SumBySource() {
			addBookingsTo(got, b.Source, b)
		}
		for _, b := range r.SumByPeriod() {
			addBookingsTo(got, b.Date.String(), b)
		}
		for _, row := range r.Revenue.List {
			for _, date := range []string{"all", row.Date.String()} {
				at := row.Currency + " " + date
				want[at+" "+row.Kind] += parseHundredths(t, row.Total.String())
				want[at] += parseHundredths(t, row.Total.String())
				want[at+" paid"] += parseHundredths(t, row.Paid.String())
				want[at+" refunded"] += parseHundredths(t, row.Refunded.String())
			}
		}
		takings, err := r.SumByCurrency("EUR")
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range takings {
			addTaking(got, of.Currency+" all", of.Sum)
			for i, each := range of.ByPeriod {
				addTaking(got, of.Currency+" "+r.Periods[i].String(), each)
			}
		}
		for _, row := range r.Time.List {
			for _, place := range []string{"time", row.StaffID.String(), row.StaffID.String() + row.Date.String()} {
				want[place+" booked"] += row.BookedMinutes
				want[place+" open"] += row.OpenMinutes
			}
		}
		addWorked(got, "time", r.SumTime())
		for _, m := range r.SumByMember() {
			addWorked(got, m.ID.String(), m.WorkedTime)
			for i, each := range m.ByPeriod {
				addWorked(got, m.ID.String()+r.Periods[i].String(), each)
			}
		}
		if diff := cmp.Diff(removeZeros(want), removeZeros(got)); diff != "" {
			t.Errorf("sums (-want +got):\n%s", diff)
		}
	})
}

func addBookingsTo(into map[string]int64, place string, b booking.BookingsRow) {
	for name, n := range map[string]int64{
		"bookings": b.Bookings, "pending": b.Pending, "confirmed": b.Confirmed, "completed": b.Completed,
		"missed": b.NoShow, "cancelled": b.Cancelled, "guests": b.Guests,
	} {
		into[place+" "+name] += n
	}
}

func addTaking(into map[string]int64, place string, of Taking) {
	minor := func(d decimal.Decimal) int64 { return d.Shift(2).IntPart() }
	for kind, total := range of.Totals {
		into[place+" "+kind] += minor(total)
	}
	into[place] += minor(of.Total)
	into[place+" paid"] += minor(of.Paid)
	into[place+" refunded"] += minor(of.Refunded)
}

func addWorked(into map[string]int64, place string, w WorkedTime) {
	into[place+" booked"] += w.Booked
	into[place+" open"] += w.Open
}

// removeZeros removes sums of 0, because a period without sales has no rows.
func removeZeros(sums map[string]int64) map[string]int64 {
	kept := map[string]int64{}
	for name, n := range sums {
		if n != 0 {
			kept[name] = n
		}
	}
	return kept
}
