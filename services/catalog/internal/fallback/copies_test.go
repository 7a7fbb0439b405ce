package fallback_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/catalog/internal/fallback"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// fixture holds the copies of one process in the test Redis.
type fixture struct {
	*fallback.Copies
	t      *testing.T
	redis  redis.UniversalClient
	prefix string
}

func newFixture(t *testing.T) fixture {
	rdb, prefix := testkit.Redis(t)
	copies := fallback.New(rdb, prefix, telemetry.Discard())
	copies.SetTimeouts(testkit.MaxWait)
	return fixture{copies, t, rdb, prefix}
}

// mustConfirm confirms a version as the newest one and waits until its copy is written.
func (b fixture) mustConfirm(version int64, age time.Duration, text string) {
	b.t.Helper()
	if !b.Confirm("harbor", version, age, func(context.Context) ([]byte, error) { return []byte(text), nil }) {
		b.t.Fatal("the copies are too busy to store a version")
	}
	if err := b.Close(); err != nil {
		b.t.Fatal(err)
	}
}

// wantCopy expects that a version with a text is read. Version 0 means that no copy is there.
func (b fixture) wantCopy(version int64, text string) {
	b.t.Helper()
	got, err := b.Read(b.t.Context(), "harbor")
	if version == 0 {
		if !errors.Is(err, fallback.ErrNone) {
			b.t.Errorf("version %d is read, %v; want none", got.Version, err)
		}
		return
	}
	if err != nil || got.Version != version || string(got.JSON) != text {
		b.t.Errorf("version %d is read, %q, %v; want %d, %q", got.Version, got.JSON, err, version, text)
	}
}

func TestConfirmKeepsNewerVersion(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.wantCopy(0, "")
	b.mustConfirm(1, 0, "one")
	b.wantCopy(1, "one")
	b.mustConfirm(3, 0, "three")
	b.mustConfirm(2, 0, "two")
	b.wantCopy(3, "three")
	b.mustConfirm(3, 0, "its text is there")
	b.wantCopy(3, "three")
}

func TestConfirmKeepsSupersededMark(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.mustConfirm(1, 0, "one")
	b.Supersede(t.Context(), "harbor", 2) // as catalog does when it publishes version 2 or removes version 1
	b.wantCopy(0, "")
	b.mustConfirm(1, 0, "one") // a replica read version 1 before
	b.wantCopy(0, "")
	b.mustConfirm(2, 0, "two") // version 2 is published; the same after a removal
	b.wantCopy(2, "two")
	b.Supersede(t.Context(), "harbor", 2) // a repeated message
	b.wantCopy(2, "two")
}

func TestReadReturnsAgeOfLastConfirmation(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	age := func(minAge time.Duration) {
		t.Helper()
		if got, err := b.Read(t.Context(), "harbor"); err != nil || got.Age < minAge || got.Age > minAge+
			testkit.MaxWait {
			t.Errorf("%v old, %v; want %v", got.Age, err, minAge)
		}
	}
	b.mustConfirm(1, time.Hour, "one")
	age(time.Hour)
	b.mustConfirm(1, 0, "")
	age(0)
	b.mustConfirm(1, fallback.Lifetime, "")
	b.wantCopy(0, "")
}

func TestConfirmSkipsTooLargeText(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.mustConfirm(1, 0, "one")
	noise := make([]byte, 1<<20)
	_, _ = rand.Read(noise)
	b.mustConfirm(2, 0, string(noise))
	b.wantCopy(0, "") // the older copy is not served
}

func TestCheckAnyFindsCopy(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Supersede(t.Context(), "harbor", 2)
	if b.CheckAny(t.Context()) == nil {
		t.Error("CheckAny finds a copy before a version was confirmed")
	}
	b.mustConfirm(2, 0, "two")
	if err := b.CheckAny(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRunRetriesSupersede(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.mustConfirm(1, 0, "one")
	var away atomic.Bool
	away.Store(true)
	options, err := redis.ParseURL(testkit.RedisConfig(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	dial := redis.NewDialer(options)
	options.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		if away.Load() {
			return nil, errors.New("Redis is away")
		}
		return dial(ctx, network, address)
	}
	rdb := redis.NewClient(options)
	defer func() { _ = rdb.Close() }()
	remover := fallback.New(rdb, b.prefix, telemetry.Discard())
	remover.Supersede(t.Context(), "harbor", 2)
	b.wantCopy(1, "one")
	ctx, stop := context.WithTimeout(t.Context(), testkit.MaxWait)
	stopped := make(chan error)
	go func() { stopped <- remover.Run(ctx) }()
	away.Store(false)
	for {
		if _, err := b.Read(ctx, "harbor"); errors.Is(err, fallback.ErrNone) {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("the version was never written to Redis")
		}
	}
	stop()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
