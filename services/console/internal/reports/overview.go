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
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// MaxPeriods is the maximum number of periods (days, weeks or months) on one page of reports. It is about the number of
// weeks in three years.
const MaxPeriods = 160

// Overview has the reports about a business for one page. The field Periods has the first date of each period. If a
// report needs several services and one of them is unavailable, the whole report is unknown, because its sums would be
// too small.
type Overview struct {
	Query    report.Query
	Periods  []timespan.Date
	Groups   []report.Group // groups of the rows of a report that is not by time; sales without a group come last
	Bookings peers.Part[booking.BookingsRow]
	Revenue  peers.Part[report.RevenueRow]
	Time     peers.Part[report.UtilisationRow]
	Kinds    peers.Part[booking.BookingsRow] // bookings of the whole time by kind of customers
	Before   *Overview                       // the reports of the period before, without its Kinds and Before
}

// LoadOverview reads the reports, and those of the period before, concurrently. Fault: invalid_parameter for more
// periods than [MaxPeriods], or for more rows than a report may have.
func (o *UseCases) LoadOverview(ctx context.Context, slug string, q report.Query) (*Overview, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	r := &Overview{Query: q, Periods: q.Periods()}
	if len(r.Periods) > MaxPeriods {
		return nil, request.Invalid("by: there are more than %d on one page; ask for fewer dates, or by week or month.",
			MaxPeriods)
	}
	before, kinds := q.Before(), q
	kinds.By = report.CustomerKind
	before.By = report.Month // only its sums are shown, so few rows are enough
	r.Before = &Overview{Query: before, Periods: before.Periods()}
	asks := []func() error{func() error {
		err := loadReport(ctx, o, slug, kinds, o.ReportBookings, &r.Kinds)
		if r.Kinds.IsUnknown = r.Kinds.IsUnknown || fault.Is(err, fault.InvalidParameter); r.Kinds.IsUnknown {
			return nil // an older release of the booking service does not know these groups
		}
		return err
	}}
	err := peers.RunTogether(append(append(asks, o.newQueries(ctx, slug, r)...), o.newQueries(ctx, slug, r.Before)...)...)
	if !q.By.IsTime() {
		r.addGroups()
	}
	return r, err
}

// newQueries returns functions that read the three reports of an overview.
func (o *UseCases) newQueries(ctx context.Context, slug string, r *Overview) []func() error {
	return []func() error{
		func() error { return loadReport(ctx, o, slug, r.Query, o.ReportBookings, &r.Bookings) },
		func() error { return loadReport(ctx, o, slug, r.Query, o.ReportRevenue, &r.Revenue) },
		func() error {
			if !r.Query.By.IsTime() && r.Query.By != report.Staff {
				return nil
			}
			return loadReport(ctx, o, slug, r.Query, o.ReportUtilisation, &r.Time)
		},
	}
}

// addGroups sets the groups of a report that is not by time, sorted by name.
func (r *Overview) addGroups() {
	add := func(g report.Group) {
		if _, known := r.findGroup(r.Query.From, g); !known {
			r.Groups = append(r.Groups, g)
		}
	}
	for _, b := range r.Bookings.List {
		add(b.Group)
	}
	for _, row := range r.Revenue.List {
		add(row.Group)
	}
	slices.SortStableFunc(r.Groups, func(a, b report.Group) int {
		switch none := (report.Group{}); {
		case a.Equals(none):
			return 1
		case b.Equals(none):
			return -1
		}
		return cmp.Compare(a.Name(), b.Name())
	})
}

// CountGroups returns the number of rows of a table: the number of periods, or of groups in a report that is not by
// time.
func (r *Overview) CountGroups() int {
	if r.Query.By.IsTime() {
		return len(r.Periods)
	}
	return len(r.Groups)
}

// findGroup returns the index of the period that begins on the given date or, in a report that is not by time, of the
// group.
func (r *Overview) findGroup(date timespan.Date, g report.Group) (int, bool) {
	if r.Query.By.IsTime() {
		return slices.BinarySearch(r.Periods, date)
	}
	i := slices.IndexFunc(r.Groups, g.Equals)
	return i, i >= 0
}

// CountBookings returns one row with the number of bookings in all periods. In a report by service,
// [Overview.SumBookings] counts a booking once for each of its services; CountBookings counts it once.
func (r *Overview) CountBookings() booking.BookingsRow {
	if r.Query.By != report.Service {
		return r.SumBookings()
	}
	var all booking.BookingsRow
	for _, b := range r.Kinds.List {
		addBookings(&all, b)
	}
	return all
}

// IsCountUnknown reports whether the result of [Overview.CountBookings] is unknown.
func (r *Overview) IsCountUnknown() bool {
	return r.Bookings.IsUnknown || r.Query.By == report.Service && r.Kinds.IsUnknown
}

// CountReturning returns the number of bookings of returning customers, and of all customers that are known by their
// e-mail address.
func (r *Overview) CountReturning() (int64, int64) {
	var returning, known int64
	for _, b := range r.Kinds.List {
		switch b.CustomerKind {
		case report.ReturningCustomer:
			returning += b.Bookings - b.Cancelled
			known += b.Bookings - b.Cancelled
		case report.NewCustomer:
			known += b.Bookings - b.Cancelled
		}
	}
	return returning, known
}

// loadReport reads one report by calling the function `ask`, and stores the report's rows in `into`.
func loadReport[Row any](
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

// IsEmpty returns true if the business had no bookings and no revenue in the dates of the reports. It returns false if
// the report about bookings or the report about revenue is unknown.
func (r *Overview) IsEmpty() bool { return !r.Bookings.IsShown() && !r.Revenue.IsShown() }

// SumByPeriod returns one row for each period or group, with the number of bookings from all sources.
func (r *Overview) SumByPeriod() []booking.BookingsRow {
	rows := make([]booking.BookingsRow, r.CountGroups())
	for i := range rows {
		rows[i].Date = r.Periods[min(i, len(r.Periods)-1)]
	}
	for _, b := range r.Bookings.List {
		if at, ok := r.findGroup(b.Date, b.Group); ok {
			addBookings(&rows[at], b)
		}
	}
	return rows
}

// SumBySource returns one row for each source, with the number of bookings in all periods. The source with the most
// bookings comes first.
func (r *Overview) SumBySource() []booking.BookingsRow {
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

// SumBookings returns one row with the number of bookings in all periods and from all sources.
func (r *Overview) SumBookings() booking.BookingsRow {
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

// Takings is the revenue in one currency, for each period and in total.
type Takings struct {
	Currency string
	Kinds    []string // kinds of objects in the revenue: booking, ticket, reservation
	ByPeriod []Taking // one entry for each period or group
	Sum      Taking
}

// Taking is the revenue of one period or of all periods. Totals maps each kind of object to the sum of the prices at
// which these objects were sold. Total is the sum of these prices over all kinds. Paid is the amount that was paid
// online. Refunded is the amount that was refunded.
type Taking struct {
	Totals                map[string]decimal.Decimal
	Total, Paid, Refunded decimal.Decimal
}

// SumByCurrency returns the revenue of each currency, by period and in total. The argument `own` is the currency of the
// business. The revenue in this currency comes first. SumByCurrency returns an error for an amount that is not a
// number.
func (r *Overview) SumByCurrency(own string) ([]Takings, error) {
	var all []Takings
	for _, row := range r.Revenue.List {
		i := slices.IndexFunc(all, func(t Takings) bool { return t.Currency == row.Currency })
		if i < 0 {
			i, all = len(all), append(all, Takings{Currency: row.Currency, ByPeriod: make([]Taking, r.CountGroups())})
		}
		t := &all[i]
		if !slices.Contains(t.Kinds, row.Kind) {
			t.Kinds = append(t.Kinds, row.Kind)
		}
		if err := t.Sum.add(row); err != nil {
			return nil, err
		}
		if at, ok := r.findGroup(row.Date, row.Group); ok {
			_ = t.ByPeriod[at].add(row) // cannot fail, because t.Sum.add has parsed the same amounts
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

func (t *Taking) add(row report.RevenueRow) error {
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

// WorkedTime is the booked time and the working time of one member or of all members, in minutes.
type WorkedTime struct{ Booked, Open int64 }

// Member is the booked time and the working time of one member, by period and in total.
type Member struct {
	ID       uuid.UUID
	Name     string       // "" if the member is no longer in the offer
	ByPeriod []WorkedTime // one entry for each period
	WorkedTime
}

// SumByMember returns the booked time and the working time of each member, in the order of the report's rows.
func (r *Overview) SumByMember() []Member {
	var all []Member
	for _, row := range r.Time.List {
		i := slices.IndexFunc(all, func(m Member) bool { return m.ID == row.StaffID })
		if i < 0 {
			i, all = len(all),
				append(all, Member{ID: row.StaffID, Name: row.StaffName, ByPeriod: make([]WorkedTime, len(r.Periods))})
		}
		all[i].add(row)
		if at, ok := slices.BinarySearch(r.Periods, row.Date); ok {
			all[i].ByPeriod[at].add(row)
		}
	}
	return all
}

// SumTime returns the booked time and the working time of all members together.
func (r *Overview) SumTime() WorkedTime {
	var all WorkedTime
	for _, row := range r.Time.List {
		all.add(row)
	}
	return all
}

func (w *WorkedTime) add(row report.UtilisationRow) {
	w.Booked += row.BookedMinutes
	w.Open += row.OpenMinutes
}
