package peer

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
)

const (
	failuresToOpen = 10          // in a row
	openFor        = time.Second // the breaker stays open for this long
	knownFailing   = 4096        // number of tenants with recorded failures; the least recently failed is dropped first
)

// health is the result of one exchange, with respect to the state of the peer.
type health int

const (
	noWord   health = iota // no conclusion: only this request failed
	well                   // it answered
	unwell                 // it did not answer in time, closed the connection, or reported that it cannot serve
	noAnswer               // a connection was refused
)

// breakers are circuit breakers. They stop calls to a peer that fails, so that the peer
// can recover and callers do not wait. Each tenant has its own breaker, so that slow
// requests of one tenant do not block others. A refused connection counts for all tenants.
//
// A breaker opens for one second after ten consecutive failures. After that second,
// all callers may try: the first failure opens the breaker for another second, and the
// first answer closes it. One trial call at a time would refuse all other callers.
type breakers struct {
	clock clock.Clock

	mu      sync.Mutex
	failing *lru.Cache[string, *failures] // failures since the last success, by tenant
}

type failures struct {
	inRow     int
	openUntil time.Time
}

// everyone is the key of the breaker that all tenants share.
const everyone = ""

func newBreakers(now clock.Clock) *breakers {
	failing, err := lru.New[string, *failures](knownFailing)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &breakers{clock: now, failing: failing}
}

// open reports whether the call must not be made, because the breaker of the tenant or that of all tenants is open.
func (b *breakers) open(tenant string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failing.Len() == 0 {
		return false
	}
	now := b.clock.Now()
	for _, of := range []string{everyone, tenant} {
		if f, ok := b.failing.Peek(of); ok && now.Before(f.openUntil) {
			return true
		}
	}
	return false
}

// learn records the result of an exchange for tenant.
func (b *breakers) learn(tenant string, said health) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch said {
	case well:
		b.failing.Remove(tenant)
		b.failing.Remove(everyone)
	case unwell:
		b.fail(tenant)
	case noAnswer:
		b.fail(everyone)
	case noWord:
	}
}

func (b *breakers) fail(who string) {
	f, ok := b.failing.Get(who)
	if !ok {
		f = new(failures)
		b.failing.Add(who, f)
	}
	f.inRow++
	// While the breaker is open, failures of calls that began earlier do not extend the time.
	if now := b.clock.Now(); f.inRow >= failuresToOpen && !now.Before(f.openUntil) {
		f.openUntil = now.Add(openFor)
	}
}
