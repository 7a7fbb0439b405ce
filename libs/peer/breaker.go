package peer

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/slotmesh/slotmesh/libs/clock"
)

const (
	failuresToOpen = 10          // in a row
	openFor        = time.Second // a peer that is back is found again after this long
	knownFailing   = 4096        // tenants of which failures are remembered; the one that failed longest ago goes first
)

// health is what an exchange says of the peer.
type health int

const (
	noWord   health = iota // nothing: it answered that this very request failed
	well                   // it answered
	unwell                 // it did not answer in time, broke off, or says that it cannot serve
	noAnswer               // a connection was refused
)

// breakers spare a peer that is unwell, and its callers the wait. Each tenant has a breaker, so that requests that one
// tenant's offer makes slow are not refused to others; a peer that refuses connections is away for all.
//
// A breaker opens after ten failures in a row, for a second. After it everyone may try: the first failure opens it for another
// second, the first answer closes it. One that let a single caller try would refuse those who ask beside it.
type breakers struct {
	clock clock.Clock

	mu      sync.Mutex
	failing *lru.Cache[string, *failures] // of who has failed since it was last well
}

type failures struct {
	inRow     int
	openUntil time.Time
}

// everyone is the breaker that all tenants share.
const everyone = ""

func newBreakers(now clock.Clock) *breakers {
	failing, err := lru.New[string, *failures](knownFailing)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &breakers{clock: now, failing: failing}
}

// open reports whether a call for tenant is to be spared.
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

// learn takes in what an exchange for tenant said.
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
	// A call that began before it opened says nothing new.
	if now := b.clock.Now(); f.inRow >= failuresToOpen && !now.Before(f.openUntil) {
		f.openUntil = now.Add(openFor)
	}
}
