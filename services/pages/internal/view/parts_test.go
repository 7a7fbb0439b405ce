package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// newPartsPage returns a page in English of a business in Lisbon.
func newPartsPage(t *testing.T) *Page {
	t.Helper()
	all, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	snapshot := &catalog.Snapshot{Timezone: "Europe/Lisbon", Currency: "EUR"}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	return &Page{Words: words.In(all, "en-US"), Business: &usecase.Business{Snapshot: snapshot}}
}

func TestPartsGroupStartsAfterMidnight(t *testing.T) {
	t.Parallel()
	friday := timespan.NewDate(2027, time.March, 5)
	var got []string
	for _, x := range newPartsPage(t).parts(friday, []usecase.Slot{
		{Date: friday, Time: 9 * 60}, {Date: friday, Time: 23 * 60}, {Date: friday + 1}, {Date: friday + 1, Time: 60},
	}) {
		got = append(got, x.title)
		for _, s := range x.slots {
			got = append(got, s.Time.String())
		}
	}
	want := []string{"Morning", "09:00", "Evening", "23:00", "Saturday, March 6, 2027", "00:00", "01:00"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFormatSpanMarksRepeatedHour(t *testing.T) {
	t.Parallel()
	p := newPartsPage(t)
	at := func(hour, minute int) time.Time {
		return time.Date(2027, time.October, 31, hour, minute, 0, 0, time.UTC)
	}
	if got, want := p.formatSpan(at(1, 30), at(1, 30)), "1:30\u202fam (UTC+1) – 1:30\u202fam (UTC)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := p.formatSpan(at(1, 30), at(2, 30)), "1:30\u202fam – 2:30\u202fam"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
