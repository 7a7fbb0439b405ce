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
	"github.com/slotmesh/slotmesh/services/catalog/internal/fallback"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var errDown = errors.New("the database is away")

// fakeSource is a fake store. The text of version 3 of "harbor" is "harbor 3", padded to `size` bytes.
type fakeSource struct {
	mu        sync.Mutex
	heads     map[string]int64
	isDown    bool
	size      int
	headCalls int
	textCalls []string
	block     chan struct{} // if not nil, Text waits until it is closed
}

func (s *fakeSource) ReadHead(_ context.Context, slug string) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.headCalls++
	if s.isDown {
		return 0, errDown
	}
	if head, ok := s.heads[slug]; ok {
		return head, nil
	}
	return 0, store.ErrNotFound
}

func (s *fakeSource) Text(ctx context.Context, slug string, version int64) (store.Text, error) {
	if s.block != nil {
		select {
		case <-s.block:
		case <-ctx.Done():
			return store.Text{}, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf("%s %d", slug, version)
	s.textCalls = append(s.textCalls, text)
	return store.Text{JSON: []byte(text + strings.Repeat(" ", max(0, s.size-len(text))))}, nil
}

func (s *fakeSource) set(slug string, head int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads[slug] = head
}

type fixture struct {
	*current.Cache[string]
	source *fakeSource
	clock  *clock.Manual
}

// noCopies returns copies of snapshots in a Redis that cannot be reached.
func noCopies(tb testing.TB) *fallback.Copies {
	away := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	copies := fallback.New(away, "", telemetry.Discard())
	tb.Cleanup(func() { _, _ = copies.Close(), away.Close() })
	return copies
}

func newFixture(t *testing.T, maxBytes int) fixture {
	src := &fakeSource{heads: map[string]int64{"harbor": 1}}
	clk := clock.Fixed(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	build := func(content store.Text, version int64) (string, error) {
		if text := strings.TrimSpace(string(content.JSON)); strings.HasSuffix(text, fmt.Sprint(" ", version)) {
			return text, nil
		}
		return "", errors.New("the content is another version's")
	}
	return fixture{current.New(src, build, noCopies(t), maxBytes, 0, clk, telemetry.Discard()), src, clk}
}

func (b fixture) wantGet(t *testing.T, slug, want string) {
	t.Helper()
	got, version, err := b.Get(t.Context(), slug)
	if err != nil || got != want || !strings.HasSuffix(want, fmt.Sprint(" ", version)) {
		t.Errorf("fresh %s is %q (version %d, %v), want %q", slug, got, version, err, want)
	}
}

func TestVersionIsBuiltOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 1000)
	for range 5 {
		b.wantGet(t, "harbor", "harbor 1")
		if _, _, err := b.Revalidate(t.Context(), "harbor"); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(3 * time.Second)
	}
	if len(b.source.textCalls) != 1 {
		t.Errorf("loaded %q", b.source.textCalls)
	}
}

func TestGetRevalidatesAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 1000)
	b.wantGet(t, "harbor", "harbor 1")
	b.source.set("harbor", 2)
	b.clock.Advance(2*time.Second - 1)
	b.wantGet(t, "harbor", "harbor 1")
	if b.source.headCalls != 1 {
		t.Errorf("the database got %d requests within two seconds, want 1", b.source.headCalls)
	}
	b.clock.Advance(1)
	b.wantGet(t, "harbor", "harbor 2")
}

func TestExpireForcesRevalidation(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 1000)
	b.wantGet(t, "harbor", "harbor 1")
	b.source.set("harbor", 2)
	b.Expire("harbor")
	b.wantGet(t, "harbor", "harbor 2")
	b.Expire("a slug that was never read")
}

func TestRevalidateReturnsNewestVersion(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 1000)
	for v := range int64(5) {
		b.source.set("harbor", v+1)
		if got, version, err := b.Revalidate(t.Context(), "harbor"); err != nil || version != v+1 ||
			got != fmt.Sprint("harbor ", v+1) {
			t.Errorf("got %q, %d, %v", got, version, err)
		}
	}
}

func TestGetReturnsStaleVersionIfDatabaseIsDown(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 1000)
	b.wantGet(t, "harbor", "harbor 1")
	b.source.isDown = true
	b.clock.Advance(time.Hour)
	b.wantGet(t, "harbor", "harbor 1")
	asked := b.source.headCalls
	b.wantGet(t, "harbor", "harbor 1")
	if b.source.headCalls != asked {
		t.Error("an unavailable database is queried by every request")
	}
	if _, _, err := b.Revalidate(t.Context(), "harbor"); !errors.Is(err, errDown) {
		t.Errorf("verified: %v", err)
	}
	if _, _, err := b.Get(t.Context(), "never read"); !errors.Is(err, errDown) {
		t.Errorf("a business that was never read: %v", err)
	}
	b.source.isDown = false
	b.source.set("harbor", 2)
	b.clock.Advance(2 * time.Second)
	b.wantGet(t, "harbor", "harbor 2")
}

func TestRemovedBusinessIsNotServedStale(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 1000)
	b.wantGet(t, "harbor", "harbor 1")
	delete(b.source.heads, "harbor")
	b.Expire("harbor")
	if _, _, err := b.Get(t.Context(), "harbor"); !fault.Is(err, fault.BusinessNotFound) {
		t.Errorf("got %v", err)
	}
	b.source.isDown = true
	if _, _, err := b.Get(t.Context(), "harbor"); !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
}

func TestCacheEvictsLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 250)
	b.source.size = 100
	b.source.heads = map[string]int64{"a": 1, "b": 1, "c": 1}
	for _, slug := range []string{"a", "b", "a", "c", "a", "b"} {
		b.wantGet(t, slug, slug+" 1")
	}
	want := []string{"a 1", "b 1", "c 1", "b 1"}
	if fmt.Sprint(b.source.textCalls) != fmt.Sprint(want) {
		t.Errorf("loaded %q, want %q", b.source.textCalls, want)
	}
}

func TestCacheKeepsOneOversizedVersion(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 50)
	b.source.size = 100
	b.wantGet(t, "harbor", "harbor 1")
	b.wantGet(t, "harbor", "harbor 1")
	if len(b.source.textCalls) != 1 {
		t.Errorf("loaded %q", b.source.textCalls)
	}
}

func TestConcurrentCallersShareLoad(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 1000)
	b.source.block = make(chan struct{})
	cancelledCtx, giveUp := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		wg.Go(func() {
			ctx := t.Context()
			if i == 0 {
				ctx = cancelledCtx
			}
			_, _, errs[i] = b.Get(ctx, "harbor")
		})
	}
	giveUp()
	close(b.source.block)
	wg.Wait()
	if err := errors.Join(errs[1:]...); err != nil {
		t.Error(err)
	}
	if len(b.source.textCalls) != 1 {
		t.Errorf("loaded %q", b.source.textCalls)
	}
}
