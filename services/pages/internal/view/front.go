package view

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// maxTagline is the maximum length of the line that describes the business below its name, in characters.
const maxTagline = 140

// tagline returns the first line of the text in which the business describes itself. If the line is longer than
// maxTagline, tagline cuts it after a word. The second result is true if the returned line is the whole text.
func tagline(aboutHTML string) (string, bool) {
	text := strings.TrimSpace(locale.VisibleText(aboutHTML))
	line, rest, _ := strings.Cut(text, "\n")
	line = strings.TrimSpace(line)
	if utf8.RuneCountInString(line) <= maxTagline {
		return line, strings.TrimSpace(rest) == ""
	}
	cut := string([]rune(line)[:maxTagline])
	if space := strings.LastIndexByte(cut, ' '); space > maxTagline/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,;:–-") + "…", false
}

// openingText returns the text that shows until when the business is open, or when the business opens again.
func (p *Page) openingText(o *usecase.Opening) string {
	if !o.Until.IsZero() {
		return p.Words.With("open_until", "Time", p.momentSoon(o.Until))
	}
	return p.Words.Say("closed_day") + " · " + p.Words.With("opens", "When", p.momentSoon(o.Next))
}

// momentSoon formats a time in the next two weeks. A time today or in the coming night is formatted as a time of day. A
// time on one of the next six days is formatted with the day of the week, and a later time with the date.
func (p *Page) momentSoon(t time.Time) string {
	today, date := p.Business.Today(), timespan.DateOf(t, t.Location())
	switch {
	case date == today, date == today+1 && t.Hour() < 5:
		return p.Words.ClockInText(t)
	case date < today+7:
		return p.Words.Weekday(t.Weekday()) + " " + p.Words.ClockInText(t)
	}
	return p.Words.Moment(t)
}

// windowTexts formats the opening hours of one date, one text for each window.
func (p *Page) windowTexts(windows []timespan.Window) []string {
	if len(windows) == 0 {
		return []string{p.Words.Say("closed_day")}
	}
	texts := make([]string, len(windows))
	for i, w := range windows {
		texts[i] = p.clock(w.From) + " – " + p.clock(w.To)
	}
	return texts
}

// serviceFacts returns one text with the duration of a service and the names of the staff members who perform it. If
// more than three members perform the service, the text has no names.
func (p *Page) serviceFacts(s *usecase.Service) string {
	duration := p.formatDuration(s.DurationMinutes)
	if len(s.Variants) > 0 {
		duration = ""
	}
	return joinDots(duration, p.withText(p.Business.Performers(s.ID, p.Words.Requested)))
}

// withText returns a text such as "with Anna or Ben". It returns "" if there are no names or more than three.
func (p *Page) withText(names []string) string {
	const maxNames = 3
	if len(names) == 0 || len(names) > maxNames {
		return ""
	}
	text := names[0]
	if last := len(names) - 1; last > 0 {
		text = p.Words.Fill("or", map[string]string{"First": p.Words.JoinList(names[:last]), "Second": names[last]})
	}
	return p.Words.With("with", "Name", text)
}

// joinDots joins the texts that are not empty with a middle dot.
func joinDots(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), " · ")
}

// policyInShort returns one sentence for each step of the cancellation policy. The sentences state the deadlines in
// hours before the start.
func (p *Page) policyInShort() []string {
	steps := slices.Clone(p.Business.Snapshot.CancellationPolicy)
	slices.SortFunc(steps, func(a, b catalog.CancellationRule) int { return b.HoursBefore - a.HoursBefore })
	return p.policyInHours(steps)
}

// classDay holds the class sessions of one date.
type classDay struct {
	date   timespan.Date
	starts []usecase.ClassStart
}

// classDays groups class sessions by date. The argument `starts` must be in ascending order.
func classDays(starts []usecase.ClassStart) []classDay {
	var days []classDay
	for _, s := range starts {
		if n := len(days); n == 0 || days[n-1].date != s.Date {
			days = append(days, classDay{date: s.Date})
		}
		days[len(days)-1].starts = append(days[len(days)-1].starts, s)
	}
	return days
}

// classFacts returns one text with the duration of a class session, the name of
// the staff member who gives it and the name of its location.
func (p *Page) classFacts(c usecase.ClassStart) string {
	with, where := "", ""
	if c.Location != nil {
		where = c.Location.Name.In(p.readerLanguage())
	}
	if c.Staff != nil {
		with = p.withText([]string{p.Business.Snapshot.MemberName(&c.Staff.ID, c.Staff.Name, p.readerLanguage())})
	}
	return joinDots(p.formatDuration(c.Service.DurationMinutes), with, where)
}

// classSelection returns the selection of a visitor who has chosen the given class session.
func classSelection(c usecase.ClassStart) usecase.Selection {
	selection, _ := usecase.ReadSelection(serviceQuery(c.Service, "")) // the id comes from the snapshot, so it is valid
	return selection.WithStart(usecase.Slot{Date: c.Date, Time: c.Time, ClassScheduleID: &c.Session})
}

// freeID returns the id of the element that shows the first free start of a service.
func freeID(service uuid.UUID) string { return "free-" + service.String() }

// placesID returns the id of the element that shows the free places of a class session.
func placesID(c usecase.ClassSession) string {
	return "places-" + c.ID.String() + "-" + c.Date.String()
}

// FreeTexts returns the texts about free times for the list of services, by the id of the element that shows the text.
func FreeTexts(p *Page, f *usecase.FreeTimes) map[string]string {
	shown := map[string]string{}
	for service, first := range f.First {
		shown[freeID(service)] = p.Words.With("next_free", "When", p.formatSoonSlot(first))
	}
	for session, left := range f.Left {
		if left == 0 {
			shown[placesID(session)] = p.Words.Say("none_day")
		} else {
			shown[placesID(session)] = p.Words.Count("spots_left", left)
		}
	}
	return shown
}

// splitClasses separates classes from the other services. It returns the groups with their other services, without
// groups that contain only classes, and then the classes.
func splitClasses(groups []usecase.Group) ([]usecase.Group, []*usecase.Service) {
	var (
		others  []usecase.Group
		classes []*usecase.Service
	)
	for _, g := range groups {
		kept := usecase.Group{Category: g.Category}
		for _, s := range g.Services {
			if s.HasClassSchedule {
				classes = append(classes, s)
			} else {
				kept.Services = append(kept.Services, s)
			}
		}
		if len(kept.Services) > 0 {
			others = append(others, kept)
		}
	}
	return others, classes
}

// listUnscheduled returns the classes that have no session in the argument `starts`.
func listUnscheduled(classes []*usecase.Service, starts []usecase.ClassStart) []*usecase.Service {
	var rest []*usecase.Service
	for _, s := range classes {
		if !slices.ContainsFunc(starts, func(c usecase.ClassStart) bool { return c.Service.ID == s.ID }) {
			rest = append(rest, s)
		}
	}
	return rest
}
