package letter

import (
	"embed"
	"strings"
	"sync"
	"time"

	"github.com/bojanz/currency"
	"github.com/gohugoio/locales"

	"github.com/slotmesh/slotmesh/libs/message"
	sharedwords "github.com/slotmesh/slotmesh/libs/message/words"
)

//go:embed texts/*.json
var files embed.FS

var texts = sync.OnceValues(func() (*message.Catalog, error) { return message.Read(files, "texts") })

var translators = sharedwords.Translators()

// words speaks one language: its sentences, and dates, times and money as they are written in it.
type words struct {
	code, asked string // the language spoken, and the one asked for
	catalog     *message.Catalog
	cldr        locales.Translator
	currency    *currency.Formatter
	rtl         bool
	fault       error // the first sentence that the data lacks, which the tests find
}

func wordsIn(locale, fallback string) (*words, error) {
	catalog, err := texts()
	if err != nil {
		return nil, err
	}
	code := catalog.Choose(locale, fallback)
	w := &words{code: code, asked: locale, catalog: catalog, cldr: translators[code], rtl: code == "ar" || code == "he"}
	if w.asked == "" {
		w.asked = code
	}
	w.currency = currency.NewFormatter(currency.NewLocale(w.cldr.Locale()))
	return w, nil
}

func (w *words) direction() string {
	if w.rtl {
		return "rtl"
	}
	return "ltr"
}

func (w *words) say(id string) string { return w.fill(id, nil) }

func (w *words) fill(id string, data map[string]string) string {
	return w.keep(w.catalog.Fill(w.code, message.ID(id), data))
}

// count says a sentence in the plural form of n.
func (w *words) count(id string, n int) string {
	return w.keep(w.catalog.FillCount(w.code, message.ID(id), n, map[string]string{"Count": w.number(n)}))
}

func (w *words) keep(s string, err error) string {
	if w.fault == nil {
		w.fault = err
	}
	return s
}

func (w *words) number(n int) string { return w.cldr.FmtNumber(float64(n), 0) }

// subject is the line that a list of mails shows: what happened, to what, and when that begins, or ends where it is due.
func (w *words) subject(title string, f *Facts, due bool) string {
	var items []string
	for _, item := range f.Subject.Items {
		items = append(items, clean(item, maxName))
	}
	what := w.isolated(cut(strings.Join(items, ", "), maxSubject))
	moment := f.Subject.When
	if due {
		moment = moment.end()
	}
	start := moment.Start.In(f.Business.Zone)
	when := w.cldr.FmtDateMedium(start)
	if !moment.AllDay {
		when += ", " + w.clock(start)
	}
	return w.fill("subject", map[string]string{"Title": title, "What": what, "When": when})
}

// when writes a time in at most two lines: the date, or both where it ends on another one, and the times with the zone.
func (w *words) when(t When, zone *time.Location) []string {
	start, end := t.Start.In(zone), t.end().Start.In(zone)
	if t.End.IsZero() {
		end = start
	}
	day, lastDay := w.date(start), w.date(end)
	if t.AllDay {
		if day == lastDay {
			return []string{day}
		}
		return []string{day + " –", lastDay}
	}
	place := " (" + w.foreign(zone.String()) + ")"
	switch {
	case start.Equal(end):
		return []string{day, w.clock(start) + place}
	case day == lastDay:
		return []string{day, w.clock(start) + " – " + w.clock(end) + place}
	}
	return []string{day + ", " + w.clock(start) + " –", lastDay + ", " + w.clock(end) + place}
}

// date is the whole date with the day of the week. The library gives Finnish days in the case of "on Thursday" and marks where one
// stands, and names the era in Thai at length.
func (w *words) date(t time.Time) string {
	s := w.cldr.FmtDateFull(t)
	switch w.code {
	case "fi":
		return strings.Replace(s, "cccc", strings.TrimSuffix(w.cldr.WeekdayWide(t.Weekday()), "na"), 1)
	case "th":
		return strings.Replace(s, "คริสต์ศักราช", "ค.ศ.", 1)
	}
	return s
}

// clock is the time of the day. The library counts the hour after midnight as 0 where it is 12, and lacks the Korean words for
// morning and afternoon, so Korean hours are counted to 24.
func (w *words) clock(t time.Time) string {
	if w.code == "ko" {
		return t.Format("15:04")
	}
	s := w.cldr.FmtTimeShort(t)
	if t.Hour() == 0 && (w.code == "en" || w.code == "el" || w.code == "ar") {
		s = strings.Replace(s, "0", "12", 1)
	}
	return s
}

// amount is money as the language writes it; amounts of currencies that CLDR does not know stand with their code.
func (w *words) amount(m Money) string {
	if m.Amount == "" {
		return ""
	}
	a, err := currency.NewAmount(m.Amount, m.Currency)
	if err != nil {
		return w.foreign(clean(m.Amount+" "+m.Currency, maxName))
	}
	return w.currency.Format(a)
}

// quantity is how many of a subject, empty where it goes without saying.
func (w *words) quantity(s *Subject) string {
	tier := w.typed(s.Tier, maxName)
	switch {
	case s.Quantity < 1, s.Quantity == 1 && s.Kind != TicketSubject:
		return tier
	case tier == "":
		return w.number(s.Quantity)
	}
	return w.number(s.Quantity) + " × " + tier
}

// typed is one line that somebody typed.
func (w *words) typed(s string, most int) string { return w.isolated(clean(s, most)) }

// typedLines are the lines that somebody typed, without empty ones at the ends.
func (w *words) typedLines(s string) []string {
	s = strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n\n").Replace(s))
	if s == "" {
		return nil
	}
	var lines []string
	for i, line := range strings.Split(cut(s, maxNote), "\n") {
		if i == maxNoteLines {
			break
		}
		lines = append(lines, w.typed(line, maxNote))
	}
	return lines
}

// isolated keeps a text that runs against the letter's direction from moving what stands beside it.
func (w *words) isolated(s string) string {
	if s == "" || !runsAgainst(s, w.rtl) {
		return s
	}
	const firstStrongIsolate, popIsolate = "\u2068", "\u2069"
	return firstStrongIsolate + s + popIsolate
}

// foreign is what is read from left to right everywhere: an address, a number to call, the name of a zone.
func (w *words) foreign(s string) string {
	if s == "" || !w.rtl && !runsAgainst(s, false) {
		return s
	}
	const leftToRightIsolate, popIsolate = "\u2066", "\u2069"
	return leftToRightIsolate + s + popIsolate
}
