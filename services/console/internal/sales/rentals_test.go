package sales

import (
	"slices"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func TestNewFreeUnitsMarksClosedDays(t *testing.T) {
	t.Parallel()
	monday := timespan.NewDate(2027, 3, 1)
	open := []timespan.Window{{From: 9 * 60, To: 17 * 60}}
	o := &catalog.Snapshot{Timezone: "Europe/Lisbon", Currency: "EUR",
		Overrides: []catalog.DayOverride{{Date: monday + 1}}}
	for day := range o.Hours {
		if day != 0 {
			o.Hours[day] = open
		}
	}
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	days := []timespan.Date{monday, monday + 1, monday + 2, monday + 6}
	for _, c := range []struct {
		outside bool
		want    []bool
	}{{false, []bool{false, true, false, true}}, {true, make([]bool, 4)}} {
		if got := newFreeUnits(o, &catalog.Rental{OutsideHours: c.outside}, days).Closed; !slices.Equal(got, c.want) {
			t.Errorf("outside hours %t: closed are %v, want %v", c.outside, got, c.want)
		}
	}
}
