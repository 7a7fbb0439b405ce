package tools

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// The answer of a date is put together by hand; it must be what the standard library makes of it.
func TestTheSlotsOfADateAreWrittenAsTheirSchemaSays(t *testing.T) {
	t.Parallel()
	odd := rapid.StringOf(rapid.SampledFrom([]rune("aZ09 <>&\"\\\n\x00\u007fé長🙂\u2028")))
	maybe := func(t *rapid.T, label string) *string {
		return rapid.Ptr(odd, true).Draw(t, label)
	}
	rapid.Check(t, func(t *rapid.T) {
		all := make([]slot, rapid.IntRange(0, 5).Draw(t, "slots"))
		for i := range all {
			all[i] = slot{
				Date: odd.Draw(t, "date"), Time: odd.Draw(t, "time"), EndTime: odd.Draw(t, "end"), StaffID: maybe(t, "id"),
				StaffName: maybe(t, "name"), RemainingCapacity: rapid.Ptr(rapid.Int(), true).Draw(t, "left"), ClassScheduleID: maybe(t, "session"),
			}
		}
		p := pageOf(all, 0, 0)
		c := calendar{
			Timezone: odd.Draw(t, "zone"), Computed: rapid.Bool().Draw(t, "computed"), Slots: p.items, Days: []day{},
			Total: rapid.Int().Draw(t, "total"), NextOffset: rapid.Ptr(rapid.Int(), true).Draw(t, "next"),
		}
		want, err := json.Marshal(c)
		if got := c.withSlots(p.json); err != nil || string(got) != string(want) {
			t.Fatalf("%v\ngot  %s\nwant %s", err, got, want)
		}
	})
}
