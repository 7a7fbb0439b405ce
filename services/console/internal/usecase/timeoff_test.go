package usecase

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/document"
)

// Days that are taken off replace what was said of them; working as usual takes away days off alone, not other hours.
func TestDaysOffAreWrittenIntoTheOffer(t *testing.T) {
	t.Parallel()
	day := func(date string, hours ...any) document.Fields {
		return document.Fields{"date": date, "hours": append([]any{}, hours...)}
	}
	first := timespan.NewDate(2027, 3, 2)
	for name, c := range map[string]struct {
		before []any
		off    bool
		want   any
	}{
		"the first":        {nil, true, []any{day("2027-03-02"), day("2027-03-03")}},
		"over other hours": {[]any{day("2027-03-03", "09:00-10:00"), day("2027-03-04")}, true, []any{day("2027-03-04"), day("2027-03-02"), day("2027-03-03")}},
		"work again":       {[]any{day("2027-03-02"), day("2027-03-03", "09:00-10:00")}, false, []any{day("2027-03-03", "09:00-10:00")}},
		"the last":         {[]any{day("2027-03-02")}, false, nil},
	} {
		member := document.Fields{"key": "ana", "name": "Ana"}
		if c.before != nil {
			member["overrides"] = c.before
		}
		fields := document.Fields{"staff": []any{document.Fields{"key": "ben"}, member}}
		if !setDays(fields, "ana", first, first+1, c.off) {
			t.Errorf("%s: no such member", name)
		}
		if diff := cmp.Diff(c.want, member["overrides"]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if setDays(document.Fields{}, "ana", first, first, true) {
		t.Error("nobody takes days off")
	}
}
