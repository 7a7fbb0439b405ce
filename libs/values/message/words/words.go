// Package words formats text for a reader in one of the 36 languages. It covers
// sentences of a [message.Catalog], dates, times of day, numbers and amounts of money.
// If a sentence does not exist, its text is empty. Tests detect this with [Words.Fault].
package words

import (
	"strconv"
	"strings"
	"time"

	"github.com/bojanz/currency"
	"github.com/gohugoio/locales"
	"golang.org/x/text/language"

	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/message"
)

// Words formats text for one reader in one language. It is not
// safe for concurrent use, because it stores the first error.
type Words struct {
	// Code is the language of the text. It is one of the languages of the catalog.
	Code string
	// Requested is the language tag that the reader requested, such as en-GB.
	Requested string

	catalog       *message.Catalog
	cldr          locales.Translator
	currency      *currency.Formatter
	region        string // country of the reader, which determines the format of times and the first day of the week
	isRegionNamed bool   // whether a tag of the reader names the region
	fault         error
}

// In returns a formatter for a reader who prefers these language tags, the
// best first. [message.Catalog.Choose] determines the language of the text.
//
// The region comes from the first tag that names a region and has the language of the text. For example, if the reader
// chooses en and the browser requests en-GB, the region is Great Britain. If no tag names a region, the region is the
// region with the most speakers of the language.
func In(catalog *message.Catalog, tags ...string) *Words {
	code := catalog.Choose(tags...)
	w := &Words{Code: code, Requested: code, catalog: catalog, cldr: cldr[code]}
	for _, tag := range tags {
		if spoken, ok := locale.Match(tag, catalog.Languages()); ok && spoken == code {
			w.Requested = tag
			break
		}
	}
	region, _ := language.Make(w.Requested).Region()
	w.region = region.String()
	for _, tag := range append([]string{w.Requested}, tags...) {
		spoken, ok := locale.Match(tag, catalog.Languages())
		if named, confidence := language.Make(tag).Region(); ok && spoken == code && confidence == language.Exact {
			w.region, w.isRegionNamed = named.String(), true
			break
		}
	}
	w.currency = currency.NewFormatter(currency.NewLocale(w.cldr.Locale()))
	return w
}

// Languages returns the codes of all languages of the catalog.
func (w *Words) Languages() []string { return w.catalog.Languages() }

// SetRegion sets the region for an English text. It does nothing if a tag of the reader names a region, or if the
// argument is "". SetRegion returns `w`. Callers pass the country of the business, because English date formats differ
// between countries.
func (w *Words) SetRegion(region string) *Words {
	if !w.isRegionNamed && region != "" && w.Code == "en" {
		w.region = region
	}
	return w
}

// Region returns the ISO 3166 code of the country for which `w` formats text.
func (w *Words) Region() string { return w.region }

// Direction returns the direction of the text, rtl or ltr, as a value for the HTML attribute dir.
func (w *Words) Direction() string {
	if w.Code == "ar" || w.Code == "he" {
		return "rtl"
	}
	return "ltr"
}

// Fault returns the error of the first sentence that does not exist, or nil.
func (w *Words) Fault() error { return w.fault }

// Say returns the sentence with the given id. The sentence has no placeholders.
func (w *Words) Say(id string) string { return w.storeFault(w.catalog.Say(w.Code, message.ID(id))) }

// With returns the sentence with the given id, which has one placeholder, and replaces the placeholder with `value`.
// The argument `name` is the name of the placeholder.
func (w *Words) With(id, name, value string) string {
	return w.Fill(id, map[string]string{name: value})
}

// Fill returns the sentence with the given id and replaces its placeholders with the values in `data`.
func (w *Words) Fill(id string, data map[string]string) string {
	return w.storeFault(w.catalog.Fill(w.Code, message.ID(id), data))
}

// Count returns the sentence with the given id in the plural form for `n`. It replaces the placeholder {{.Count}} with
// `n`.
func (w *Words) Count(id string, n int) string {
	return w.storeFault(w.catalog.FillCount(w.Code, message.ID(id), n, map[string]string{"Count": w.Number(n)}))
}

func (w *Words) storeFault(s string, err error) string {
	if w.fault == nil {
		w.fault = err
	}
	return s
}

// Number formats a whole number.
func (w *Words) Number(n int) string { return w.cldr.FmtNumber(float64(n), 0) }

// Date formats a date in full, with the day of the week. It corrects two results of
// the package locales. In Finnish, that package uses the case for "on Thursday" and
// leaves the marker cccc in the text. In Thai, it writes the name of the era in full.
func (w *Words) Date(t time.Time) string {
	if w.hasDayFirst() {
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

// ShortDate formats a date with the name of the month and without the day of the week.
func (w *Words) ShortDate(t time.Time) string {
	if w.hasDayFirst() {
		return t.Format("2 Jan 2006")
	}
	return w.cldr.FmtDateMedium(t)
}

// hasDayFirst reports whether the text is English and its region writes the day
// before the month. For these regions, the formats of the package locales panic.
func (w *Words) hasDayFirst() bool {
	return w.Code == "en" && !strings.Contains(monthFirstRegions, " "+w.region+" ")
}

// Month formats a month and its year as the title of a calendar.
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
	if own, ok := standaloneMonths[w.Code]; ok {
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

// Day formats the number of a day of the month.
func (w *Words) Day(day int) string { return w.Number(day) }

// standaloneMonths holds the nominative names of the months. It
// is needed for languages that inflect these names within dates.
var standaloneMonths = map[string]string{
	"cs": "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec",
	"el": "Ιανουάριος Φεβρουάριος Μάρτιος Απρίλιος Μάιος Ιούνιος Ιούλιος Αύγουστος Σεπτέμβριος Οκτώβριος Νοέμβριος " +
		"Δεκέμβριος",
	"fi": "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu",
	"hr": "siječanj veljača ožujak travanj svibanj lipanj srpanj kolovoz rujan listopad studeni prosinac",
	"lt": "sausis vasaris kovas balandis gegužė birželis liepa rugpjūtis rugsėjis spalis lapkritis gruodis",
	"pl": "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień",
	"ru": "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
	"sk": "január február marec apríl máj jún júl august september október november december",
	"uk": "січень лютий березень квітень травень червень липень серпень вересень жовтень листопад грудень",
}

// Weekday returns the short name of a day of the week, for the header of a calendar. For Arabic, it returns the full
// name. The package locales has no short names for Arabic, and the short names of CLDR are equal to the full names.
func (w *Words) Weekday(d time.Weekday) string {
	if w.Code == "ar" {
		return w.WholeWeekday(d)
	}
	return w.cldr.WeekdayAbbreviated(d)
}

// WholeWeekday returns the full name of a day of the week.
func (w *Words) WholeWeekday(d time.Weekday) string { return w.cldr.WeekdayWide(d) }

// These constants are lists of regions from the supplemental data of CLDR. In monthFirstRegions,
// English dates have the month before the day. In twelveHourRegions, English times use a 12-hour
// clock. In sundayRegions and saturdayRegions, weeks start on Sunday or Saturday.
const (
	monthFirstRegions = " US PH PR CA "
	sundayRegions     = " AG AS BD BR BS BT BW BZ CA CO DM DO ET GT GU HK HN ID IL IN JM JP KE KH KR LA MH MM MO MT " +
		"MX MZ NI NP PA PE PH PK PR PT PY SA SG SV TH TT TW UM US VE VI WS YE ZA ZW "
	saturdayRegions   = " AE AF BH DJ DZ EG IQ IR JO KW LY OM QA SD SY "
	twelveHourRegions = " US CA AU NZ IN PH PK SG MY BD PR JM TT BS BZ "
)

// FirstWeekday returns the first day of the week in the region of the reader.
func (w *Words) FirstWeekday() time.Weekday {
	switch {
	case strings.Contains(saturdayRegions, " "+w.region+" "):
		return time.Saturday
	case strings.Contains(sundayRegions, " "+w.region+" ") && w.Code != "pt":
		return time.Sunday
	}
	return time.Monday
}

// Clocks formats two instants as times of day, each in the time zone of its time.Time value. If the clock is set back
// between `start` and `end`, a time of day can occur twice. Both texts then include the offset from UTC.
func (w *Words) Clocks(start, end time.Time) (string, string) {
	_, before := start.Zone()
	_, after := end.Zone()
	from, to := w.Clock(start), w.Clock(end)
	if after < before {
		from, to = from+" ("+formatOffset(before)+")", to+" ("+formatOffset(after)+")"
	}
	return from, to
}

// formatOffset formats an offset from UTC in seconds, such as UTC, UTC+1 or UTC+5:30.
func formatOffset(seconds int) string {
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

// Clock formats a time of day, on one line. It corrects two results of the package
// locales. The hour after midnight is 0 in languages in which it must be 12. Korean has
// no words for morning and afternoon, so Clock uses a 24-hour clock for Korean.
func (w *Words) Clock(t time.Time) string {
	switch {
	case w.Code == "en" && strings.Contains(twelveHourRegions, " "+w.region+" "):
		return strings.ToLower(t.Format("3:04\u202fPM"))
	case w.Code == "en", w.Code == "ko":
		return t.Format("15:04")
	}
	s := strings.ReplaceAll(w.cldr.FmtTimeShort(t), " ", "\u00a0")
	if t.Hour() == 0 && (w.Code == "el" || w.Code == "ar") {
		s = strings.Replace(s, "0", "12", 1)
	}
	return s
}

// Amount formats an amount of money in the format of the language. If CLDR does not
// contain the currency, Amount returns the number followed by the currency code.
func (w *Words) Amount(decimal, code string) string {
	a, err := currency.NewAmount(decimal, code)
	if err != nil {
		return decimal + " " + code
	}
	return w.currency.Format(a)
}
