package current_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/catalog/internal/current"
	"github.com/slotmesh/slotmesh/services/catalog/internal/lastknown"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var errAway = errors.New("the database is away")

// source is a fake store. The text of version 3 of "harbor" is "harbor 3", padded to `size` bytes.
type source struct {
	mu     sync.Mutex
	heads  map[string]int64
	away   bool
	size   int
	asked  int
	loaded []string
	hold   chan struct{} // if not nil, Text waits until it is closed
}

func (s *source) Head(_ context.Context, slug string) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.away {
		return 0, errAway
	}
	if head, ok := s.heads[slug]; ok {
		return head, nil
	}
	return 0, store.ErrNotFound
}

func (s *source) Text(ctx context.Context, slug string, version int64) (store.Text, error) {
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return store.Text{}, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf("%s %d", slug, version)
	s.loaded = append(s.loaded, text)
	return store.Text{JSON: []byte(text + strings.Repeat(" ", max(0, s.size-len(text))))}, nil
}

func (s *source) set(slug string, head int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads[slug] = head
}

type bench struct {
	*current.Cache[string]
	source *source
	clock  *clock.Manual
}

// noCopies returns copies of offers in a Redis that cannot be reached.
func noCopies(tb testing.TB) *lastknown.Copies {
	away := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	copies := lastknown.New(away, "", telemetry.Discard())
	tb.Cleanup(func() { _, _ = copies.Close(), away.Close() })
	return copies
}

func newBench(t *testing.T, maxBytes int) bench {
	src := &source{heads: map[string]int64{"harbor": 1}}
	clk := clock.Fixed(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	build := func(content store.Text, version int64) (string, error) {
		if text := strings.TrimSpace(string(content.JSON)); strings.HasSuffix(text, fmt.Sprint(" ", version)) {
			return text, nil
		}
		return "", errors.New("the content is another version's")
	}
	return bench{current.New(src, build, noCopies(t), maxBytes, 0, clk, telemetry.Discard()), src, clk}
}

func (b bench) fresh(t *testing.T, slug, want string) {
	t.Helper()
	got, version, err := b.Fresh(t.Context(), slug)
	if err != nil || got != want || !strings.HasSuffix(want, fmt.Sprint(" ", version)) {
		t.Errorf("fresh %s is %q (version %d, %v), want %q", slug, got, version, err, want)
	}
}

func TestAVersionIsBuiltOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1000)
	for range 5 {
		b.fresh(t, "harbor", "harbor 1")
		if _, _, err := b.Verified(t.Context(), "harbor"); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(3 * time.Second)
	}
	if len(b.source.loaded) != 1 {
		t.Errorf("loaded %q", b.source.loaded)
	}
}

func TestFreshAsksAgainAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1000)
	b.fresh(t, "harbor", "harbor 1")
	b.source.set("harbor", 2)
	b.clock.Advance(2*time.Second - 1)
	b.fresh(t, "harbor", "harbor 1")
	if b.source.asked != 1 {
		t.Errorf("asked %d times within the two seconds", b.source.asked)
	}
	b.clock.Advance(1)
	b.fresh(t, "harbor", "harbor 2")
}

func TestExpiredIsAskedForAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1000)
	b.fresh(t, "harbor", "harbor 1")
	b.source.set("harbor", 2)
	b.Expire("harbor")
	b.fresh(t, "harbor", "harbor 2")
	b.Expire("a slug that was never read")
}

func TestVerifiedIsNeverBehind(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1000)
	for v := range int64(5) {
		b.source.set("harbor", v+1)
		if got, version, err := b.Verified(t.Context(), "harbor"); err != nil || version != v+1 ||
			got != fmt.Sprint("harbor ", v+1) {
			t.Errorf("got %q, %d, %v", got, version, err)
		}
	}
}

func TestLastGoodVersionIsServedWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1000)
	b.fresh(t, "harbor", "harbor 1")
	b.source.away = true
	b.clock.Advance(time.Hour)
	b.fresh(t, "harbor", "harbor 1")
	asked := b.source.asked
	b.fresh(t, "harbor", "harbor 1")
	if b.source.asked != asked {
		t.Error("a database that is away is asked on every request")
	}
	if _, _, err := b.Verified(t.Context(), "harbor"); !errors.Is(err, errAway) {
		t.Errorf("verified: %v", err)
	}
	if _, _, err := b.Fresh(t.Context(), "never read"); !errors.Is(err, errAway) {
		t.Errorf("what was never read: %v", err)
	}
	b.source.away = false
	b.source.set("harbor", 2)
	b.clock.Advance(2 * time.Second)
	b.fresh(t, "harbor", "harbor 2")
}

func TestARemovedBusinessIsGoneAlsoWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1000)
	b.fresh(t, "harbor", "harbor 1")
	delete(b.source.heads, "harbor")
	b.Expire("harbor")
	if _, _, err := b.Fresh(t.Context(), "harbor"); !fault.Is(err, fault.BusinessNotFound) {
		t.Errorf("got %v", err)
	}
	b.source.away = true
	if _, _, err := b.Fresh(t.Context(), "harbor"); !errors.Is(err, errAway) {
		t.Errorf("got %v", err)
	}
}

func TestMemoryIsBoundedAndTheOldestUseGoesFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, 250)
	b.source.size = 100
	b.source.heads = map[string]int64{"a": 1, "b": 1, "c": 1}
	for _, slug := range []string{"a", "b", "a", "c", "a", "b"} {
		b.fresh(t, slug, slug+" 1")
	}
	want := []string{"a 1", "b 1", "c 1", "b 1"}
	if fmt.Sprint(b.source.loaded) != fmt.Sprint(want) {
		t.Errorf("loaded %q, want %q", b.source.loaded, want)
	}
}

func TestABusinessLargerThanTheBoundIsKeptAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, 50)
	b.source.size = 100
	b.fresh(t, "harbor", "harbor 1")
	b.fresh(t, "harbor", "harbor 1")
	if len(b.source.loaded) != 1 {
		t.Errorf("loaded %q", b.source.loaded)
	}
}

func TestWaitingCallersShareOneLoadAndOneThatGivesUpSpoilsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1000)
	b.source.hold = make(chan struct{})
	gone, giveUp := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		wg.Go(func() {
			ctx := t.Context()
			if i == 0 {
				ctx = gone
			}
			_, _, errs[i] = b.Fresh(ctx, "harbor")
		})
	}
	giveUp()
	close(b.source.hold)
	wg.Wait()
	if err := errors.Join(errs[1:]...); err != nil {
		t.Error(err)
	}
	if len(b.source.loaded) != 1 {
		t.Errorf("loaded %q", b.source.loaded)
	}
}
