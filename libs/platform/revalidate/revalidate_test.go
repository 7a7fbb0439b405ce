package revalidate

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// note is a version of a text.
type note struct {
	number int64
	text   string
}

func (n *note) Number() int64 { return n.number }
func (n *note) Size() int     { return len(n.text) }

func newCache(ask Ask[*note]) (*Cache[*note], *clock.Manual) {
	now := clock.Fixed(time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC))
	tel := telemetry.Discard()
	return New(ask, Options{MaxSize: 100, Clock: now, Ages: Ages(tel), Stale: tel.Counter("stale", "Old answers.")}),
		now
}

func TestLateAnswerKeepsNewerValue(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]struct {
		note *note
		age  time.Duration
	}{
		"an older version":                 {&note{1, "old"}, 0},
		"the same, known to be so in past": {&note{2, "copy"}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c *Cache[*note]
			first := true
			c, _ = newCache(func(ctx context.Context, _ string, _ *note, mayBeOld bool) (*note, time.Duration, error) {
				if !first {
					return &note{2, "new"}, 0, nil
				}
				first = false
				if !mayBeOld {
					t.Error("a reader without a cached value may get a stale value")
				}
				if _, err := c.Revalidate(ctx, "harbor"); err != nil { // asked later, and answered first
					t.Error(err)
				}
				return late.note, late.age, nil
			})
			for range 2 {
				got, age, err := c.RevalidateOrStale(t.Context(), "harbor")
				if err != nil || got.text != "new" || age != 0 {
					t.Errorf("%q, %v old, %v", got.text, age, err)
				}
			}
			if c.size != len("new") {
				t.Errorf("%d is counted", c.size)
			}
		})
	}
}

func TestGetRetriesStaleAnswerAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	asked := 0
	c, now := newCache(func(_ context.Context, _ string, known *note, mayBeOld bool) (*note, time.Duration, error) {
		asked++
		if mayBeOld != (known == nil) {
			t.Errorf("the cached value is %v, but mayBeOld is %t", known, mayBeOld)
		}
		return &note{int64(asked), "note"}, time.Duration(2-asked) * time.Hour, nil
	})
	for i, want := range []int64{1, 1, 2, 2} {
		if got, err := c.Get(t.Context(), "harbor"); err != nil || got.number != want {
			t.Errorf("read %d: %v, %v; want version %d", i, got, err, want)
		}
		now.Advance(TrustFor / 2)
	}
}

func TestTrustedIsNeverOlderThanTrustFor(t *testing.T) {
	t.Parallel()
	asked, away := 0, false
	c, now := newCache(func(context.Context, string, *note, bool) (*note, time.Duration, error) {
		if asked++; away {
			return nil, 0, errors.New("away")
		}
		return &note{int64(asked), "note"}, 0, nil
	})
	expect := func(name string, want int64) {
		t.Helper()
		if got, err := c.Trusted(t.Context(), "harbor"); err != nil || got.number != want {
			t.Errorf("%s: %v, %v; want version %d", name, got, err, want)
		}
	}
	expect("the first", 1)
	now.Advance(TrustFor - 1)
	expect("while it is trusted", 1)
	now.Advance(1)
	expect("no longer", 2)
	c.Expire("harbor")
	expect("when there is news", 3)
	now.Advance(TrustFor)
	away = true
	// which is given the last good one, and puts the next question off
	if _, err := c.Get(t.Context(), "harbor"); err != nil {
		t.Error(err)
	}
	if got, err := c.Trusted(t.Context(), "harbor"); err == nil {
		t.Errorf("without an answer, Trusted returned %v", got)
	}
}
