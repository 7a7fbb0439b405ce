package ratelimit_test

import (
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

func TestSecondsRoundUp(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]int{
		0: 0, 1: 1, time.Second - 1: 1, time.Second: 1, time.Second + 1: 2, time.Minute: 60,
	} {
		if got := ratelimit.Seconds(wait); got != want {
			t.Errorf("%s: %d, want %d", wait, got, want)
		}
	}
}
