package rule

import (
	"encoding"
	"fmt"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/clip"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Form is the notation of a [Bound] in a manifest.
type Form int

// These constants are the possible forms of a [Bound].
const (
	MonthDayForm Form = iota + 1 // MM-DD
	DateForm                     // YYYY-MM-DD
	TimeForm                     // HH:MM
	DateTimeForm                 // YYYY-MM-DDTHH:MM
)

// Example returns an example text in this form, for error sentences.
func (f Form) Example() string {
	switch f {
	case MonthDayForm:
		return "12-24"
	case DateForm:
		return "2026-12-24"
	case TimeForm:
		return "18:30"
	case DateTimeForm:
		return "2026-12-24T18:30"
	}
	return ""
}

var (
	_ encoding.TextMarshaler   = Bound{}
	_ encoding.TextUnmarshaler = (*Bound)(nil)
)

// Bound is one end of the span in which a pricing rule applies: the value of
// the field From or To of [When]. Form determines which other fields are set.
type Bound struct {
	Form Form
	Date timespan.Date      // set for DateForm and DateTimeForm; for MonthDayForm, the day in the leap year 2000
	Time timespan.TimeOfDay // set for TimeForm and DateTimeForm
}

const monthDayYear = "2000-"

// String formats the bound in the notation of a manifest.
func (b Bound) String() string {
	switch b.Form {
	case MonthDayForm:
		return strings.TrimPrefix(b.Date.String(), monthDayYear)
	case DateForm:
		return b.Date.String()
	case TimeForm:
		return b.Time.String()
	default:
		return b.DateTime().String()
	}
}

// DateTime returns the date and time of a bound in DateTimeForm.
func (b Bound) DateTime() timespan.LocalDateTime {
	return timespan.LocalDateTime{Date: b.Date, Time: b.Time}
}

// Until returns the daily window that begins at `b` and ends at the bound `to`. Both bounds must be in TimeForm. An end
// before the start is on the next day.
func (b Bound) Until(to Bound) timespan.Window {
	w := timespan.Window{From: b.Time, To: to.Time}
	if w.To < w.From {
		w.To += timespan.MinutesPerDay
	}
	return w
}

// MarshalText returns the text of [Bound.String].
func (b Bound) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText parses a bound. The length of the text determines its form.
func (b *Bound) UnmarshalText(text []byte) error {
	var err error
	s, read := string(text), Bound{}
	switch {
	case len(s) == len("06-01") && s[2] == '-':
		read.Form = MonthDayForm
		if read.Date, err = timespan.ParseDate(monthDayYear + s); err != nil {
			err = fmt.Errorf("%q is not a day of the year; write MM-DD, such as 06-01", s)
		}
	case len(s) == len("18:00"):
		read.Form = TimeForm
		read.Time, err = timespan.ParseTimeOfDay(s)
	case len(s) == len("2027-03-01"):
		read.Form = DateForm
		read.Date, err = timespan.ParseDate(s)
	case len(s) == len("2027-03-01T09:30"):
		var l timespan.LocalDateTime
		l, err = timespan.ParseLocalDateTime(s)
		read = Bound{Form: DateTimeForm, Date: l.Date, Time: l.Time}
	default:
		err = fmt.Errorf("%q is no date or time; write MM-DD, YYYY-MM-DD, HH:MM or YYYY-MM-DDTHH:MM, as the rule's "+
			"kind needs it", clip.Text(s))
	}
	if err != nil {
		return err
	}
	*b = read
	return nil
}
