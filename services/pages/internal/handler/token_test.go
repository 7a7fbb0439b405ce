package handler

import (
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
)

func TestATokenIsGoodForItsBusinessFromASecondToTwoHours(t *testing.T) {
	t.Parallel()
	const old, current = "an old secret of thirty-two characters", "the new secret of thirty-two characters"
	now := clock.Fixed(time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC))
	before, after := newForms([]string{old}, time.Second, now), newForms([]string{current, old}, time.Second, now)
	token := before.token("harbor")
	check := func(name string, f forms, slug, token string, good bool) {
		t.Helper()
		if got := f.read(slug, token) != ""; got != good {
			t.Errorf("%s: good %v, want %v", name, got, good)
		}
	}
	check("at once", before, "harbor", token, false)
	now.Advance(time.Second)
	check("a second later", before, "harbor", token, true)
	check("after the secret was replaced", after, "harbor", token, true)
	check("made with a secret that is gone", newForms([]string{current}, 0, now), "harbor", token, false)
	check("of another business", before, "harbour", token, false)
	for at := range token {
		changed := token[:at] + "." + token[at+1:]
		if changed != token {
			check("changed", before, "harbor", changed, false)
		}
	}
	for _, made := range []string{"", ".", "..", "a.b.c", strings.Repeat(".", 100), token[1:]} {
		check(made, before, "harbor", made, false)
	}
	if other := before.token("harbor"); before.read("harbor", token) == other {
		t.Error("two forms have one key")
	}
	now.Advance(2*time.Hour - time.Second)
	check("two hours later", before, "harbor", token, true)
	now.Advance(time.Nanosecond)
	check("after two hours", before, "harbor", token, false)
}
