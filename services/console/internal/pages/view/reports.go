package view

import (
	"cmp"
	"math"
	"net/url"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/reports"
)

// ReportForm has the dates and the grouping of reports as the person typed them.
type ReportForm struct {
	From, To, By string
	IsDefault    bool // true if the person typed no dates; the reports then have the default dates
	FieldErrors  map[string]string
}

// formatQuery returns the query of the URL that shows the same reports.
func (f ReportForm) formatQuery() string {
	return formatQuery(url.Values{"from": {f.From}, "to": {f.To}, "by": {f.By}})
}

func (p *Page) periodOptions() []web.Option {
	var options []web.Option
	for _, by := range []report.By{report.Day, report.Week, report.Month} {
		options = append(options, web.Option{Value: string(by), Label: p.say("reports_by_" + string(by))})
	}
	others := []report.By{report.Service, report.Staff, report.CustomerKind}
	if len(p.Business.Locations) > 1 {
		others = append(others, report.Location)
	}
	for _, by := range others {
		options = append(options, web.Option{Value: string(by), Label: p.say(groupHeadings[by])})
	}
	return options
}

// groupHeadings maps the groupings that are not by time to the ids of their names.
var groupHeadings = map[report.By]string{report.Location: "booked_location", report.Service: "service",
	report.Staff: "reports_member", report.CustomerKind: "reports_customers"}

// ReportPage has the charts and tables of the page with the reports.
type ReportPage struct {
	overview  *reports.Overview
	sums      []figure
	bookings  chartedTable
	noShows   chartedTable
	sources   chartedTable
	revenue   []chartedTable // one table with a chart for each currency
	time      chartedTable
	perPeriod *numberTable // table of each member's working time by period
}

// figure is one of the numbers at the top of the page with the reports. `Name` is the label of the number, and `Text`
// explains the number.
type figure struct {
	Name, Value, Text string
	Comparison        *comparison // with the period before; nil if there is none
}

// comparison compares a number with the number of the period before. The fields Now and Before are the lengths of two
// bars in percent of the longer one.
type comparison struct {
	Text        string
	Now, Before float64
}

// compare compares a number with that of the period before. It returns nil if both are 0. The function `format` formats
// a number. If `isShare` is true, the numbers are percentages, whose change has no percentage of its own.
func (p *Page) compare(now, before float64, isShare bool, format func(float64) string) *comparison {
	longest := max(now, before)
	if longest <= 0 {
		return nil
	}
	sign, change := "+", now-before
	if change < 0 {
		sign, change = "−", -change
	}
	c := &comparison{Text: p.Words.With("reports_before", "Before", format(before)), Now: 100 * now / longest,
		Before: 100 * before / longest}
	if !isShare {
		c.Text += " · " + sign + format(change)
		if before > 0 {
			c.Text += " (" + sign + p.formatPercent(100*change/before) + ")"
		}
	}
	return c
}

// chartedTable is a table with a chart of the same numbers.
type chartedTable struct {
	ID    string // id of the chart
	Name  string // text of the heading
	Text  string
	Stack *stackedChart
	Rank  *rankedChart
	Tally numberTable
}

// numberTable is a table of numbers. Each row has a name and numbers. The foot has the sums of the columns.
type numberTable struct {
	Name   string
	Head   []string
	Rows   [][]string
	Foot   []string
	IsWide bool // true if the numbers are long, so that the table needs more width
}

// NewReportPage makes the charts and tables of the reports. It returns an error if an amount is not a number.
func NewReportPage(p *Page, r *reports.Overview) (*ReportPage, error) {
	takings, err := r.SumByCurrency(p.Business.Currency)
	if err != nil {
		return nil, err
	}
	all, names := r.SumBookings(), p.namePeriods(r)
	var takingsBefore []reports.Takings
	if r.Before != nil {
		if takingsBefore, err = r.Before.SumByCurrency(p.Business.Currency); err != nil {
			return nil, err
		}
	}
	s := &ReportPage{overview: r, bookings: p.chartBookings(r, names, all), noShows: p.chartNoShows(r, names, all),
		sources: p.chartSources(r, all)}
	for _, t := range takings {
		s.revenue = append(s.revenue, p.chartRevenue(r, t, names))
	}
	s.time, s.perPeriod = p.chartTime(r, names)
	s.sums = p.newFigures(r, takings, takingsBefore)
	return s, nil
}

// namePeriods returns the names of the periods or groups of a report. Charts use them as labels, and tables as the
// names of rows.
func (p *Page) namePeriods(r *reports.Overview) []string {
	names := make([]string, r.CountGroups())
	for i, g := range r.Groups {
		switch names[i] = cmp.Or(g.Name(), "–"); g.CustomerKind {
		case report.NewCustomer:
			names[i] = p.say("reports_new")
		case report.ReturningCustomer:
			names[i] = p.say("reports_returning")
		}
	}
	if !r.Query.By.IsTime() {
		return names
	}
	for i, d := range r.Periods {
		names[i] = p.namePeriod(r.Query.By, d)
	}
	return names
}

func (p *Page) namePeriod(by report.By, d timespan.Date) string {
	if by == report.Month {
		year, month, _ := d.YMD()
		return p.Words.Month(year, month)
	}
	return p.Words.ShortDate(toNoon(d))
}

func (p *Page) periodHeading(r *reports.Overview) string {
	if !r.Query.By.IsTime() {
		return p.say(groupHeadings[r.Query.By])
	}
	return p.say("reports_head_" + string(r.Query.By))
}

// periodParameters returns the first and the last date of a report as the parameters `From` and `To` of a text.
func (p *Page) periodParameters(r *reports.Overview) map[string]string {
	return map[string]string{"From": p.Words.ShortDate(toNoon(r.Query.From)),
		"To": p.Words.ShortDate(toNoon(r.Query.To))}
}

func (p *Page) chartText(r *reports.Overview) string {
	return p.Words.Fill("reports_chart", p.periodParameters(r))
}

// newFigures returns the numbers at the top of the page with the reports, each with that of the period before.
func (p *Page) newFigures(r *reports.Overview, takings, takingsBefore []reports.Takings) []figure {
	all := r.CountBookings()
	bookings := figure{Name: p.say("place_bookings"), Value: p.formatNumber(all.Bookings),
		Text: p.Words.Count("people_count", int(all.Guests))}
	noShows := figure{Name: p.say("reports_no_shows"), Value: p.formatShare(all.NoShow, all.NoShow+all.Completed),
		Text: p.formatNumberOf(all.NoShow, all.NoShow+all.Completed)}
	if before := r.Before; before != nil && !before.Bookings.IsUnknown {
		was := before.SumBookings()
		bookings.Comparison = p.compare(float64(all.Bookings), float64(was.Bookings), false, p.formatWhole)
		noShows.Comparison = p.compare(computePercent(all.NoShow, all.NoShow+all.Completed),
			computePercent(was.NoShow, was.NoShow+was.Completed), true, p.formatPercent)
	}
	if r.IsCountUnknown() {
		bookings, noShows = p.markUnknown(bookings), p.markUnknown(noShows)
	}
	list := []figure{bookings}
	for _, t := range takings {
		f := figure{Name: p.say("reports_sold"), Value: p.formatExact(t.Sum.Total, t.Currency),
			Text: p.Words.With("reports_paid_of", "Amount", p.formatExact(t.Sum.Paid, t.Currency))}
		if r.Before != nil && !r.Before.Revenue.IsUnknown {
			f.Comparison = p.compare(t.Sum.Total.InexactFloat64(), findTotal(takingsBefore, t.Currency), false,
				func(x float64) string { return p.formatExact(decimal.NewFromFloat(x), t.Currency) })
		}
		list = append(list, f)
	}
	if r.Revenue.IsUnknown {
		list = append(list, p.markUnknown(figure{Name: p.say("reports_sold")}))
	}
	list = append(list, noShows)
	if returning, known := r.CountReturning(); known > 0 {
		list = append(list, figure{Name: p.say("reports_returning"), Value: p.formatShare(returning, known),
			Text: p.formatNumberOf(returning, known)})
	}
	return p.addTeamFigure(r, list)
}

// findTotal returns the revenue in a currency, or 0.
func findTotal(takings []reports.Takings, currency string) float64 {
	for _, t := range takings {
		if t.Currency == currency {
			return t.Sum.Total.InexactFloat64()
		}
	}
	return 0
}

// addTeamFigure adds the share of the members' time that is booked, if the report has this share.
func (p *Page) addTeamFigure(r *reports.Overview, list []figure) []figure {
	worked := r.SumTime()
	team := figure{Name: p.say("reports_utilisation"), Value: p.formatShare(worked.Booked, worked.Open),
		Text: p.Words.With("reports_of", "All", p.formatDuration(worked.Open))}
	switch {
	case r.Time.IsUnknown:
		return append(list, p.markUnknown(team))
	case worked.Open == 0:
		return list
	}
	if r.Before != nil && !r.Before.Time.IsUnknown {
		was := r.Before.SumTime()
		team.Comparison = p.compare(computePercent(worked.Booked, worked.Open), computePercent(was.Booked, was.Open),
			true, p.formatPercent)
	}
	return append(list, team)
}

// markUnknown returns a figure whose number is unknown, because a service was unavailable.
func (p *Page) markUnknown(f figure) figure {
	return figure{Name: f.Name, Value: "–", Text: p.say("reports_unknown")}
}

// addChart adds a chart to a table: vertical bars for periods, and horizontal bars, whose names are longer, for groups. The
// function `number` formats a value.
func (p *Page) addChart(r *reports.Overview, c *chartedTable, chart stackedChart, names []string,
	number func(float64) string) {
	c.ID, chart.Title, chart.Text = chart.ID, c.Name, p.chartText(r)
	if r.Query.By.IsTime() {
		c.Stack = p.stack(chart, names, number)
		return
	}
	rows := make([]rankValue, len(names))
	for i, name := range names {
		sum := sumParts(chart.Parts, i)
		rows[i] = rankValue{name, number(sum), sum}
	}
	c.Rank = p.rank(rankedChart{ID: chart.ID, Title: chart.Title, Text: chart.Text}, rows, 0)
}

func (p *Page) chartBookings(r *reports.Overview, names []string, all booking.BookingsRow) chartedTable {
	c := chartedTable{Name: p.say("place_bookings"), Text: p.say("reports_bookings_text")}
	c.Tally = numberTable{Name: c.Name, Head: []string{p.periodHeading(r), p.say("place_bookings"),
		p.say("reports_guests"),
		p.say("reports_no_shows"), p.say("status_cancelled")}}
	parts := []part{{p.say("reports_held"), "one", nil}, {p.say("reports_no_shows"), "two", nil},
		{p.say("status_cancelled"), "three", nil}}
	cells := func(name string, b booking.BookingsRow) []string {
		return []string{name, p.formatNumber(b.Bookings), p.formatNumber(b.Guests), p.formatNumber(b.NoShow),
			p.formatNumber(b.Cancelled)}
	}
	for i, b := range r.SumByPeriod() {
		for at, n := range []int64{b.Pending + b.Confirmed + b.Completed, b.NoShow, b.Cancelled} {
			parts[at].Values = append(parts[at].Values, float64(n))
		}
		c.Tally.Rows = append(c.Tally.Rows, cells(names[i], b))
	}
	c.Tally.Foot = cells(p.say("reports_all"), all)
	p.addChart(r, &c, stackedChart{ID: "bookings", Parts: parts}, names, p.formatWhole)
	return c
}

func (p *Page) chartNoShows(r *reports.Overview, names []string, all booking.BookingsRow) chartedTable {
	c := chartedTable{Name: p.say("reports_no_shows"), Text: p.say("reports_no_shows_text")}
	c.Tally = numberTable{Name: c.Name, Head: []string{p.periodHeading(r), p.say("reports_came"),
		p.say("reports_no_shows"),
		p.say("reports_part")}}
	missed := part{c.Name, "two", nil}
	cells := func(name string, b booking.BookingsRow) []string {
		return []string{name, p.formatNumber(b.Completed), p.formatNumber(b.NoShow),
			p.formatShare(b.NoShow, b.NoShow+b.Completed)}
	}
	for i, b := range r.SumByPeriod() {
		missed.Values = append(missed.Values, computePercent(b.NoShow, b.NoShow+b.Completed))
		c.Tally.Rows = append(c.Tally.Rows, cells(names[i], b))
	}
	c.Tally.Foot = cells(p.say("reports_all"), all)
	p.addChart(r, &c, stackedChart{ID: "no-shows", Parts: []part{missed}}, names, p.formatPercent)
	return c
}

func (p *Page) chartSources(r *reports.Overview, all booking.BookingsRow) chartedTable {
	c := chartedTable{Name: p.say("source"), Text: p.say("reports_sources_text")}
	c.Tally = numberTable{Name: c.Name, Head: []string{c.Name, p.say("place_bookings"), p.say("reports_part"),
		p.say("reports_no_shows"), p.say("status_cancelled")}}
	var rows []rankValue
	for _, b := range r.SumBySource() {
		share := p.formatShare(b.Bookings, all.Bookings)
		rows = append(rows, rankValue{p.formatSource(b.Source), share, float64(b.Bookings)})
		c.Tally.Rows = append(c.Tally.Rows, []string{p.formatSource(b.Source), p.formatNumber(b.Bookings), share,
			p.formatNumber(b.NoShow), p.formatNumber(b.Cancelled)})
	}
	c.Rank = p.rank(rankedChart{ID: "sources", Title: c.Name, Text: p.chartText(r)}, rows, float64(all.Bookings))
	return c
}

func (p *Page) chartRevenue(r *reports.Overview, t reports.Takings, names []string) chartedTable {
	c := chartedTable{Name: p.Words.With("reports_revenue", "Currency", t.Currency),
		Text: p.say("reports_revenue_text")}
	c.Tally = numberTable{Name: c.Name, Head: []string{p.periodHeading(r)}, IsWide: true}
	var parts []part
	for i, kind := range t.Kinds {
		parts = append(parts, part{Name: p.say("reports_kind_" + kind), Class: []string{"one", "two", "three"}[i%3]})
		if len(t.Kinds) > 1 {
			c.Tally.Head = append(c.Tally.Head, parts[i].Name)
		}
	}
	c.Tally.Head = append(c.Tally.Head, p.say("reports_sold"), p.say("reports_paid"), p.say("reports_refunded"))
	cells := func(name string, of reports.Taking) []string {
		row := []string{name}
		for _, kind := range t.Kinds {
			if len(t.Kinds) > 1 {
				row = append(row, p.formatExact(of.Totals[kind], t.Currency))
			}
		}
		return append(row, p.formatExact(of.Total, t.Currency), p.formatExact(of.Paid, t.Currency),
			p.formatExact(of.Refunded, t.Currency))
	}
	for i, of := range t.ByPeriod {
		c.Tally.Rows = append(c.Tally.Rows, cells(names[i], of))
		for at, kind := range t.Kinds {
			parts[at].Values = append(parts[at].Values, of.Totals[kind].InexactFloat64())
		}
	}
	c.Tally.Foot = cells(p.say("reports_all"), t.Sum)
	p.addChart(r, &c, stackedChart{ID: "revenue-" + t.Currency, Parts: parts}, names, p.formatWhole)
	return c
}

func (p *Page) chartTime(r *reports.Overview, names []string) (chartedTable, *numberTable) {
	c := chartedTable{Name: p.say("reports_utilisation"), Text: p.say("reports_utilisation_text")}
	c.Tally = numberTable{Name: c.Name, Head: []string{p.say("reports_member"), p.say("reports_booked"),
		p.say("reports_open"), p.say("reports_part")}, IsWide: true}
	each := &numberTable{Name: p.say("reports_each"), Head: append([]string{p.say("reports_member")}, names...),
		IsWide: true}
	cells := func(name string, w reports.WorkedTime) []string {
		return []string{name, p.formatDuration(w.Booked), p.formatDuration(w.Open), p.formatShare(w.Booked, w.Open)}
	}
	var rows []rankValue
	for _, m := range r.SumByMember() {
		name := m.Name
		if name == "" {
			name = p.say("reports_former")
		}
		rows = append(rows, rankValue{name, p.formatShare(m.Booked, m.Open), computePercent(m.Booked, m.Open)})
		c.Tally.Rows = append(c.Tally.Rows, cells(name, m.WorkedTime))
		row := []string{name}
		for _, w := range m.ByPeriod {
			row = append(row, p.formatShare(w.Booked, w.Open))
		}
		each.Rows = append(each.Rows, row)
	}
	c.Tally.Foot = cells(p.say("reports_all"), r.SumTime())
	c.Rank = p.rank(rankedChart{ID: "time", Title: c.Name, Text: p.chartText(r)}, rows, 100)
	return c, each
}

func (p *Page) formatNumber(n int64) string { return p.Words.Number(int(n)) }

func (p *Page) formatWhole(x float64) string { return p.Words.Number(int(math.Round(x))) }

func (p *Page) formatPercent(x float64) string {
	return p.Words.With("reports_percent", "Percent", p.formatWhole(x))
}

// computePercent returns `part` as a percentage of `all`, or 0 if `all` is 0.
func computePercent(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

// formatShare formats `part` as a percentage of `all`, or as a dash if `all` is 0.
func (p *Page) formatShare(part, all int64) string {
	if all == 0 {
		return "–"
	}
	return p.formatPercent(computePercent(part, all))
}

func (p *Page) formatNumberOf(part, all int64) string {
	return p.Words.Fill("reports_number_of", map[string]string{"Part": p.formatNumber(part),
		"All": p.formatNumber(all)})
}

// formatExact formats an amount with all decimals of its currency, even if they are 0.
func (p *Page) formatExact(amount decimal.Decimal, currency string) string {
	known, err := money.ParseCurrency(currency)
	if err != nil {
		return amount.String() + " " + currency
	}
	return p.Words.Amount(known.Exact(amount), currency)
}

// formatDuration formats a number of minutes as hours and minutes.
func (p *Page) formatDuration(minutes int64) string {
	if minutes%60 == 0 {
		return p.Words.With("reports_hours", "Hours", p.formatNumber(minutes/60))
	}
	return p.Words.Fill("reports_duration", map[string]string{"Hours": p.formatNumber(minutes / 60),
		"Minutes": p.formatNumber(minutes % 60)})
}
