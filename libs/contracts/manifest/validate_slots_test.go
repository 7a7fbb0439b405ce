package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// newStaff returns a manifest with the given number of members. All members perform one service at any time of Mondays.
// Slots begin every `interval` minutes.
func newStaff(members, interval int, name, service string) string {
	var staff, keys strings.Builder
	for i := range members {
		fmt.Fprintf(&staff, "- {key: m%d, name: '%s'}\n", i, name)
		fmt.Fprintf(&keys, "m%d, ", i)
	}
	return strings.Replace(minimal, "staff: [{key: anna, name: Anna}, {key: ben, name: Ben}]\n", "", 1) +
		fmt.Sprintf("hours: {mon: ['00:00-24:00']}\nbookings: {slot_interval_minutes: %d}\nstaff:\n%s", interval,
			staff.String()) +
		fmt.Sprintf("services: [{key: cut, name: Cut, duration_minutes: 5, staff: [%s]%s}]\n",
			strings.TrimSuffix(keys.String(), ", "), service)
}

// newWindows returns n windows of five minutes, with five minutes between them.
func newWindows(n int) string {
	list := make([]string, n)
	for i := range list {
		from, to := 10*i, 10*i+5
		list[i] = fmt.Sprintf("'%02d:%02d-%02d:%02d'", from/60, from%60, to/60, to%60)
	}
	return strings.Join(list, ", ")
}

// newServices returns [newStaff] with further services and with additional fields of each member.
func newServices(crowd, services, members string) string {
	return strings.ReplaceAll(strings.Replace(crowd, "services: [", "services: ["+services+", ", 1), "'}\n",
		"'"+members+"}\n")
}

func TestSlotsAnswerIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		want   string // text of the problem; empty: the manifest is valid
	}{
		"300 members every minute": {newStaff(300, 1, "Member", ""),
			"services[0]: has up to 432300 slots a date (300 members × their longest day / 1 minutes), which /slots would list in 61 MB; at most 16 MB"},
		"the service's own interval": {newStaff(300, 15, "Member", ", slot_interval_minutes: 1"),
			"services[0]: has up to 432300 slots"},
		"names that grow when escaped": {newStaff(300, 10, strings.Repeat("<", 200), ""),
			"services[0]: has up to 43500 slots"},
		"a service without staff before one of 300 members": {
			newServices(newStaff(300, 60, "Member", ""),
				"{key: wash, name: Wash, duration_minutes: 5, slot_interval_minutes: 1}", ""),
			`services[1]: has up to 432300 slots a date where "wash", which needs no staff, comes before it (300 members × the business's longest day / 1 minutes), ` +
				`which /slots would list in 61 MB; at most 16 MB are listed: write a longer slot_interval_minutes for "wash", fewer staff or shorter names`,
		},
		"the finest of several before it, at the business's interval": {
			newServices(newStaff(300, 1, "Member", ", slot_interval_minutes: 60"),
				"{key: dry, name: Dry, duration_minutes: 5, slot_interval_minutes: 9}, {key: wash, name: Wash, duration_minutes: 5}", ""),
			`services[2]: has up to 432300 slots a date where "wash"`,
		},
		"members of less time than the business": {
			newServices(newStaff(300, 60, "Member", ""),
				"{key: wash, name: Wash, duration_minutes: 5, slot_interval_minutes: 1}",
				", hours: {mon: ['10:00-11:00']}"),
			`services[1]: has up to 432300 slots a date where "wash"`,
		},
		"a class, an inactive service and one of nobody before it": {
			newServices(newStaff(300, 60, "Member", ""),
				"{key: yoga, name: Yoga, duration_minutes: 5, slot_interval_minutes: 1, classes: [{key: m, weekday: mon, time: '10:00', capacity: 9}]}, "+
					"{key: wash, name: Wash, duration_minutes: 5, slot_interval_minutes: 1, active: false}, {key: dry, name: Dry, duration_minutes: 5, slot_interval_minutes: 5}", ""), "",
		},
		"an inactive service of 300 members": {
			newServices(newStaff(300, 60, "Member", ", active: false"),
				"{key: wash, name: Wash, duration_minutes: 5, slot_interval_minutes: 1}", ""), "",
		},
		"hours of members that the business's cut into pieces": {
			strings.Replace(newServices(newStaff(1000, 1440, "Member", ""),
				"{key: wash, name: Wash, duration_minutes: 1}",
				", hours: {mon: ['00:00-24:00']}"),
				"mon: ['00:00-24:00']}\nbookings", "mon: ["+newWindows(100)+"]}\nbookings", 1),
			"services[1]: has up to 202000 slots",
		},
		"300 members every five minutes":     {newStaff(300, 5, "Member", ""), ""},
		"500 members every quarter":          {newStaff(500, 15, "Member", ""), ""},
		"one service's interval makes it so": {newStaff(300, 1, "Member", ", slot_interval_minutes: 15"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := parseProblems(c.source)
			if _, all := Parse([]byte(c.source)); len(all) > 0 && all[0].Code != CodeTooManyStarts {
				t.Errorf("the code of %s is %q", all[0], all[0].Code)
			}
			if c.want == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || c.want == "" || !strings.Contains(got[0], c.want) {
				t.Errorf("got %q, want one of %q", got, c.want)
			}
		})
	}
}
