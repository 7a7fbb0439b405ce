package reports

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// MostStretches is the maximum number of periods (days, weeks or months) on one page of reports: three years by week.
const MostStretches = 160

// Overview has the reports about a business for one page; Stretches are the first dates of the periods. If one of the
// services that a report needs is unavailable, the whole report is marked as unknown, because its sums would be too
// small.
type Overview struct {
	Query     report.Query
	Stretches []timespan.Date
	Bookings  peers.Part[booking.BookingsRow]
	Revenue   peers.Part[report.RevenueRow]
	Time      peers.Part[report.UtilisationRow]
}

// Overview reads all reports concurrently. Fault: invalid_parameter for more periods than [MostStretches], or for more
// rows than a report may have.
func (o *UseCases) Overview(ctx context.Context, slug string, q report.Query) (*Overview, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	r := &Overview{Query: q, Stretches: q.Periods()}
	if len(r.Stretches) > MostStretches {
		return nil, request.Invalid("by: there are more than %d on one page; ask for fewer dates, or by week or month.",
			MostStretches)
	}
	err := peers.Together(
		func() error { return reported(ctx, o, slug, q, o.BookingsReport, &r.Bookings) },
		func() error { return reported(ctx, o, slug, q, o.RevenueReport, &r.Revenue) },
		func() error { return reported(ctx, o, slug, q, o.UtilisationReport, &r.Time) })
	return r, err
}

// reported reads one report.
func reported[Row any](
	ctx context.Context, o *UseCases, slug string, q report.Query,
	ask func(context.Context, string, report.Query) (*report.Report[Row], error), into *peers.Part[Row],
) error {
	answer, err := ask(ctx, slug, q)
	if err != nil {
		return peers.SetPart(ctx, o.Logger, into, nil, "", err)
	}
	into.List = answer.Rows
	return nil
}

// Nothing reports whether the business had no bookings and no sales. It is false if that is unknown.
func (r *Overview) Nothing() bool { return !r.Bookings.Shown() && !r.Revenue.Shown() }

// ByStretch returns the number of bookings in each period, added up over all sources.
func (r *Overview) ByStretch() []booking.BookingsRow {
	rows := make([]booking.BookingsRow, len(r.Stretches))
	for i, date := range r.Stretches {
		rows[i].Date = date
	}
	for _, b := range r.Bookings.List {
		if at, ok := slices.BinarySearch(r.Stretches, b.Date); ok {
			addBookings(&rows[at], b)
		}
	}
	return rows
}

// BySource adds up the bookings by source, the source with the most bookings first.
func (r *Overview) BySource() []booking.BookingsRow {
	var rows []booking.BookingsRow
	at := map[string]int{}
	for _, b := range r.Bookings.List {
		i, ok := at[b.Source]
		if !ok {
			i = len(rows)
			at[b.Source], rows = i, append(rows, booking.BookingsRow{Source: b.Source})
		}
		addBookings(&rows[i], b)
	}
	slices.SortStableFunc(rows, func(a, b booking.BookingsRow) int {
		return cmp.Or(cmp.Compare(b.Bookings, a.Bookings), cmp.Compare(a.Source, b.Source))
	})
	return rows
}

// AllBookings adds up all bookings.
func (r *Overview) AllBookings() booking.BookingsRow {
	var all booking.BookingsRow
	for _, b := range r.Bookings.List {
		addBookings(&all, b)
	}
	return all
}

func addBookings(into *booking.BookingsRow, b booking.BookingsRow) {
	into.Bookings += b.Bookings
	into.Pending += b.Pending
	into.Confirmed += b.Confirmed
	into.Completed += b.Completed
	into.NoShow += b.NoShow
	into.Cancelled += b.Cancelled
	into.Guests += b.Guests
}

// Takings is the revenue in one currency.
type Takings struct {
	Currency string
	Kinds    []string // kinds with a sale, payment or refund: booking, ticket, reservation
	Each     []Taking // one for each stretch
	All      Taking
}

// Taking has the amounts sold, paid online and refunded. Totals are the prices of what was sold, by kind.
type Taking struct {
	Totals                map[string]decimal.Decimal
	Total, Paid, Refunded decimal.Decimal
}

// ByCurrency adds up the revenue of each currency by period; the currency own comes first. It returns an error for an
// amount that is not a number.
func (r *Overview) ByCurrency(own string) ([]Takings, error) {
	var all []Takings
	for _, row := range r.Revenue.List {
		i := slices.IndexFunc(all, func(t Takings) bool { return t.Currency == row.Currency })
		if i < 0 {
			i, all = len(all), append(all, Takings{Currency: row.Currency, Each: make([]Taking, len(r.Stretches))})
		}
		t := &all[i]
		if !slices.Contains(t.Kinds, row.Kind) {
			t.Kinds = append(t.Kinds, row.Kind)
		}
		if err := t.All.take(row); err != nil {
			return nil, err
		}
		if at, ok := slices.BinarySearch(r.Stretches, row.Date); ok {
			_ = t.Each[at].take(row) // the same amounts were parsed above
		}
	}
	for _, t := range all {
		slices.Sort(t.Kinds)
	}
	slices.SortFunc(all, func(a, b Takings) int {
		if a.Currency == own || b.Currency != own && a.Currency < b.Currency {
			return -1
		}
		return 1
	})
	return all, nil
}

func (t *Taking) take(row report.RevenueRow) error {
	var amounts [3]decimal.Decimal
	for i, n := range []string{row.Total.String(), row.Paid.String(), row.Refunded.String()} {
		amount, err := decimal.NewFromString(n)
		if err != nil {
			return fmt.Errorf("an amount of revenue: %w", err)
		}
		amounts[i] = amount
	}
	if t.Totals == nil {
		t.Totals = map[string]decimal.Decimal{}
	}
	t.Totals[row.Kind] = t.Totals[row.Kind].Add(amounts[0])
	t.Total, t.Paid, t.Refunded = t.Total.Add(amounts[0]), t.Paid.Add(amounts[1]), t.Refunded.Add(amounts[2])
	return nil
}

// Worked is the booked time and the working time of one member or of all, in minutes.
type Worked struct{ Booked, Open int64 }

// Member is the time of one member, added up over all periods.
type Member struct {
	ID   uuid.UUID
	Name string   // "" if the member is no longer in the offer
	Each []Worked // one for each stretch
	Worked
}

// Members adds up the time of each member, in the order of the rows.
func (r *Overview) Members() []Member {
	var all []Member
	for _, row := range r.Time.List {
		i := slices.IndexFunc(all, func(m Member) bool { return m.ID == row.StaffID })
		if i < 0 {
			i, all = len(all),
				append(all, Member{ID: row.StaffID, Name: row.StaffName, Each: make([]Worked, len(r.Stretches))})
		}
		all[i].add(row)
		if at, ok := slices.BinarySearch(r.Stretches, row.Date); ok {
			all[i].Each[at].add(row)
		}
	}
	return all
}

// AllTime adds up the time of all members.
func (r *Overview) AllTime() Worked {
	var all Worked
	for _, row := range r.Time.List {
		all.add(row)
	}
	return all
}

func (w *Worked) add(row report.UtilisationRow) {
	w.Booked += row.BookedMinutes
	w.Open += row.OpenMinutes
}
