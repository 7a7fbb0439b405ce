package api_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// clientGroup is 64 clients of two replicas that have cached the API key and the offer. Half of the clients book Anna,
// and the fake of availability can delay their requests. Their bookings are then checked before a change and written
// after it.
type clientGroup struct {
	*fixture
	replicas [2]string
	secret   string
	bookings atomic.Int64
	last     [64]answer // the last answer of each client
	group    sync.WaitGroup
}

func newClientGroup(t *testing.T) *clientGroup {
	w := open(t, noLimits)
	c := &clientGroup{fixture: w, secret: w.key("write")}
	second, _ := w.serve(noLimits, telemetry.Discard())
	c.replicas = [2]string{w.public, second}
	w.set(func(w *fixture) { w.staleOffer = w.offer })
	for i := range c.replicas {
		w.expect("a replica learns the key",
			c.request(i, newOrder("08:00", map[string]any{"date": fmt.Sprintf("2027-03-%02d", 20+i)})),
			http.StatusCreated, "")
	}
	return c
}

func (c *clientGroup) request(replica int, body map[string]any) answer {
	return c.bookOn(c.replicas[replica], "harbor", c.secret, body)
}

// book has each client book on one day after the other, each client at another time, until a booking fails.
func (c *clientGroup) book() {
	for client := range len(c.last) {
		member := []uuid.UUID{annaID, benID}[client%2]
		c.group.Go(func() {
			for n := range 20 {
				minute := client / 2 * 20
				c.last[client] = c.request(client/2%2, newOrder(fmt.Sprintf("%02d:%02d", 9+minute/60, minute%60),
					map[string]any{
						"date": fmt.Sprintf("2027-04-%02d", 1+n), "staff_id": member,
						"service_ids": []uuid.UUID{freeID},
					}))
				if c.last[client].status != http.StatusCreated {
					return
				}
				c.bookings.Add(1)
			}
		})
	}
}

// bookDuring calls `do` while the bookings of half of the clients are checked but not written; the other clients
// continue. It returns the number of bookings after the call of `do`.
func (c *clientGroup) bookDuring(do func() error) int {
	c.t.Helper()
	release := make(chan struct{})
	c.set(func(w *fixture) {
		w.release, w.waiting = release, make(chan struct{}, 2000) // larger than the number of requests
		w.mustWait = func(q availability.Question) bool { return q.StaffID != nil && *q.StaffID == annaID }
	})
	c.book()
	for range len(c.last) / 2 {
		<-c.waiting
	}
	if err := do(); err != nil {
		c.t.Fatal(err)
	}
	count := c.count(`SELECT count(*) FROM bookings`)
	close(release)
	c.group.Wait()
	return count
}

func TestNoBookingCommitsAfterKeyRevocation(t *testing.T) {
	t.Parallel()
	c := newClientGroup(t)
	keys, err := c.client().Keys(t.Context(), c.offer.ID, request.Page{})
	if err != nil {
		t.Fatal(err)
	}
	count := c.bookDuring(func() error { return c.client().RevokeKey(t.Context(), c.offer.ID, keys.Keys[0].ID) })
	for client, a := range c.last {
		if a.status == http.StatusCreated && client%2 == 1 {
			continue // all its bookings were written before
		}
		c.expect(fmt.Sprint("client ", client), a, http.StatusUnauthorized, "invalid_api_key")
	}
	c.expectRows(count)
	for i := range c.replicas {
		c.expect("afterwards", c.request(i, newOrder("23:00", nil)), http.StatusUnauthorized, "invalid_api_key")
		c.expect("afterwards, with a body that is none", c.bookOn(c.replicas[i], "harbor", c.secret, "{"),
			http.StatusUnauthorized, "invalid_api_key")
	}
}

// TestNoBookingCommitsByReplacedOffer shows that no booking is written by an old offer after a new one is
// published. The caches of the replicas stay old: they get no message from Redis and do not expire.
func TestNoBookingCommitsByReplacedOffer(t *testing.T) {
	t.Parallel()
	c := newClientGroup(t)
	count := c.bookDuring(func() error {
		c.change(func(*catalog.Snapshot) {}) // availability offers no slot in this version
		c.set(func(w *fixture) { w.hasSlots = false })
		return c.client().NotifyPublished(t.Context(), c.offer.ID, c.offer.Version)
	})
	for client, a := range c.last {
		if a.status == http.StatusCreated && client%2 == 1 {
			continue
		}
		c.expect(fmt.Sprint("client ", client), a, http.StatusConflict, "slot_unavailable")
	}
	c.expectRows(count)
}

// TestRefusalUsesCurrentOffer shows that a refusal always follows the newest offer. The cached offer would
// refuse the request for another reason, or accept it.
func TestRefusalUsesCurrentOffer(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	w.expect("the key is learnt", w.book(key, newOrder("08:00", nil)), http.StatusCreated, "")
	closed := func(o *catalog.Snapshot) { o.Account.SubscriptionActive = false }
	reopened := func(o *catalog.Snapshot) { o.Account.SubscriptionActive = true }
	told := func(edit func(*catalog.Snapshot)) {
		w.set(func(w *fixture) { w.staleOffer = w.offer })
		w.change(edit)
		if err := w.client().NotifyPublished(t.Context(), w.offer.ID, w.offer.Version); err != nil {
			t.Fatal(err)
		}
	}
	told(closed)
	w.expect("it has closed", w.book(key, newOrder("09:00", nil)), http.StatusForbidden, "subscription_inactive")
	w.expect("it has closed, and the body is none", w.book(key, "{", header, "one"), http.StatusForbidden,
		"subscription_inactive")
	told(reopened)
	w.expect("it is open again", w.book(key, newOrder("10:00", nil)), http.StatusCreated, "")
	w.expect("it is open again, by name", w.book(key, newOrder("11:00", nil), header, "two"), http.StatusCreated, "")
	told(func(o *catalog.Snapshot) { o.Services = o.Services[1:] })
	w.expect("the service has gone", w.book(key, newOrder("12:00", nil)), http.StatusNotFound, "service_not_found")
	w.expect("what was booked by a name stays", w.book(key, newOrder("11:00", nil), header, "two"), http.StatusCreated,
		"")
	w.set(func(w *fixture) { w.staleOffer, w.offer = w.offer, nil })
	if err := w.client().NotifyPublished(t.Context(), w.staleOffer.ID, w.staleOffer.Version+1); err != nil {
		t.Fatal(err)
	}
	w.expect("the business has gone",
		w.book(key, newOrder("13:00", map[string]any{"service_ids": []uuid.UUID{freeID}})),
		http.StatusNotFound, "business_not_found")
}

// TestRetryWithRevokedKeyIsRejected repeats a request with an Idempotency-Key after its API key is
// revoked. The stored answer needs no write, and only a write checks the API key, so the service must check the key
// separately.
func TestRetryWithRevokedKeyIsRejected(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key, wanted := w.key("write"), newOrder("09:00", nil)
	for range 2 {
		w.expect("by a name", w.book(key, wanted, header, "one"), http.StatusCreated, "")
	}
	if err := w.store.RevokeAllKeys(testkit.AsSystem(t), w.offer.ID, now); err != nil {
		t.Fatal(err)
	}
	w.expect("once more", w.book(key, wanted, header, "one"), http.StatusUnauthorized, "invalid_api_key")
}

func TestPublishRejectsInvalidVersion(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	if err := w.client().NotifyPublished(t.Context(), w.offer.ID, 0); !fault.Is(err, fault.InvalidParameter) {
		t.Error(err)
	}
}
