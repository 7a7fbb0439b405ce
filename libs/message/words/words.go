// Package words writes what a reader sees in one of the 36 languages: sentences of a [message.Catalog], and dates, times of the day,
// numbers and money as the language has them. Sentences that the catalog lacks are empty; tests find them by [Words.Fault].
package words

import (
	"strconv"
	"strings"
	"time"

	"github.com/bojanz/currency"
	"github.com/gohugoio/locales"
	"golang.org/x/text/language"

	"github.com/slotmesh/slotmesh/libs/locale"
	"github.com/slotmesh/slotmesh/libs/message"
)

// Words speaks one language. It is for one goroutine: it keeps the first fault.
type Words struct {
	// Code is the language spoken, one of the catalog's.
	Code string
	// Asked is the tag that the reader asked for, such as en-GB.
	Asked string

	catalog  *message.Catalog
	cldr     locales.Translator
	currency *currency.Formatter
	region   string // says how times are written and when weeks begin
	isNamed  bool   // the reader named the region
	fault    error
}

// In returns the words of the first of these tags that the catalog speaks, as [message.Catalog.Choose] finds it. The region is that of
// the first tag of this language that names one: a reader whose browser asks for en-GB and who chooses en is in Great Britain. A reader
// who names none is where the language is most spoken.
func In(catalog *message.Catalog, tags ...string) *Words {
	code := catalog.Choose(tags...)
	w := &Words{Code: code, Asked: code, catalog: catalog, cldr: cldr[code]}
	for _, tag := range tags {
		if spoken, ok := locale.Match(tag, catalog.Languages()); ok && spoken == code {
			w.Asked = tag
			break
		}
	}
	region, _ := language.Make(w.Asked).Region()
	w.region = region.String()
	for _, tag := range append([]string{w.Asked}, tags...) {
		spoken, ok := locale.Match(tag, catalog.Languages())
		if named, confidence := language.Make(tag).Region(); ok && spoken == code && confidence == language.Exact {
			w.region, w.isNamed = named.String(), true
			break
		}
	}
	w.currency = currency.NewFormatter(currency.NewLocale(w.cldr.Locale()))
	return w
}

// Languages returns the codes of all languages that the catalog speaks.
func (w *Words) Languages() []string { return w.catalog.Languages() }

// Within sets the region of a reader of English who named none, such as the country of the business, and returns the words. English is
// written in too many ways to assume one. "" sets no region.
func (w *Words) Within(region string) *Words {
	if !w.isNamed && region != "" && w.Code == "en" {
		w.region = region
	}
	return w
}

// Region is the ISO 3166 code of the reader's country.
func (w *Words) Region() string { return w.region }

// Direction is rtl or ltr, as HTML's dir takes it.
func (w *Words) Direction() string {
	if w.Code == "ar" || w.Code == "he" {
		return "rtl"
	}
	return "ltr"
}

// Fault is the first sentence that the data lacks.
func (w *Words) Fault() error { return w.fault }

// Say is a sentence without placeholders.
func (w *Words) Say(id string) string { return w.keep(w.catalog.Say(w.Code, message.ID(id))) }

// With is a sentence with one placeholder filled; its name is that of the field in braces.
func (w *Words) With(id, name, value string) string {
	return w.Fill(id, map[string]string{name: value})
}

// Fill is a sentence with its placeholders filled.
func (w *Words) Fill(id string, data map[string]string) string {
	return w.keep(w.catalog.Fill(w.Code, message.ID(id), data))
}

// Count is a sentence in the plural form of n, which its {{.Count}} shows.
func (w *Words) Count(id string, n int) string {
	return w.keep(w.catalog.FillCount(w.Code, message.ID(id), n, map[string]string{"Count": w.Number(n)}))
}

func (w *Words) keep(s string, err error) string {
	if w.fault == nil {
		w.fault = err
	}
	return s
}

// Number writes a whole number.
func (w *Words) Number(n int) string { return w.cldr.FmtNumber(float64(n), 0) }

// Date is the whole date with the day of the week. The library gives Finnish days in the case of "on Thursday" and marks where one
// stands, and names the era in Thai at length.
func (w *Words) Date(t time.Time) string {
	if w.dayFirst() {
		return t.Format("Monday, 2 January 2006")
	}
	s := w.cldr.FmtDateFull(t)
	switch w.Code {
	case "fi":
		return strings.Replace(s, "cccc", strings.TrimSuffix(w.cldr.WeekdayWide(t.Weekday()), "na"), 1)
	case "th":
		return strings.Replace(s, "คริสต์ศักราช", "ค.ศ.", 1)
	}
	return s
}

// ShortDate is the date without the day of the week, with the month in letters.
func (w *Words) ShortDate(t time.Time) string {
	if w.dayFirst() {
		return t.Format("2 Jan 2006")
	}
	return w.cldr.FmtDateMedium(t)
}

// dayFirst reports whether it is English as it is written where the day stands before the month. The library's own panics there.
func (w *Words) dayFirst() bool {
	return w.Code == "en" && !strings.Contains(monthFirst, " "+w.region+" ")
}

// Month is a month with its year, as the title of a calendar.
func (w *Words) Month(year int, month time.Month) string {
	y := strconv.Itoa(year)
	switch w.Code {
	case "ja", "zh":
		return y + "年" + strconv.Itoa(int(month)) + "月"
	case "ko":
		return y + "년 " + strconv.Itoa(int(month)) + "월"
	case "vi":
		return "Tháng " + strconv.Itoa(int(month)) + ", " + y
	}
	name := w.cldr.MonthWide(month)
	if own, ok := standalone[w.Code]; ok {
		name = strings.Split(own, " ")[month-1]
	}
	switch w.Code {
	case "hu":
		return y + ". " + name
	case "lt":
		return y + " m. " + name
	case "lv":
		return y + ". gada " + name
	case "es", "pt":
		return name + " de " + y
	case "bg":
		return name + " " + y + " г."
	case "hr", "sr":
		return name + " " + y + "."
	}
	return name + " " + y
}

// Day is the number of a day of the month.
func (w *Words) Day(day int) string { return w.Number(day) }

// standalone are the months of languages that bend them within dates, by themselves.
var standalone = map[string]string{
	"cs": "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec",
	"el": "Ιανουάριος Φεβρουάριος Μάρτιος Απρίλιος Μάιος Ιούνιος Ιούλιος Αύγουστος Σεπτέμβριος Οκτώβριος Νοέμβριος Δεκέμβριος",
	"fi": "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu",
	"hr": "siječanj veljača ožujak travanj svibanj lipanj srpanj kolovoz rujan listopad studeni prosinac",
	"lt": "sausis vasaris kovas balandis gegužė birželis liepa rugpjūtis rugsėjis spalis lapkritis gruodis",
	"pl": "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień",
	"ru": "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
	"sk": "január február marec apríl máj jún júl august september október november december",
	"uk": "січень лютий березень квітень травень червень липень серпень вересень жовтень листопад грудень",
}

// Weekday is the short name of a day of the week, for the head of a calendar. The library has none in Arabic, where CLDR's are the whole
// names.
func (w *Words) Weekday(d time.Weekday) string {
	if w.Code == "ar" {
		return w.WholeWeekday(d)
	}
	return w.cldr.WeekdayAbbreviated(d)
}

// WholeWeekday is the whole name of a day of the week.
func (w *Words) WholeWeekday(d time.Weekday) string { return w.cldr.WeekdayWide(d) }

// Regions that begin weeks on Sunday and on Saturday, and those of English that write the month before the day and count hours to twelve,
// by CLDR's supplemental data.
const (
	monthFirst = " US PH PR CA "
	sunday     = " AG AS BD BR BS BT BW BZ CA CO DM DO ET GT GU HK HN ID IL IN JM JP KE KH KR LA MH MM MO MT MX MZ NI NP PA PE PH PK PR PT PY SA SG SV TH TT TW UM US VE VI WS YE ZA ZW "
	saturday   = " AE AF BH DJ DZ EG IQ IR JO KW LY OM QA SD SY "
	twelveHour = " US CA AU NZ IN PH PK SG MY BD PR JM TT BS BZ "
)

// FirstWeekday is the day on which weeks begin where the reader is.
func (w *Words) FirstWeekday() time.Weekday {
	switch {
	case strings.Contains(saturday, " "+w.region+" "):
		return time.Saturday
	case strings.Contains(sunday, " "+w.region+" ") && w.Code != "pt":
		return time.Sunday
	}
	return time.Monday
}

// Clocks writes the two times of the day between which something lies, as its zone's clock shows them. Where that clock is set back in
// between, it may show one time twice: then each time says how far it is from UTC.
func (w *Words) Clocks(start, end time.Time) (string, string) {
	_, before := start.Zone()
	_, after := end.Zone()
	from, to := w.Clock(start), w.Clock(end)
	if after < before {
		from, to = from+" ("+offset(before)+")", to+" ("+offset(after)+")"
	}
	return from, to
}

// offset is a distance from UTC in seconds as clocks write it: UTC, UTC+1, UTC+5:30.
func offset(seconds int) string {
	if seconds == 0 {
		return "UTC"
	}
	sign := "+"
	if seconds < 0 {
		sign, seconds = "−", -seconds
	}
	const hour = 3600
	text := "UTC" + sign + strconv.Itoa(seconds/hour)
	if minutes := seconds % hour / 60; minutes > 0 {
		text += ":" + strconv.Itoa(minutes)
	}
	return text
}

// Clock is the time of the day. The library counts the hour after midnight as 0 where it is 12, and lacks the Korean words for
// morning and afternoon, so Korean hours are counted to 24.
func (w *Words) Clock(t time.Time) string {
	switch {
	case w.Code == "en" && strings.Contains(twelveHour, " "+w.region+" "):
		return strings.ToLower(t.Format("3:04\u202fPM"))
	case w.Code == "en", w.Code == "ko":
		return t.Format("15:04")
	}
	s := w.cldr.FmtTimeShort(t)
	if t.Hour() == 0 && (w.Code == "el" || w.Code == "ar") {
		s = strings.Replace(s, "0", "12", 1)
	}
	return s
}

// Amount is money as the language writes it; amounts of currencies that CLDR does not know stand with their code.
func (w *Words) Amount(decimal, code string) string {
	a, err := currency.NewAmount(decimal, code)
	if err != nil {
		return decimal + " " + code
	}
	return w.currency.Format(a)
}
