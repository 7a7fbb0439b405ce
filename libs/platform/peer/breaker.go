package peer

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
)

const (
	failuresToOpen = 10          // number of consecutive failures that opens the breaker
	openFor        = time.Second // time for which the breaker stays open
	// maximal number of tenants with recorded failures; the tenant whose last failure is oldest is dropped first
	maxFailingTenants = 4096
)

// health is the state of the peer, as far as one exchange shows it.
type health int

const (
	inconclusive health = iota // only this request failed, which shows nothing about the peer
	healthy                    // the peer answered
	// the peer did not answer in time, closed the connection, or answered that it cannot serve requests
	failing
	unreachable // the peer refused the connection
)

// breakers holds the circuit breakers for one peer. A breaker stops calls to a failing peer, so
// that the peer can recover and callers do not wait. Each tenant has its own breaker, so that slow
// requests of one tenant do not block others. A refused connection counts for all tenants together.
//
// A breaker opens for one second after ten consecutive failures. After that second, every caller may try again. The
// first failure then opens the breaker for another second, and the first answer closes it. If only one caller were
// allowed to try, the breaker would refuse all other callers without need.
type breakers struct {
	clock clock.Clock

	mu         sync.Mutex
	failuresOf *lru.Cache[string, *failures] // failures since the last success, by tenant
}

type failures struct {
	consecutive int
	openUntil   time.Time
}

// allTenants is the key of the breaker that applies to all tenants.
const allTenants = ""

func newBreakers(now clock.Clock) *breakers {
	failing, err := lru.New[string, *failures](maxFailingTenants)
	if err != nil {
		panic(err) // lru.New fails only for a size below 1
	}
	return &breakers{clock: now, failuresOf: failing}
}

// isOpen reports whether the breaker of the tenant, or the breaker for all tenants, is open. If it is open, the caller
// must not make a call for the tenant.
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

// record records the result of an exchange that was made for the tenant.
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
	// While the breaker is open, a call that began before it opened may still fail. This failure does not extend the
	// time for which the breaker is open.
	if now := b.clock.Now(); f.consecutive >= failuresToOpen && !now.Before(f.openUntil) {
		f.openUntil = now.Add(openFor)
	}
}
