package handler

import (
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
)

func TestFormTokenIsValidFromOneSecondToTwoHours(t *testing.T) {
	t.Parallel()
	const old, current = "an old secret of thirty-two characters", "the new secret of thirty-two characters"
	now := clock.Fixed(time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC))
	oldTokens, rotatedTokens := newFormTokens([]string{old}, time.Second, now),
		newFormTokens([]string{current, old}, time.Second, now)
	token := oldTokens.create("harbor")
	check := func(name string, f formTokens, slug, token string, isValid bool) {
		t.Helper()
		if got := f.readKey(slug, token) != ""; got != isValid {
			t.Errorf("%s: good %v, want %v", name, got, isValid)
		}
	}
	check("at once", oldTokens, "harbor", token, false)
	now.Advance(time.Second)
	check("a second later", oldTokens, "harbor", token, true)
	check("after the secret was replaced", rotatedTokens, "harbor", token, true)
	check("made with a secret that is gone", newFormTokens([]string{current}, 0, now), "harbor", token, false)
	check("of another business", oldTokens, "harbour", token, false)
	for at := range token {
		changed := token[:at] + "." + token[at+1:]
		if changed != token {
			check("changed", oldTokens, "harbor", changed, false)
		}
	}
	for _, malformed := range []string{"", ".", "..", "a.b.c", strings.Repeat(".", 100), token[1:]} {
		check(malformed, oldTokens, "harbor", malformed, false)
	}
	if other := oldTokens.create("harbor"); oldTokens.readKey("harbor", token) == other {
		t.Error("two forms have one key")
	}
	now.Advance(2*time.Hour - time.Second)
	check("two hours later", oldTokens, "harbor", token, true)
	now.Advance(time.Nanosecond)
	check("after two hours", oldTokens, "harbor", token, false)
}
