package timespan

import (
	"fmt"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/clip"
)

// Weekday is a day of the week. Its text is mon, tue, wed, thu, fri, sat or sun.
type Weekday time.Weekday

var weekdayNames = [7]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// String returns the name of the day as it is written in a manifest.
func (d Weekday) String() string { return weekdayNames[d] }

// MarshalText formats the day as [Weekday.String] does.
func (d Weekday) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses the name of a day, from mon to sun.
func (d *Weekday) UnmarshalText(b []byte) error {
	for i, name := range weekdayNames {
		if name == string(b) {
			*d = Weekday(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not a weekday; write mon, tue, wed, thu, fri, sat or sun", clip.Text(string(b)))
}
