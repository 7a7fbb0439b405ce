package view

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/pricelabel"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// SelectionURL returns the URL of a step, with the selection in the query of the URL.
func (p *Page) SelectionURL(step string, s usecase.Selection) templ.SafeURL {
	return p.queryURL(step, s.Values())
}

// selectionName returns the name of the chosen package, or the names of the chosen services.
func (p *Page) selectionName(a *usecase.Appointment, n *usecase.Names) string {
	if a.Package != nil {
		return a.Package.Name.In(p.readerLanguage())
	}
	var services []string
	for _, id := range a.Selection.Services {
		services = append(services, serviceName(a, n, id))
	}
	return strings.Join(services, " + ")
}

// findChosenMember returns the chosen staff member, or nil if the visitor chose none.
func (p *Page) findChosenMember(a *usecase.Appointment, n *usecase.Names) *usecase.Member {
	id, err := uuid.Parse(a.Staff)
	if err != nil {
		return nil
	}
	return n.Members[id]
}

// serviceName returns the name of a service, followed by the name of the chosen variant if one is chosen.
func serviceName(a *usecase.Appointment, n *usecase.Names, id uuid.UUID) string {
	service := n.Services[id]
	if service == nil {
		return ""
	}
	for _, v := range service.Variants {
		if a.Variants[id] == v.ID {
			return service.Name + " · " + v.Name
		}
	}
	return service.Name
}

// performer returns the text for the visitor's choice of staff, such as "with Anna" or "anyone available". It returns
// "" if the visitor cannot choose.
func (p *Page) performer(a *usecase.Appointment, n *usecase.Names) string {
	switch {
	case !a.NeedsStaffChoice():
		return ""
	case a.Staff == usecase.AnyStaffPerService:
		return p.Words.Say("each")
	}
	if member := p.findChosenMember(a, n); member != nil {
		return p.Words.With("with", "Name", member.Name)
	}
	return p.Words.Say("anyone")
}

// start formats the start of an appointment with the full date.
func (p *Page) start(d timespan.Date, t timespan.TimeOfDay) string {
	return p.Words.JoinTime(p.Words.Date(noonUTC(d)), p.clockInText(t))
}

// startText formats the start of an appointment with a short date.
func (p *Page) startText(d timespan.Date, t timespan.TimeOfDay) string {
	return p.Words.JoinTime(p.Words.ShortDay(noonUTC(d)), p.clockInText(t))
}

// formatSoonSlot formats the next free start, for example as "Today, 16:00".
func (p *Page) formatSoonSlot(s usecase.Slot) string {
	return p.Words.JoinTime(p.dayText(s.Date), p.clockInText(s.Time))
}

// formatStripWeekday returns the name of the weekday that the page shows for a date of [usecase.Calendar.Strip].
func (p *Page) formatStripWeekday(d timespan.Date) string {
	if p.Words.Code == "ar" || p.Words.Code == "he" { // these languages have no short names that fit
		return strings.TrimPrefix(strings.TrimPrefix(p.Words.Weekday(d.Weekday()), "ال"), "יום ")
	}
	return p.Words.Weekday(d.Weekday())
}

// fullText returns the text for a date without free starts: the location is closed on this date, or fully booked.
func (p *Page) fullText(d timespan.Date) string {
	at := p.At
	if at == nil {
		at = p.Business.Snapshot.DefaultLocation()
	}
	if len(p.Business.Snapshot.OpeningOn(at, d)) == 0 {
		return p.Words.Say("closed_day")
	}
	return p.Words.Say("none_day")
}

// maxPlainStarts is the maximum number of starts that the page shows at once for a part of a day, such as the morning.
// If there are more starts, the page first shows only some of them ([splitStarts]).
const maxPlainStarts = 6

// splitStarts separates the starts at full and half hours, which the page shows first, from the other starts. If there
// are at most maxPlainStarts starts, or none at a full or half hour, the first result has all starts.
func splitStarts(slots []usecase.Slot) ([]usecase.Slot, []usecase.Slot) {
	var first, rest []usecase.Slot
	if len(slots) <= maxPlainStarts {
		return slots, nil
	}
	for _, s := range slots {
		if s.Time%30 == 0 {
			first = append(first, s)
		} else {
			rest = append(rest, s)
		}
	}
	if len(first) == 0 {
		return slots, nil
	}
	return first, rest
}

// clock formats a time of day for a table or a list of times.
func (p *Page) clock(t timespan.TimeOfDay) string {
	return p.Words.Clock(time.Date(2000, 1, 1, int(t)/60%24, int(t)%60, 0, 0, time.UTC))
}

// clockInText formats a time of day as part of a text.
func (p *Page) clockInText(t timespan.TimeOfDay) string { return p.clock(t) + p.Words.ClockUnit() }

// clockSpan formats the time from `from` to `to` as part of a text.
func (p *Page) clockSpan(from, to timespan.TimeOfDay) string {
	return p.clock(from) + " – " + p.clockInText(to)
}

// slotInstant returns a start in the format of RFC 3339 in UTC, for scripts.
func (p *Page) slotInstant(s usecase.Slot) string {
	return time.Unix(timespan.Instant(s.Date, s.Time, p.Business.Snapshot.Location()), 0).UTC().Format(time.RFC3339)
}

// formatRepeatedHour formats the times `from` and `to` on a day on which the clock is set back. On such a day, some
// local times occur twice. formatRepeatedHour formats `to` as the second occurrence, which is after the change of the
// clock. Both arguments are local times of the business, stored with the zone UTC.
func (p *Page) formatRepeatedHour(from, to time.Time) (string, string) {
	zone := p.Business.Snapshot.Location()
	date := timespan.DateOf(from, time.UTC)
	start := time.Unix(timespan.Instant(date, timespan.TimeOfDay(from.Hour()*60+from.Minute()), zone), 0).In(zone)
	const longestChange = 3 * time.Hour
	_, offset := start.Add(longestChange).Zone()
	return p.Words.Clocks(start, time.Unix(to.Unix()-int64(offset), 0).In(zone))
}

// zone returns the city in the name of the time zone in which the page shows times. For Europe/Lisbon, the city is
// Lisbon.
func (p *Page) zone() string {
	name := p.timezone()
	return strings.ReplaceAll(name[strings.LastIndexByte(name, '/')+1:], "_", " ")
}

// addableServices returns the services that the visitor can add to the chosen services. It returns no services if one
// of the chosen services can only be booked alone.
func (p *Page) addableServices(a *usecase.Appointment, n *usecase.Names) []*usecase.Service {
	for _, id := range a.Selection.Services {
		if s := n.Services[id]; s == nil || !s.AllowMultiple || s.HasClassSchedule {
			return nil
		}
	}
	var others []*usecase.Service
	for i := range p.Business.Snapshot.Services {
		s := n.Services[p.Business.Snapshot.Services[i].ID]
		if s != nil && s.AllowMultiple && !s.HasClassSchedule && !slices.Contains(a.Selection.Services, s.ID) {
			others = append(others, s)
		}
	}
	return others
}

// monthURL returns the URL of the page with the month whose first day is `first`.
func (p *Page) monthURL(a *usecase.Appointment, first timespan.Date) templ.SafeURL {
	q := usecase.Selection{Services: a.Selection.Services, Variants: a.Variants, Staff: a.Staff,
		Location: a.Location}.Values()
	q.Set("month", monthOf(first))
	return p.queryURL("when", q)
}

// monthOf returns the month of a date in the form that URLs contain, such as 2027-03.
func monthOf(d timespan.Date) string { return d.String()[:len("2006-01")] }

// week contains the seven days of one row of a month. A day is nil if it belongs to another month.
type week [7]*timespan.Date

// weeks returns the rows of a month. The argument `first` is the first day of the month.
func (p *Page) weeks(first timespan.Date) []week {
	var all []week
	_, month, _ := first.YMD()
	row, column := week{}, (int(first.Weekday())-int(p.Words.FirstWeekday())+7)%7
	for d := first; ; d++ {
		if _, m, _ := d.YMD(); m != month {
			break
		}
		row[column] = &d
		if column++; column == 7 {
			all, row, column = append(all, row), week{}, 0
		}
	}
	if column > 0 {
		all = append(all, row)
	}
	return all
}

func dayOfMonth(d timespan.Date) int {
	_, _, n := d.YMD()
	return n
}

func sameDay(a, b *timespan.Date) bool { return a != nil && b != nil && *a == *b }

// part is a part of a day, such as the morning, with the free starts in this part.
type part struct {
	title string
	slots []usecase.Slot
}

// parts groups the free starts of a day into morning, afternoon and evening. If opening hours continue after midnight,
// the starts on the next date are the last group. The title of the last group is the next date.
func (p *Page) parts(date timespan.Date, slots []usecase.Slot) []part {
	const noon, evening, night = 12 * 60, 17 * 60, 3
	all := []part{{title: p.Words.Say("morning")}, {title: p.Words.Say("afternoon")}, {title: p.Words.Say("evening")},
		{title: p.Words.Date(noonUTC(date + 1))}}
	for _, s := range slots {
		at := 0
		switch {
		case s.Date > date:
			at = night
		case int(s.Time) >= evening:
			at = 2
		case int(s.Time) >= noon:
			at = 1
		}
		all[at].slots = append(all[at].slots, s)
	}
	var nonEmpty []part
	for _, x := range all {
		if len(x.slots) > 0 {
			nonEmpty = append(nonEmpty, x)
		}
	}
	return nonEmpty
}

// startQuery returns the query of the selection with another start. The query is the value of the button with which the
// visitor chooses the start.
func startQuery(s usecase.Selection, slot usecase.Slot) string {
	return s.WithStart(slot).Values().Encode()
}

// Form contains the data of the form for the customer's details, including what the customer typed.
type Form struct {
	Names   *usecase.Names
	Details usecase.Details
	Fields  url.Values // the submitted fields; they contain the answers that the form shows again
	Errors  usecase.FieldErrors
	Token   string
	IsNew   bool // true if the form has not been submitted yet
	Price   *usecase.Price
	Nearest []usecase.Slot // other starts, if the chosen start is no longer free
}

// MaxPeople returns the maximum number of people of one booking:
// 20 or, if a class has fewer seats, the number of its seats.
func MaxPeople(a *usecase.Appointment) int {
	const maxPeople = 20
	if !a.IsClass() {
		return maxPeople
	}
	seats := 1
	for _, session := range a.Services[0].Classes {
		if a.Session == nil || session.ID == *a.Session {
			seats = max(seats, session.Capacity)
		}
	}
	return min(maxPeople, seats)
}

// asksPeople reports whether the form must ask for the number of people. The form asks if the service is a class or a
// price is per person. The form also asks if a pricing rule depends on the number of people.
func (p *Page) asksPeople(a *usecase.Appointment) bool {
	if a.IsClass() {
		return true
	}
	if slices.ContainsFunc(a.Services, func(s *catalog.Service) bool { return s.PerPerson }) {
		return true
	}
	return slices.Contains(p.Business.Snapshot.PriceNeeds, rule.Guests)
}

func (p *Page) monthTitle(first timespan.Date) string {
	year, month, _ := first.YMD()
	return p.Words.Month(year, month)
}

// weekday returns the heading of the column `column` of the month: the full name of the weekday if `isFull` is true,
// otherwise a short form.
func (p *Page) weekday(column int, isFull bool) string {
	d := time.Weekday((int(p.Words.FirstWeekday()) + column) % 7)
	if isFull {
		return p.Words.WholeWeekday(d)
	}
	return p.Words.Weekday(d)
}

// payText returns a text that explains when the customer pays. payText returns "" if the customer chooses in the form
// whether to pay online or on site. It also returns "" if a part is paid online and the rest on site, because the page
// already shows the two amounts.
func (p *Page) payText(price *usecase.Price) string {
	if price.DueNow != "" && !money.Number(price.DueLater).IsZero() {
		return ""
	}
	switch price.PayMode {
	case usecase.PayOnline:
		return p.Words.Say("pay_online")
	case usecase.PayChoice:
		return ""
	}
	return p.Words.Say("pay_later")
}

// policyTexts returns sentences about cancellation. The sentences state the refunds with their deadlines, and the
// deadline for cancelling online. If the start is chosen, the deadlines are dates, otherwise hours before the start.
func (p *Page) policyTexts(price *usecase.Price) []string {
	snapshot := p.Business.Snapshot
	steps := slices.Clone(snapshot.CancellationPolicy)
	slices.SortFunc(steps, func(a, b catalog.CancellationRule) int { return b.HoursBefore - a.HoursBefore })
	if price.StartsAt.IsZero() {
		return p.policyInHours(steps)
	}
	var texts []string
	if !money.Number(price.Total).IsZero() {
		texts = p.refundDates(price.StartsAt)
	}
	if hours := snapshot.SelfService.CancelUntilHours; hours != nil {
		if deadline := price.StartsAt.Add(-time.Duration(*hours) * time.Hour); deadline.After(p.Business.Now) {
			texts = append(texts, p.cancelUntil(deadline, len(texts) == 0))
		}
	}
	return texts
}

// refundDates returns sentences for a booking that is made now and begins at the argument `start`. Each sentence
// contains a date and the part of the price that a cancellation refunds until this date.
func (p *Page) refundDates(start time.Time) []string {
	policy, now := refund.NewPolicy(p.Business.Snapshot), p.Business.Now
	steps := policy.Steps(now, start, now)
	var texts []string
	for i, s := range steps {
		texts = append(texts, p.refundUntil(s.Until, s.Percent, i > 0))
	}
	switch {
	case len(policy.Rules) == 0:
		return nil
	case len(texts) == 0:
		return []string{p.Words.Say("refund_none_ahead")}
	case steps[len(steps)-1].Until.Before(start):
		return append(texts, p.Words.Say("refund_never"))
	}
	return texts
}

// refundUntil returns a sentence which states that a cancellation before the time `until` refunds the given percentage.
// The argument `isLater` is true if the sentence follows a sentence with a higher percentage.
func (p *Page) refundUntil(until time.Time, percent int, isLater bool) string {
	deadline := p.shortMoment(until)
	if percent == 100 {
		return p.Words.With("free_until", "When", deadline)
	}
	id := "refund_until"
	if isLater {
		id = "refund_then"
	}
	return p.Words.Fill(id, map[string]string{"When": deadline, "Percent": p.Words.Number(percent)})
}

// cancelUntil returns the sentence with the deadline for cancelling online. The argument `isFree` is true if a
// cancellation before the deadline costs nothing.
func (p *Page) cancelUntil(deadline time.Time, isFree bool) string {
	if isFree {
		return p.Words.With("free_until", "When", p.shortMoment(deadline))
	}
	return p.Words.With("manage_cancel_until", "When", p.shortMoment(deadline))
}

// shortMoment formats a time in the time zone of the sale. It omits the year if the time is less than 300 days away.
func (p *Page) shortMoment(t time.Time) string {
	const near = 300 * 24 * time.Hour
	local := p.localTime(t)
	if t.Sub(p.Business.Now) < near {
		return p.Words.Moment(local)
	}
	return p.Words.JoinTime(p.Words.ShortDate(local), p.Words.ClockInText(local))
}

// policyInHours returns a sentence for each step of the cancellation
// policy, in the given order. It returns nil if there are no steps.
func (p *Page) policyInHours(steps []catalog.CancellationRule) []string {
	if len(steps) == 0 {
		return nil
	}
	var texts []string
	for _, s := range steps {
		before := p.formatDuration(s.HoursBefore * 60)
		if s.RefundPercent == 100 {
			texts = append(texts, p.Words.With("policy_free", "Time", before))
			continue
		}
		texts = append(texts, p.Words.Fill("policy_step",
			map[string]string{"Time": before, "Percent": p.Words.Number(s.RefundPercent)}))
	}
	if steps[len(steps)-1].HoursBefore > 0 {
		texts = append(texts, p.Words.Say("refund_never"))
	}
	return texts
}

// ruleLabel returns the label of a pricing rule, in the language of the business that is nearest to the reader's
// language. If the rule has no label, it returns the standard text for this kind of rule, in the language of the page.
func (p *Page) ruleLabel(r *catalog.Rule) string {
	if r.Label.Text != "" {
		return r.Label.In(p.readerLanguage())
	}
	return pricelabel.FindStandardLabel(r.Kind, r.Key, p.Words.Code)
}

// initial returns the first letter of a name. The page shows this letter instead of a picture if a staff member has no
// picture.
func initial(name string) string { return strings.ToUpper(firstLetter(name)) }

// firstLetter returns the first letter of a name as it is written.
func firstLetter(name string) string {
	for _, r := range name {
		return string(r)
	}
	return ""
}

// priceTexts returns the texts that explain the price of the line with the index `line`. The texts are the number of
// people with the price per person, and the labels of the pricing rules that changed the price.
func (p *Page) priceTexts(price *usecase.Price, line int) []string {
	if line >= len(price.Details) {
		return nil
	}
	var texts []string
	d := &price.Details[line]
	if d.Quantity > 1 {
		texts = append(texts, p.unitsText(d.Quantity, d.Unit))
	}
	for _, r := range d.Changes {
		texts = append(texts, p.ruleLabel(r))
	}
	return texts
}

// unitsText formats a price per person and the number of people, such as "3 × €17.50".
func (p *Page) unitsText(quantity int, unit json.Number) string {
	return p.Words.Number(quantity) + " × " + p.money(unit)
}

// firstBookingText returns the text that states how the pricing rule `r` changes the price of the customer's first
// booking.
func (p *Page) firstBookingText(r *catalog.Rule) string {
	var change string
	currency := p.Business.Snapshot.Money()
	switch {
	case r.Percent != nil:
		change = addSign(r.Percent.IsNegative(), r.Percent.Abs().String()+"\u00a0%")
	case r.Amount != nil:
		change = addSign(*r.Amount < 0, p.money(currency.JSON(max(*r.Amount, -*r.Amount))))
	case r.Set != nil:
		change = p.money(currency.JSON(*r.Set))
	}
	label := p.ruleLabel(r)
	return p.Words.Fill("if_first_visit", map[string]string{"Label": label, "Change": change})
}

// addSign puts the sign of a price change before its formatted amount.
func addSign(isNegative bool, amount string) string {
	if isNegative {
		return "−" + amount
	}
	return "+" + amount
}

// bookingTotal returns one text with the total of a booking, the prices per person, and the labels of the pricing rules
// that changed a price.
func (p *Page) bookingTotal(b *booking.CustomerBooking) string {
	texts := []string{p.money(b.Total)}
	var changes []booking.PriceChange
	for _, s := range b.Services {
		if s.Quantity > 1 {
			texts = append(texts, p.unitsText(s.Quantity, s.UnitPrice))
		}
		changes = append(changes, s.PriceChanges...)
	}
	return strings.Join(appendLabels(texts, changes), " · ")
}

// appendLabels appends to `texts` the labels of the pricing rules that changed a price. It adds each label only once.
func appendLabels(texts []string, changes []booking.PriceChange) []string {
	for _, change := range changes {
		if !slices.Contains(texts, change.Label) {
			texts = append(texts, change.Label)
		}
	}
	return texts
}

// totalWithLabels returns the total of a ticket order or a reservation,
// followed by the labels of the pricing rules that changed the price.
func (p *Page) totalWithLabels(total json.Number, changes []booking.PriceChange) string {
	return strings.Join(appendLabels([]string{p.money(total)}, changes), " · ")
}

// cancelTexts returns sentences with deadlines. There is one sentence for each step of the refund. The last sentence
// states until when the customer can cancel. cancelTexts leaves out the last sentence if the refund of the last step
// also ends then. It returns nil if the customer may not cancel.
func (p *Page) cancelTexts(c booking.Cancellation) []string {
	if !c.Allowed || c.Until == nil {
		return nil
	}
	deadline := c.Until
	if c.Deadline != nil {
		deadline = c.Deadline
	}
	if len(c.Steps) == 0 {
		return []string{p.cancelUntil(*deadline, c.Refund.Percent == 100)}
	}
	var texts []string
	for i, s := range c.Steps {
		texts = append(texts, p.refundUntil(s.Until, s.Percent, i > 0))
	}
	if !c.Steps[len(c.Steps)-1].Until.Before(*deadline) {
		return texts
	}
	return append(texts, p.Words.Say("refund_never"), p.cancelUntil(*deadline, false))
}
