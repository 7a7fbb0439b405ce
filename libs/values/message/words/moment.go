package words

import (
	"strconv"
	"strings"
	"time"
)

// shortDays holds, by language, the format of a date without its year. In a format, %w is the short name of the day of
// the week, and %d is the day of the month. %m is the number of the month, and %b is its short name. English has its
// own formats, because they differ between regions.
var shortDays = map[string]string{
	"ar": "%w، %d %b", "bg": "%w, %d.%m", "cs": "%w %d. %m.", "da": "%w %d. %b", "de": "%w, %d.%m.", "el": "%w %d %b",
	"es": "%w %d %b", "et": "%w, %d.%m", "fi": "%w %d.%m.", "fr": "%w %d %b", "he": "%w %d.%m", "hr": "%w %d. %m.",
	"hu": "%b %d., %w", "id": "%w, %d %b", "is": "%w %d. %b", "it": "%w %d %b", "ja": "%m月%d日(%w)",
	"ko": "%m월 %d일(%w)", "lt": "%b %d d., %w", "lv": "%w, %d.%m.", "nb": "%w %d. %b", "nl": "%w %d %b",
	"pl": "%w, %d.%m", "pt": "%w, %d/%m", "ro": "%w, %d.%m", "ru": "%w, %d.%m", "sk": "%w %d. %m.", "sl": "%w, %d. %m.",
	"sr": "%w, %d.%m.", "sv": "%w %d %b", "th": "%w %d %b", "tr": "%d %b %w", "uk": "%w, %d.%m", "vi": "%w, %d/%m",
	"zh": "%m月%d日%w",
}

// ShortDay formats a date with the day of the week and without the year, such as "Wed 2 Dec". Callers use ShortDay for
// dates within the next year.
func (w *Words) ShortDay(t time.Time) string {
	switch {
	case w.hasDayFirst():
		return t.Format("Mon 2 Jan")
	case w.Code == "en":
		return t.Format("Mon, Jan 2")
	}
	return strings.NewReplacer("%w", w.Weekday(t.Weekday()), "%d", strconv.Itoa(t.Day()), "%m",
		strconv.Itoa(int(t.Month())), "%b", w.ShortMonth(t)).Replace(shortDays[w.Code])
}

// ShortMonth returns the short name of the month of a date. For Arabic it returns the full name, because the package
// locales has no short names for Arabic.
func (w *Words) ShortMonth(t time.Time) string {
	if w.Code == "ar" {
		return w.cldr.MonthWide(t.Month())
	}
	return w.cldr.MonthAbbreviated(t.Month())
}

// JoinTime joins a date and a time of day with the separator of the language.
func (w *Words) JoinTime(date, clock string) string {
	switch w.Code {
	case "ar":
		return date + "، " + clock
	case "ja", "ko", "zh":
		return date + " " + clock
	}
	return date + ", " + clock
}

// Moment formats a date without its year and a time of day, such as "Wed 2 Dec, 8:30".
func (w *Words) Moment(t time.Time) string { return w.JoinTime(w.ShortDay(t), w.ClockInText(t)) }

// ClockInText formats a time of day that is part of a text, and not of a table or a list of times.
func (w *Words) ClockInText(t time.Time) string { return w.Clock(t) + w.ClockUnit() }

// ClockUnit returns the word that follows a time of day, or a range of times, in a text. Only German has such a word.
// The result begins with a no-break space; in other languages it is "".
func (w *Words) ClockUnit() string {
	if w.Code == "de" {
		return "\u00a0Uhr"
	}
	return ""
}

// JoinList joins the items of a list with the comma of the language.
func (w *Words) JoinList(items []string) string {
	switch w.Code {
	case "ar":
		return strings.Join(items, "، ")
	case "ja", "zh":
		return strings.Join(items, "、")
	}
	return strings.Join(items, ", ")
}
