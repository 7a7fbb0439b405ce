package clip_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/values/clip"
)

func TestTextCutsBetweenCharacters(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 39)
	for s, want := range map[string]string{"": "", long + "b": long + "b", long + "bc": long + "b…",
		long + "é": long + "…", strings.Repeat("\x80", 41): "…"} {
		if got := clip.Text(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
