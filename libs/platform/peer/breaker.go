package peer

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
)

const (
	failuresToOpen    = 10          // in a row
	openFor           = time.Second // the breaker stays open for this long
	maxFailingTenants = 4096        // number of tenants with recorded failures; the least recently failed is dropped first
)

// health is the result of one exchange, with respect to the state of the peer.
type health int

const (
	inconclusive health = iota // no conclusion: only this request failed
	healthy                    // it answered
	failing                    // it did not answer in time, closed the connection, or reported that it cannot serve
	unreachable                // a connection was refused
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

	mu         sync.Mutex
	failuresOf *lru.Cache[string, *failures] // failures since the last success, by tenant
}

type failures struct {
	consecutive int
	openUntil   time.Time
}

// allTenants is the key of the breaker that all tenants share.
const allTenants = ""

func newBreakers(now clock.Clock) *breakers {
	failing, err := lru.New[string, *failures](maxFailingTenants)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &breakers{clock: now, failuresOf: failing}
}

// isOpen reports whether the call must not be made, because the breaker of the tenant or that of all tenants is open.
func (b *breakers) isOpen(tenant string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failuresOf.Len() == 0 {
		return false
	}
	now := b.clock.Now()
	for _, of := range []string{allTenants, tenant} {
		if f, ok := b.failuresOf.Peek(of); ok && now.Before(f.openUntil) {
			return true
		}
	}
	return false
}

// record records the result of an exchange for tenant.
func (b *breakers) record(tenant string, result health) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch result {
	case healthy:
		b.failuresOf.Remove(tenant)
		b.failuresOf.Remove(allTenants)
	case failing:
		b.fail(tenant)
	case unreachable:
		b.fail(allTenants)
	case inconclusive:
	}
}

func (b *breakers) fail(tenant string) {
	f, ok := b.failuresOf.Get(tenant)
	if !ok {
		f = new(failures)
		b.failuresOf.Add(tenant, f)
	}
	f.consecutive++
	// While the breaker is open, failures of calls that began earlier do not extend the time.
	if now := b.clock.Now(); f.consecutive >= failuresToOpen && !now.Before(f.openUntil) {
		f.openUntil = now.Add(openFor)
	}
}
