package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// warnedAt is an instant on 31 December 2026 in Lisbon and on 1 January 2027 in Auckland.
var warnedAt = time.Date(2026, time.December, 31, 12, 0, 0, 0, time.UTC)

func warningsOf(t rapid.TB, add string) []string {
	t.Helper()
	if problems := parseProblems(minimal + add); len(problems) > 0 {
		t.Fatalf("%s is refused: %v", add, problems)
	}
	var lines []string
	for _, p := range Warnings([]byte(minimal+add), warnedAt) {
		lines = append(lines, p.String())
	}
	return lines
}

// TestWarningsNameOverlappingSpans parses valid manifests and expects all warnings of each.
func TestWarningsNameOverlappingSpans(t *testing.T) {
	t.Parallel()
	const sale = "pricing_rules:\n- {key: a, kind: seasonal, from: 06-01, to: 08-31, percent: 20, applies_to: {services: [cut]}}\n"
	const offer = "services: [{key: cut, name: Cut, duration_minutes: 30, price: 10}, {key: dry, name: Dry, duration_minutes: 30, price: 5}]\n" + sale
	for name, c := range map[string]struct {
		add  string
		want []string
	}{
		"windows that touch": {"hours: {mon: ['09:00-13:00', '13:00-18:00']}\n", nil},
		"windows": {"hours:\n  mon: ['12:00-15:00', '09:00-13:00', '10:00-11:00']\n  tue: ['20:00-02:00', '23:00-01:00']\n", []string{
			"line 10: hours.mon[2]: is 10:00-11:00, which lies within 09:00-13:00 of the same day; remove it",
			"line 10: hours.mon[0]: is 12:00-15:00, which overlaps 09:00-13:00 of the same day: the two count as one; write them as one, or begin where the other ends",
			"line 11: hours.tue[1]: is 23:00-01:00, which lies within 20:00-02:00 of the same day; remove it",
		}},
		"long windows": {"hours:\n  mon: ['08:00-22:00', '00:00-24:00']\n  tue: ['08:00-22:01']\n  wed: ['22:00-20:00']\n", []string{
			"line 10: hours.mon[0]: is 08:00-22:00, which lies within 00:00-24:00 of the same day; remove it",
			"line 11: hours.tue[0]: is 08:00-22:01, which is 14:01 hours long; check that its times are meant",
			"line 12: hours.wed[0]: is 22:00-20:00, which is 22:00 hours long; check that its times are meant",
		}},
		"dates that are over": {"overrides: [{date: 2026-12-30, hours: []}, {date: 2026-12-31, hours: []}]\n", []string{
			"line 9: overrides[0].date: is 2026-12-30, which is over; remove it, or write the date that is meant",
		}},
		"hours of members and dates": {"overrides: [{date: 2027-01-01, hours: ['09:00-10:00', '09:00-10:00']}]\n",
			[]string{
				"line 9: overrides[0].hours[1]: is 09:00-10:00, which lies within 09:00-10:00 of the same day; remove it",
			}},
		"blocks": {
			"blocks:\n- {from: 2027-01-01T10:00, to: 2027-01-01T12:00, staff: [anna]}\n- {from: 2027-01-01T09:00, to: 2027-01-01T12:00, staff: [anna, ben]}\n" +
				"- {from: 2027-01-01T11:00, to: 2027-01-01T13:00, staff: [ben]}\n- {from: 2027-01-02T09:00, to: 2027-01-03T09:00}\n- {from: 2027-01-02T10:00, to: 2027-01-02T11:00, staff: [ben]}\n" +
				"- {from: 2027-01-01T10:00, to: 2027-01-01T11:00}\n",
			[]string{
				"line 10: blocks[0]: lies within blocks[1], from 2027-01-01T09:00 to 2027-01-01T12:00, which blocks the same; remove it",
				"line 14: blocks[4]: lies within blocks[3], from 2027-01-02T09:00 to 2027-01-03T09:00, which blocks the same; remove it",
			},
		},
		"packages": {
			"services: [{key: cut, name: Cut, duration_minutes: 30, price: 10}, {key: dry, name: Dry, duration_minutes: 30, price: 5.5}, {key: old, name: Old, duration_minutes: 5, active: false}]\n" +
				"packages:\n- {key: a, name: A, services: [cut, dry], price: 15.49}\n- {key: b, name: B, services: [cut, old], price: 10}\n- {key: c, name: C, services: [cut, dry, old], percent: 100}\n",
			[]string{
				`line 12: packages[1].services[1]: names "old", which is not active, so that the package is not offered`,
				"line 12: packages[1].price: is 10, and the services cost 10 one by one: customers never pay more than that, so that the package saves nothing; write less",
				`line 13: packages[2].services[2]: names "old", which is not active, so that the package is not offered`,
			},
		},
		"packages that save nothing, or go past a rule": {
			"services: [{key: cut, name: Cut, duration_minutes: 30, price: 10}, {key: dry, name: Dry, duration_minutes: 30, price: 5}, {key: tea, name: Tea, duration_minutes: 5}, {key: talk, name: Talk, duration_minutes: 5}]\n" +
				"packages:\n- {key: a, name: A, services: [cut, dry], percent: 5}\n- {key: b, name: B, services: [tea, talk], percent: 10}\n- {key: c, name: C, services: [cut, tea], price: 8}\n" +
				"- {key: d, name: D, services: [dry, tea], price: 4}\n- {key: e, name: E, services: [cut, talk], percent: 10}\n" +
				"pricing_rules:\n- {key: tue, kind: day_of_week, days: [tue], percent: -10}\n- {key: four, kind: party_size, min: 4, percent: -10, applies_to: {services: [cut]}}\n" +
				"- {key: boats, kind: party_size, min: 2, percent: -10, applies_to: {rentals: all}}\n- {key: any, kind: party_size, min: 9, percent: -5}\n",
			[]string{
				"line 12: packages[1].percent: is taken off services that cost nothing, so that the package saves nothing; give a service a price, or leave the package out",
				"line 13: packages[2].price: is the same for any number of people, though pricing_rules[1] (four) changes what a service of it costs by that: the rule has no effect on the package, " +
					"unless the services are less than its price; write percent instead of price, which is taken off after the rules",
			},
		},
		"classes": {
			"services:\n- {key: yoga, name: Yoga, duration_minutes: 60, classes: [{key: a, weekday: mon, time: '18:30', capacity: 5, staff: ben, to: 2027-03-01}]}\n" +
				"- key: run\n  name: Run\n  duration_minutes: 60\n  classes:\n" +
				"  - {key: b, weekday: mon, time: '19:00', capacity: 5, staff: ben}\n  - {key: c, weekday: mon, time: '19:00', capacity: 5, staff: anna}\n" +
				"  - {key: d, weekday: mon, time: '17:30', capacity: 5, staff: ben}\n  - {key: e, date: 2027-03-08, time: '18:30', capacity: 5, staff: anna}\n" +
				"  - {key: f, weekday: sun, time: '23:30', capacity: 5, staff: ben}\n  - {key: g, weekday: mon, time: '00:00', capacity: 5, staff: ben}\n",
			[]string{
				"line 15: services[1].classes[0]: is given by ben, who gives services[0].classes[0] at that time; name somebody else, or move one of them",
				"line 16: services[1].classes[1]: is given by anna, who gives services[1].classes[3] at that time; name somebody else, or move one of them",
				"line 20: services[1].classes[5]: is given by ben, who gives services[1].classes[4] at that time; name somebody else, or move one of them",
			},
		},
		"seasons": {offer +
			"- {key: b, kind: seasonal, from: 2027-08-31, to: 2027-09-30, percent: 5}\n- {key: c, kind: seasonal, from: 07-01, to: 07-02, amount: 1, applies_to: {services: [dry]}}\n", []string{
			"line 12: pricing_rules[1]: is from 2027-08-31 to 2027-09-30, which overlaps pricing_rules[0] (a), from 06-01 to 08-31: where both hold, both change the price, one after the other; " +
				"end one where the other begins, or give the one that is to go first a lower priority",
		}},
		"seasons in an order": {offer +
			"- {key: b, kind: seasonal, from: 07-01, to: 07-31, percent: 5, priority: 1}\n- {key: c, kind: seasonal, from: 07-01, to: 07-31, percent: 5, stop: true}\n", nil},
		"refused": {"hours: {mon: ['09:00-13:00']}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, warningsOf(t, c.add)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := Warnings(readExample(t), warnedAt.AddDate(0, -1, 0)); got != nil {
		t.Errorf("the example is warned of: %v", got)
	}
	if got := Warnings([]byte(minimal+"hours: {mon: ['09:00-13:00', '09:00-13:00', 'x']}\n"), warnedAt); got != nil {
		t.Errorf("an invalid manifest also gives warnings: %v", got)
	}
}

// TestWarningsFindOverlappingWindows shows that each window of a day gets a warning if it shares a minute with an
// earlier window. Of two windows that begin at the same time, the longer one counts as the earlier one. Of two equal
// windows, the one listed first does.
func TestWarningsFindOverlappingWindows(t *testing.T) {
	t.Parallel()
	window := rapid.Custom(func(t *rapid.T) timespan.Window {
		from := rapid.IntRange(0, 23).Draw(t, "from")
		return timespan.Window{From: timespan.TimeOfDay(from * 60),
			To: timespan.TimeOfDay((from + rapid.IntRange(1, 8).Draw(t, "hours")) * 60)}
	})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(window, 0, 5).Draw(t, "windows")
		first := func(a, b int) bool {
			x, y := list[a], list[b]
			return x.From < y.From || x.From == y.From && (x.To > y.To || x.To == y.To && a < b)
		}
		var written []string
		want := 0
		for i, w := range list {
			written = append(written, fmt.Sprintf("'%s'", w))
			want += map[bool]int{true: 1}[slices.ContainsFunc(listPlaces(list), func(j int) bool {
				return j != i && first(j, i) && w.From < list[j].To
			})]
		}
		if got := warningsOf(t, "hours: {mon: ["+strings.Join(written, ", ")+"]}\n"); len(got) != want {
			t.Fatalf("%v: %d warnings, want %d: %v", written, len(got), want, got)
		}
	})
}

func listPlaces[T any](list []T) []int {
	all := make([]int, len(list))
	for i := range all {
		all[i] = i
	}
	return all
}

// TestWarningsFindOverlappingSeasons shows that two seasons get a warning if they have a date in common. Seasons that
// recur each year are compared for any year.
func TestWarningsFindOverlappingSeasons(t *testing.T) {
	t.Parallel()
	bound := rapid.Custom(func(t *rapid.T) [3]int {
		return [3]int{rapid.IntRange(2026, 2028).Draw(t, "year"), rapid.IntRange(1, 12).Draw(t, "month"),
			rapid.IntRange(1, 28).Draw(t, "day")}
	})
	type season struct {
		from, to string
		holds    func(day string) bool // YYYY-MM-DD
	}
	drawn := rapid.Custom(func(t *rapid.T) season {
		a, b := bound.Draw(t, "from"), bound.Draw(t, "to")
		whole := func(x [3]int) string { return fmt.Sprintf("%d-%02d-%02d", x[0], x[1], x[2]) }
		if rapid.Bool().Draw(t, "every year") {
			from, to := whole(a)[5:], whole(b)[5:]
			return season{from, to, func(day string) bool {
				if from > to {
					return day[5:] >= from || day[5:] <= to
				}
				return from <= day[5:] && day[5:] <= to
			}}
		}
		from, to := min(whole(a), whole(b)), max(whole(a), whole(b))
		return season{from, to, func(day string) bool { return from <= day && day <= to }}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn.Draw(t, "a"), drawn.Draw(t, "b")
		both := false
		for day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2029; day = day.AddDate(0, 0, 1) {
			date := day.Format(time.DateOnly)
			both = both || a.holds(date) && b.holds(date)
		}
		got := warningsOf(t,
			fmt.Sprintf("pricing_rules: [{key: a, kind: seasonal, from: '%s', to: '%s', percent: 1}, {key: b, kind: seasonal, from: '%s', to: '%s', percent: 1}]\n", a.from, a.to, b.from, b.to))
		if both != (len(got) == 1) {
			t.Fatalf("%s to %s and %s to %s: %v", a.from, a.to, b.from, b.to, got)
		}
	})
}
