package timespan

import (
	"fmt"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/clip"
)

// Date is a calendar date without a time zone, as the number of days
// since 1970-01-01. Integer arithmetic applies: d+1 is the next day.
type Date int32

// NewDate returns the date of a year, month and day. It normalizes values out of range as [time.Date] does.
func NewDate(year int, month time.Month, day int) Date {
	return Date(floorDiv(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix(), secondsPerDay))
}

// ParseDate parses a date of the form YYYY-MM-DD. It rejects dates that do not exist, such as 2027-02-29
// (semantics.md §1). It also rejects the year 0, which does not exist in the calendar and in PostgreSQL.
func ParseDate(s string) (Date, error) {
	d, ok := readDate(s)
	switch {
	case ok:
		return d, nil
	case len(s) != len(time.DateOnly):
		return 0, fmt.Errorf("%q is not a date; write YYYY-MM-DD, such as 2027-03-01", clip.Text(s))
	}
	return 0, fmt.Errorf("%q is not a real calendar date; write YYYY-MM-DD, such as 2027-03-01", clip.Text(s))
}

// readDate is [ParseDate] without an error sentence. It allocates nothing.
func readDate[T string | []byte](s T) (Date, bool) {
	if len(s) != len(time.DateOnly) || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	y, m, d := readDigits(s[:4]), readDigits(s[5:7]), readDigits(s[8:])
	if y < 1 || m < 1 || d < 1 {
		return 0, false
	}
	date := NewDate(y, time.Month(m), d)
	year, month, day := date.YMD()
	return date, year == y && month == time.Month(m) && day == d
}

// readDigits returns the number that consists of the digits `s`, or -1 if `s` contains another character.
func readDigits[T string | []byte](s T) int {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// DateOf returns the calendar date at the instant `t` in the time zone `loc`.
func DateOf(t time.Time, loc *time.Location) Date {
	y, m, d := t.In(loc).Date()
	return NewDate(y, m, d)
}

// Weekday returns the day of the week of `d`.
func (d Date) Weekday() time.Weekday {
	return time.Weekday(((int(d)+4)%7 + 7) % 7) // 1970-01-01 was a Thursday
}

// YMD returns the year, month and day of `d`.
func (d Date) YMD() (int, time.Month, int) {
	return time.Unix(int64(d)*secondsPerDay, 0).UTC().Date()
}

// String formats `d` as YYYY-MM-DD.
func (d Date) String() string {
	return time.Unix(int64(d)*secondsPerDay, 0).UTC().Format(time.DateOnly)
}

// MarshalText formats `d` as YYYY-MM-DD.
func (d Date) MarshalText() ([]byte, error) {
	return time.Unix(int64(d)*secondsPerDay, 0).UTC().AppendFormat(make([]byte, 0, len(time.DateOnly)), time.DateOnly),
		nil
}

// UnmarshalText parses text as [ParseDate] does.
func (d *Date) UnmarshalText(b []byte) error {
	read, ok := readDate(b)
	if !ok {
		_, err := ParseDate(string(b))
		return err
	}
	*d = read
	return nil
}

const (
	secondsPerDay = 86400
	// MinutesPerDay is the number of minutes of a day, without clock changes.
	MinutesPerDay = 1440
)

// TimeOfDay is a local time in minutes after midnight. A parsed value is between 0 and 1440
// (24:00). A larger value is on the next day, for example the end of an overnight [Window].
type TimeOfDay int

// ParseTimeOfDay parses a time of the form HH:MM, from 00:00 to 24:00.
func ParseTimeOfDay(s string) (TimeOfDay, error) {
	t, ok := readTimeOfDay(s)
	if !ok {
		return 0, fmt.Errorf("%q is not a time of day; write HH:MM in 24 hours, such as 09:30", clip.Text(s))
	}
	return t, nil
}

// readTimeOfDay is [ParseTimeOfDay] without an error sentence. It allocates nothing.
func readTimeOfDay[T string | []byte](s T) (TimeOfDay, bool) {
	if len(s) != 5 || s[2] != ':' {
		return 0, false
	}
	h, m := readDigits(s[:2]), readDigits(s[3:])
	return TimeOfDay(h*60 + m), h >= 0 && m >= 0 && m <= 59 && (h < 24 || h == 24 && m == 0)
}

// String formats `t` as HH:MM. A time on the next day is shown
// as a time of that day: 1500 is "01:00", but 1440 is "24:00".
func (t TimeOfDay) String() string {
	text, _ := t.MarshalText()
	return string(text)
}

// MarshalText formats `t` as [TimeOfDay.String] does.
func (t TimeOfDay) MarshalText() ([]byte, error) {
	if t > MinutesPerDay {
		t %= MinutesPerDay
	}
	h, m := int(t)/60, int(t)%60
	return []byte{byte('0' + h/10), byte('0' + h%10), ':', byte('0' + m/10), byte('0' + m%10)}, nil
}

// UnmarshalText parses text as [ParseTimeOfDay] does.
func (t *TimeOfDay) UnmarshalText(b []byte) error {
	read, ok := readTimeOfDay(b)
	if !ok {
		_, err := ParseTimeOfDay(string(b))
		return err
	}
	*t = read
	return nil
}

// Window is a span of local time that starts on one date. From is between 0 and 1439, and To is between From+1
// and 2880. A To above 1440 is on the next date: "20:00-02:00" is {1200, 1560}. "00:00-24:00" is the whole day.
type Window struct{ From, To TimeOfDay }

// ParseWindow parses a window of the form "HH:MM-HH:MM". An end before the start is on the next day. It rejects an end
// that equals the start, because that could mean an empty window or a whole day. A whole day is written "00:00-24:00".
func ParseWindow(s string) (Window, error) {
	if len(s) != 11 || s[5] != '-' {
		return Window{}, fmt.Errorf("%q is not a window; write HH:MM-HH:MM, such as 09:00-17:00", clip.Text(s))
	}
	from, err := ParseTimeOfDay(s[:5])
	if err != nil {
		return Window{}, err
	}
	to, err := ParseTimeOfDay(s[6:])
	if err != nil {
		return Window{}, err
	}
	switch {
	case from == MinutesPerDay:
		return Window{}, fmt.Errorf("%q starts at 24:00; write 00:00 on the next day", s)
	case from == to:
		return Window{}, fmt.Errorf("%q is empty; end it after it starts, or write 00:00-24:00 for the whole day", s)
	case to < from:
		to += MinutesPerDay
	}
	return Window{From: from, To: to}, nil
}

// String formats `w` as "HH:MM-HH:MM".
func (w Window) String() string { return w.From.String() + "-" + w.To.String() }

// MarshalText formats `w` as [Window.String] does.
func (w Window) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText parses text as [ParseWindow] does.
func (w *Window) UnmarshalText(b []byte) error {
	p, err := ParseWindow(string(b))
	if err != nil {
		return err
	}
	*w = p
	return nil
}

// LocalDateTime is a local date and time without a time zone.
type LocalDateTime struct {
	Date Date
	Time TimeOfDay
}

// ParseLocalDateTime parses a date and time of the form YYYY-MM-DDTHH:MM.
func ParseLocalDateTime(s string) (LocalDateTime, error) {
	if len(s) != 16 || s[10] != 'T' {
		return LocalDateTime{}, fmt.Errorf("%q is not a local date and time; write YYYY-MM-DDTHH:MM, such as "+
			"2027-03-01T09:30", clip.Text(s))
	}
	d, err := ParseDate(s[:10])
	if err != nil {
		return LocalDateTime{}, err
	}
	t, err := ParseTimeOfDay(s[11:])
	if err != nil {
		return LocalDateTime{}, err
	}
	return LocalDateTime{Date: d, Time: t}, nil
}

// Before reports whether `l` is earlier than `o`.
func (l LocalDateTime) Before(o LocalDateTime) bool {
	return int64(l.Date)*MinutesPerDay+int64(l.Time) < int64(o.Date)*MinutesPerDay+int64(o.Time)
}

// String formats `l` as YYYY-MM-DDTHH:MM.
func (l LocalDateTime) String() string { return l.Date.String() + "T" + l.Time.String() }

// MarshalText formats `l` as [LocalDateTime.String] does.
func (l LocalDateTime) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText parses text as [ParseLocalDateTime] does.
func (l *LocalDateTime) UnmarshalText(b []byte) error {
	p, err := ParseLocalDateTime(string(b))
	if err != nil {
		return err
	}
	*l = p
	return nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
