package timespan

import (
	"fmt"
	"strconv"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/clip"
)

// Date is a calendar date without a zone, in days since 1970-01-01. Integer arithmetic applies: d+1 is the next day.
type Date int32

// NewDate returns the date of year, month and day; values out of range are normalised as by [time.Date].
func NewDate(year int, month time.Month, day int) Date {
	return Date(floorDiv(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix(), secondsPerDay))
}

// ParseDate parses YYYY-MM-DD. It rejects dates that do not exist, such as 2027-02-29
// (semantics.md §1), and the year 0, which the calendar does not have and PostgreSQL rejects.
func ParseDate(s string) (Date, error) {
	if len(s) != len(time.DateOnly) {
		return 0, fmt.Errorf("%q is not a date; write YYYY-MM-DD, such as 2027-03-01", clip.Text(s))
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() == 0 {
		return 0, fmt.Errorf("%q is not a real calendar date; write YYYY-MM-DD, such as 2027-03-01", clip.Text(s))
	}
	return Date(floorDiv(t.Unix(), secondsPerDay)), nil
}

// DateOf returns the date of the instant t in loc.
func DateOf(t time.Time, loc *time.Location) Date {
	y, m, d := t.In(loc).Date()
	return NewDate(y, m, d)
}

// Weekday returns the day of the week of d.
func (d Date) Weekday() time.Weekday {
	return time.Weekday(((int(d)+4)%7 + 7) % 7) // 1970-01-01 was a Thursday
}

// YMD returns the year, month and day of d.
func (d Date) YMD() (int, time.Month, int) {
	return time.Unix(int64(d)*secondsPerDay, 0).UTC().Date()
}

// String returns d as YYYY-MM-DD.
func (d Date) String() string {
	return time.Unix(int64(d)*secondsPerDay, 0).UTC().Format(time.DateOnly)
}

// MarshalText returns d as YYYY-MM-DD.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses text like [ParseDate].
func (d *Date) UnmarshalText(b []byte) error {
	p, err := ParseDate(string(b))
	if err != nil {
		return err
	}
	*d = p
	return nil
}

const (
	secondsPerDay = 86400
	// MinutesPerDay is the wall-clock length of a day.
	MinutesPerDay = 1440
)

// TimeOfDay is a local time in minutes after midnight. A parsed value is 0 to 1440
// (24:00). A larger value is on the next day, such as the end of an overnight [Window].
type TimeOfDay int

// ParseTimeOfDay parses HH:MM from 00:00 to 24:00.
func ParseTimeOfDay(s string) (TimeOfDay, error) {
	bad := fmt.Errorf("%q is not a time of day; write HH:MM in 24 hours, such as 09:30", clip.Text(s))
	if len(s) != 5 || s[2] != ':' {
		return 0, bad
	}
	h, errH := strconv.ParseUint(s[:2], 10, 8)
	m, errM := strconv.ParseUint(s[3:], 10, 8)
	if errH != nil || errM != nil || m > 59 || h > 24 || (h == 24 && m != 0) {
		return 0, bad
	}
	return TimeOfDay(h*60 + m), nil
}

// String returns t as HH:MM on its own day: 1500 is "01:00" and 1440 is "24:00".
func (t TimeOfDay) String() string {
	if t > MinutesPerDay {
		t %= MinutesPerDay
	}
	return fmt.Sprintf("%02d:%02d", int(t)/60, int(t)%60)
}

// MarshalText returns t in the form of [TimeOfDay.String].
func (t TimeOfDay) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText parses text like [ParseTimeOfDay].
func (t *TimeOfDay) UnmarshalText(b []byte) error {
	p, err := ParseTimeOfDay(string(b))
	if err != nil {
		return err
	}
	*t = p
	return nil
}

// Window is a local time span that starts on one date: From is in 0..1439, To in From+1..2880. To
// beyond 1440 is on the next date: "20:00-02:00" is {1200, 1560}. "00:00-24:00" is the whole day.
type Window struct{ From, To TimeOfDay }

// ParseWindow parses "HH:MM-HH:MM". An end before the start is on the next day. It rejects an end that
// equals the start, because that could mean an empty window or a whole day; a whole day is "00:00-24:00".
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

// String returns w as "HH:MM-HH:MM".
func (w Window) String() string { return w.From.String() + "-" + w.To.String() }

// MarshalText returns w in the form of [Window.String].
func (w Window) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText parses text like [ParseWindow].
func (w *Window) UnmarshalText(b []byte) error {
	p, err := ParseWindow(string(b))
	if err != nil {
		return err
	}
	*w = p
	return nil
}

// LocalDateTime is a local date and time without a zone.
type LocalDateTime struct {
	Date Date
	Time TimeOfDay
}

// ParseLocalDateTime parses YYYY-MM-DDTHH:MM.
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

// Before reports whether l is before o in local time.
func (l LocalDateTime) Before(o LocalDateTime) bool {
	return int64(l.Date)*MinutesPerDay+int64(l.Time) < int64(o.Date)*MinutesPerDay+int64(o.Time)
}

// String returns l as YYYY-MM-DDTHH:MM.
func (l LocalDateTime) String() string { return l.Date.String() + "T" + l.Time.String() }

// MarshalText returns l in the form of [LocalDateTime.String].
func (l LocalDateTime) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText parses text like [ParseLocalDateTime].
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
