package letter

import (
	"embed"
	"strings"
	"sync"
	"time"

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

// formatSubject returns the subject line of a mail: the title, the items of the booking, ticket order or reservation,
// and its start. If the argument `due` is true, the line has the end in place of the start.
func (w *words) formatSubject(title string, f *Facts, due bool) string {
	var items []string
	for _, item := range f.Subject.Items {
		items = append(items, clean(item, maxName))
	}
	names := w.isolate(cut(strings.Join(items, ", "), maxSubject))
	moment := f.Subject.When
	if due {
		moment = moment.end()
	}
	start := moment.Start.In(f.Business.Zone)
	when := w.ShortDate(start)
	if !moment.IsAllDay {
		when += ", " + w.Clock(start)
	}
	return w.Fill("subject", map[string]string{"Title": title, "What": names, "When": when})
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
	place := " (" + w.isolateLTR(zone.String()) + ")"
	switch {
	case start.Equal(end):
		return []string{day, w.Clock(start) + place}
	case day == lastDay:
		from, to := w.Clocks(start, end)
		return []string{day, from + " – " + to + place}
	}
	return []string{day + ", " + w.Clock(start) + " –", lastDay + ", " + w.Clock(end) + place}
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

// isolateLTR encloses a text in direction marks if the text is always read from left to right. Such texts are
// addresses, telephone numbers and the names of time zones.
func (w *words) isolateLTR(s string) string {
	if s == "" || !w.isRTL && !hasOppositeDirection(s, false) {
		return s
	}
	const leftToRightIsolate, popIsolate = "\u2066", "\u2069"
	return leftToRightIsolate + s + popIsolate
}
