package letter

import (
	"embed"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bojanz/currency"

	"github.com/slotmesh/slotmesh/libs/values/message"
	sharedwords "github.com/slotmesh/slotmesh/libs/values/message/words"
)

//go:embed texts/*.json
var files embed.FS

var texts = sync.OnceValues(func() (*message.Catalog, error) { return message.Read(files, "texts") })

// words writes text in the language of a letter.
type words struct {
	*sharedwords.Words
	isRTL bool
}

// findWords returns the words of the language of the argument `locale`. If that language is not available, it returns
// the words of the language `fallback`, otherwise English words. The country code in the argument `region` selects the
// regional form of the language.
func findWords(locale, fallback, region string) (*words, error) {
	catalog, err := texts()
	if err != nil {
		return nil, err
	}
	w := sharedwords.In(catalog, locale, fallback).SetRegion(region)
	return &words{Words: w, isRTL: w.Direction() == "rtl"}, nil
}

// formatSubject returns the subject line of a mail: what happened, such as "Booking cancelled", what was sold and the
// time. Calendar programs such as Exchange use the subject line as the title of the calendar entry. The subject line of
// an invitation therefore begins with what was sold and the time.
func (w *words) formatSubject(kind Kind, title string, f *Facts, due bool) string {
	what, when := w.formatWhat(kind, f), w.formatSpan(f, due)
	if isInvitation(kind) && !f.Subject.IsPending {
		return what + " · " + when + " · " + title
	}
	return w.Fill("subject", map[string]string{"Title": title, "What": what, "When": when})
}

// formatFact returns the headline of a letter: the time, and then what was sold. For owners, it returns the customer,
// what was sold, and then the time.
func (w *words) formatFact(kind Kind, f *Facts, due bool) string {
	what, when := w.formatWhat(kind, f), w.formatSpan(f, due)
	if kind == OwnerNotice {
		return what + " · " + strings.ReplaceAll(when, " ", "\u00a0")
	}
	return strings.ReplaceAll(when, " ", "\u00a0") + " · " + what // no line break within the date
}

// formatWhat returns the names of the sold items, and the name of the staff member. For owners, the customer's name
// comes first.
func (w *words) formatWhat(kind Kind, f *Facts) string {
	var items []string
	for _, item := range f.Subject.Items {
		items = append(items, clean(item, maxName))
	}
	what := w.isolate(cut(strings.Join(items, " + "), maxSubject))
	if staff := w.sanitize(f.Subject.Staff, maxSubject); staff != "" {
		what = w.Fill("what_with", map[string]string{"What": what, "Staff": staff})
	}
	if name := w.isolate(filterName(f.Customer.Name)); kind == OwnerNotice && name != "" {
		what = name + " · " + what
	}
	return what
}

// formatSpan returns the start of the booking, ticket order or reservation that the letter is about. If its time is
// several whole days, formatSpan returns the first and the last date. If the argument `due` is true, formatSpan returns
// the end instead.
func (w *words) formatSpan(f *Facts, due bool) string {
	when := f.Subject.When
	if due {
		return w.formatMoment(when.end(), f)
	}
	first, last := w.formatMoment(when, f), w.formatMoment(when.end(), f)
	if when.IsAllDay && first != last {
		return first + " – " + last
	}
	return first
}

// maxShortDay is the maximum time between a date and the time [Facts.Stamp] if the message omits the year of the date.
const maxShortDay = 300 * 24 * time.Hour

// formatMoment returns the start of the time `t` on one line: the short date and the time of day. The date includes the
// year if the start is more than maxShortDay before or after the time [Facts.Stamp].
func (w *words) formatMoment(t When, f *Facts) string {
	start := t.Start.In(f.Business.Zone)
	day := w.ShortDay(start)
	if !f.Stamp.IsZero() && start.Sub(f.Stamp).Abs() > maxShortDay {
		day = w.ShortDate(start)
	}
	if t.IsAllDay {
		return day
	}
	return w.JoinTime(day, w.ClockInText(start))
}

// firstNameLanguages are the languages in which a business greets customers by their first names.
const firstNameLanguages = " da en es fi is it nb nl pt sv "

// titles are words that can be the first word of a name but are not first names.
const titles = " mr mrs ms miss dr prof sir lady the "

func isNoLetterOfName(r rune) bool {
	return !unicode.Is(unicode.Latin, r) && !strings.ContainsRune("-'’", r)
}

// chooseGreetingName returns the first name of a customer in languages that greet by first names, otherwise the whole
// name. If the first word may not be a first name, for example a title or an initial, it also returns the whole name.
func (w *words) chooseGreetingName(name string) string {
	first, _, isLonger := strings.Cut(name, " ")
	isName := utf8.RuneCountInString(first) > 1 && !strings.ContainsAny(first, ".,") &&
		!strings.ContainsFunc(first, isNoLetterOfName) && !strings.Contains(titles, " "+strings.ToLower(first)+" ")
	if isLonger && isName && strings.Contains(firstNameLanguages, " "+w.Code+" ") {
		return first
	}
	return name
}

// formatZone returns the name of the given time zone as people read it: the name of the city.
func (w *words) formatZone(zone *time.Location) string {
	name := zone.String()
	return w.isolateLTR(strings.ReplaceAll(name[strings.LastIndex(name, "/")+1:], "_", " "))
}

// formatTime formats a time as one or two lines. The first line has the date, or both dates if start and end differ.
// The second line has the times of day and the time zone.
func (w *words) formatTime(t When, zone *time.Location) []string {
	start, end := t.Start.In(zone), t.end().Start.In(zone)
	if t.End.IsZero() {
		end = start
	}
	day, lastDay := w.Date(start), w.Date(end)
	if t.IsAllDay {
		if day == lastDay {
			return []string{day}
		}
		return []string{day + " –", lastDay}
	}
	place := " (" + w.formatZone(zone) + ")"
	switch {
	case start.Equal(end):
		return []string{day, w.ClockInText(start) + place}
	case day == lastDay:
		from, to := w.Clocks(start, end)
		return []string{day, from + " – " + to + w.ClockUnit() + place}
	}
	return []string{w.JoinTime(day, w.ClockInText(start)) + " –", w.JoinTime(lastDay, w.ClockInText(end)) + place}
}

// formatAmount formats an amount of money in the language of the letter. If CLDR has no name for the currency, the
// currency's code follows the number.
func (w *words) formatAmount(m Money) string {
	if m.Amount == "" {
		return ""
	}
	if _, err := currency.NewAmount(m.Amount, m.Currency); err != nil {
		return w.isolateLTR(clean(m.Amount+" "+m.Currency, maxName))
	}
	return w.Amount(m.Amount, m.Currency)
}

// formatQuantity formats the quantity of a subject with its price tier. If the subject is not a ticket order, it
// returns "" for the quantity 1.
func (w *words) formatQuantity(s *Subject) string {
	tier := w.sanitize(s.Tier, maxName)
	switch {
	case s.Quantity < 1, s.Quantity == 1 && s.Kind != TicketSubject:
		return tier
	case tier == "":
		return w.Number(s.Quantity)
	}
	return w.Number(s.Quantity) + " × " + tier
}

// sanitize cleans a text that a person typed ([clean]). If the direction of the text is opposite to the direction of
// the letter, sanitize encloses the text in direction marks. The argument `maxRunes` is the maximum length in
// characters.
func (w *words) sanitize(s string, maxRunes int) string { return w.isolate(clean(s, maxRunes)) }

// sanitizeLines splits a text that a person typed into lines and cleans each line. sanitizeLines removes empty lines at
// the beginning and at the end.
func (w *words) sanitizeLines(s string) []string {
	s = strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n\n").Replace(s))
	if s == "" {
		return nil
	}
	var lines []string
	for i, line := range strings.Split(cut(s, maxNote), "\n") {
		if i == maxNoteLines {
			break
		}
		lines = append(lines, w.sanitize(line, maxNote))
	}
	return lines
}

// isolate encloses a text in direction marks if its direction is opposite to the direction of the letter. Without the
// marks, such a text would reorder the text beside it.
func (w *words) isolate(s string) string {
	if s == "" || !hasOppositeDirection(s, w.isRTL) {
		return s
	}
	const firstStrongIsolate, popIsolate = "\u2068", "\u2069"
	return firstStrongIsolate + s + popIsolate
}

// isolateLTR encloses a text that is always read from left to right, such as a telephone number, in direction marks. It
// returns the text unchanged if neither the letter nor a part of the text is written from right to left.
func (w *words) isolateLTR(s string) string {
	if s == "" || !w.isRTL && !hasOppositeDirection(s, false) {
		return s
	}
	const leftToRightIsolate, popIsolate = "\u2066", "\u2069"
	return leftToRightIsolate + s + popIsolate
}
