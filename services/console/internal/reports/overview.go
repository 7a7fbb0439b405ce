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

// MostStretches is the maximum number of periods (days, weeks or months) on one page of reports. Three years have about
// this number of weeks.
const MostStretches = 160

// Overview has the reports about a business for one page. The field Stretches has the first date of each period. If a
// report needs several services and one of them is unavailable, the whole report is unknown, because its sums would be
// too small.
type Overview struct {
	Query     report.Query
	Stretches []timespan.Date
	Bookings  peers.Part[booking.BookingsRow]
	Revenue   peers.Part[report.RevenueRow]
	Time      peers.Part[report.UtilisationRow]
}

// Overview reads the three reports concurrently. Fault: invalid_parameter for more periods than [MostStretches], or for
// more rows than a report may have.
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

// reported reads one report by the function `ask`, and stores its rows in the argument `into`.
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

// Nothing returns true if the business had no bookings and no revenue in the dates of the reports. It returns false if
// the report about bookings or the report about revenue is unknown.
func (r *Overview) Nothing() bool { return !r.Bookings.Shown() && !r.Revenue.Shown() }

// ByStretch returns one row for each period, with the number of bookings from all sources.
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

// BySource returns one row for each source, with the number of bookings in all periods. The source with the most
// bookings comes first.
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

// AllBookings returns one row with the number of bookings in all periods and from all sources.
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

// Takings is the revenue in one currency, by period and in total.
type Takings struct {
	Currency string
	Kinds    []string // kinds of objects in the revenue: booking, ticket, reservation
	Each     []Taking // one entry for each period
	All      Taking
}

// Taking is the revenue of one period or of all periods. Totals maps each kind of object to the sum of the prices at
// which these objects were sold. Total is the sum of these prices over all kinds. Paid is the amount that was paid
// online. Refunded is the amount that was refunded.
type Taking struct {
	Totals                map[string]decimal.Decimal
	Total, Paid, Refunded decimal.Decimal
}

// ByCurrency returns the revenue of each currency, by period and in total. The argument `own` is the currency of the
// business, which comes first. ByCurrency returns an error for an amount that is not a number.
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
			_ = t.Each[at].take(row) // cannot fail, because t.All.take has parsed the same amounts
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

// Worked is the booked time and the working time of one member or of all members, in minutes.
type Worked struct{ Booked, Open int64 }

// Member is the booked time and the working time of one member, by period and in total.
type Member struct {
	ID   uuid.UUID
	Name string   // "" if the member is no longer in the offer
	Each []Worked // one entry for each period
	Worked
}

// Members returns the booked time and the working time of each member, in the order of the report's rows.
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

// AllTime returns the booked time and the working time of all members together.
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
