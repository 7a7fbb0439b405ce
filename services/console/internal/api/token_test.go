package api

import (
	"crypto/rand"
	"testing"
)

func TestAdminTokenRotationAcceptsBothTokens(t *testing.T) {
	t.Parallel()
	old, next := rand.Text(), rand.Text()
	tokens := NewToken(old + "," + next)
	for value, want := range map[string]bool{
		old: true, next: true, "": false, old[1:]: false, next + ",": false, old + "," + next: false,
	} {
		if tokens.matches(value) != want {
			t.Errorf("%q of %q and %q: %t", value, old, next, !want)
		}
	}
}
