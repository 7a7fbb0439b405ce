package view

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

func TestTaglineIsFirstLineOfAbout(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 60)
	for html, want := range map[string]struct {
		line    string
		isWhole bool
	}{
		"":                            {"", true},
		"<p>By the harbour.</p>":      {"By the harbour.", true},
		"<p>One.</p><p>Two.</p>":      {"One.", false},
		"<p>" + long + "</p>":         {strings.TrimSpace(long[:maxTagline-5]) + "…", false},
		"<p>Cut &amp; <b>dry</b></p>": {"Cut & dry", true},
	} {
		line, isWhole := tagline(html)
		if len(html) < 200 && line != want.line || isWhole != want.isWhole || len([]rune(line)) > maxTagline+1 {
			t.Errorf("%.30s: %q, %v", html, line, isWhole)
		}
	}
}

func TestSplitStartsShowsHalfHoursFirst(t *testing.T) {
	t.Parallel()
	grid := func(step, n int) []usecase.Slot {
		var slots []usecase.Slot
		for i := range n {
			slots = append(slots, usecase.Slot{Time: timespan.TimeOfDay(9*60 + i*step)})
		}
		return slots
	}
	for name, c := range map[string]struct {
		slots       []usecase.Slot
		first, rest int
	}{
		"a fine grid":   {grid(15, 12), 6, 6},
		"few starts":    {grid(15, 6), 6, 0},
		"whole hours":   {grid(60, 8), 8, 0},
		"no half hours": {grid(30, 8)[:0], 0, 0},
	} {
		if first, rest := splitStarts(c.slots); len(first) != c.first || len(rest) != c.rest {
			t.Errorf("%s: %d and %d, want %d and %d", name, len(first), len(rest), c.first, c.rest)
		}
	}
}

// TestBookButtonStatesDutyToPayInEU shows that the button has the words that the law of the European Union requires if
// the booking costs something.
func TestBookButtonStatesDutyToPayInEU(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, total string
		isRequest   bool
		want        string
	}{
		{"Europe/Berlin", "40.00", false, "Book with obligation to pay"},
		{"Europe/Berlin", "40.00", true, "Book with obligation to pay"},
		{"Europe/Berlin", "0.00", false, "Book"},
		{"Europe/Zurich", "40.00", false, "Book"},
		{"America/New_York", "40.00", true, "Request booking"},
	} {
		p := newPage(t, &catalog.Snapshot{})
		p.Business.Snapshot.Timezone = c.zone
		got := p.bookText(&usecase.Price{Total: json.Number(c.total)}, c.isRequest)
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestOpeningTextNamesDayOnlyWhenNeeded(t *testing.T) {
	t.Parallel()
	p := newPage(t, &catalog.Snapshot{})
	at := func(days, hour int) time.Time {
		return time.Date(2026, time.December, 1+days, hour, 0, 0, 0, time.UTC)
	}
	for want, o := range map[string]*usecase.Opening{
		"Open until 19:00":                 {Until: at(0, 19)},
		"Open until 02:00":                 {Until: at(1, 2)},
		"Closed · Opens 14:00":             {Next: at(0, 14)},
		"Closed · Opens Wed 09:00":         {Next: at(1, 9)},
		"Closed · Opens Thu 10 Dec, 09:00": {Next: at(9, 9)},
	} {
		if got := p.openingText(o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
