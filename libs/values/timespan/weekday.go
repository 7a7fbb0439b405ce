package timespan

import (
	"fmt"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/clip"
)

// Weekday is a day of the week, written mon, tue, wed, thu, fri, sat or sun.
type Weekday time.Weekday

var weekdayNames = [7]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// String returns the day in the form of a manifest.
func (d Weekday) String() string { return weekdayNames[d] }

// MarshalText returns the day in the form of [Weekday.String].
func (d Weekday) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses mon to sun.
func (d *Weekday) UnmarshalText(b []byte) error {
	for i, name := range weekdayNames {
		if name == string(b) {
			*d = Weekday(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not a weekday; write mon, tue, wed, thu, fri, sat or sun", clip.Text(string(b)))
}
