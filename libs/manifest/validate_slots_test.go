package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// crowd is a manifest of so many members who all perform one service around the clock, in steps of so many minutes.
func crowd(members, interval int, name, service string) string {
	var staff, keys strings.Builder
	for i := range members {
		fmt.Fprintf(&staff, "- {key: m%d, name: '%s'}\n", i, name)
		fmt.Fprintf(&keys, "m%d, ", i)
	}
	return strings.Replace(minimal, "staff: [{key: anna, name: Anna}, {key: ben, name: Ben}]\n", "", 1) +
		fmt.Sprintf("hours: {mon: ['00:00-24:00']}\nbookings: {slot_interval_minutes: %d}\nstaff:\n%s", interval, staff.String()) +
		fmt.Sprintf("services: [{key: cut, name: Cut, duration_minutes: 5, staff: [%s]%s}]\n", strings.TrimSuffix(keys.String(), ", "), service)
}

func TestWhatSlotsListOfADateIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		want   string // in the problem; empty: it is valid
	}{
		"300 members every minute":           {crowd(300, 1, "Member", ""), "services[0]: has up to 432300 slots a date (300 members × their longest day / 1 minutes), which /slots would list in 61 MB; at most 16 MB"},
		"the service's own interval":         {crowd(300, 15, "Member", ", slot_interval_minutes: 1"), "services[0]: has up to 432300 slots"},
		"names that grow when escaped":       {crowd(300, 10, strings.Repeat("<", 200), ""), "services[0]: has up to 43500 slots"},
		"300 members every five minutes":     {crowd(300, 5, "Member", ""), ""},
		"500 members every quarter":          {crowd(500, 15, "Member", ""), ""},
		"one service's interval makes it so": {crowd(300, 1, "Member", ", slot_interval_minutes: 15"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := problemsOf(c.source)
			if c.want == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || c.want == "" || !strings.Contains(got[0], c.want) {
				t.Errorf("got %q, want one of %q", got, c.want)
			}
		})
	}
}
