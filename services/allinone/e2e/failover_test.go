package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
	"github.com/slotmesh/slotmesh/services/allinone/test/deadlines"
)

// TestFailoverKeepsAcknowledgedBookings stops the primary PostgreSQL server while eight clients book, and the standby
// takes over. The clients retry requests that are answered with 503, as the document recommends. In the end, each order
// exists once and no acknowledged booking is lost.
func TestFailoverKeepsAcknowledgedBookings(t *testing.T) {
	t.Parallel()
	const clients, each = 8, 24
	primary := testkit.StartPrimaryAndStandby(t)
	w := startPlatform(t, func(c *allinone.Config) {
		c.DatabaseURL, c.Settings = primary.URL, maps.Clone(deadlines.Roomy)
		c.Settings["REQUEST_TIMEOUT"] = "15s" // an idempotency lock of a lost request expires after this time
	})
	w.publish(t, "survivor", buildSalon("survivor", clients))
	cut := w.idsByName(t, "survivor", "services")["Cut"]
	var booked atomic.Int32
	third, lost := make(chan struct{}), make(chan struct{})
	acknowledged, refused := make([][]string, clients), atomic.Int32{}
	var all sync.WaitGroup
	for i := range clients {
		key := w.createKey(t, "survivor", "write")
		all.Go(func() {
			for n := range each {
				if n == each/2 { // book the second half after the primary has stopped
					<-lost
				}
				o := newOrder(cut, fmt.Sprintf("2027-03-%02d", 1+7*(n/8)), fmt.Sprintf("%02d:00", 9+n%8))
				id, times := w.bookUntilAnswered(t, "survivor", key, o)
				acknowledged[i] = append(acknowledged[i], id)
				refused.Add(int32(times)) // the number is small enough for int32
				if booked.Add(1) == clients*each/3 {
					close(third)
				}
			}
		})
	}
	<-third
	primary.Stop(t)
	close(lost)
	all.Wait()
	w.checkBookingsExist(t, "survivor", acknowledged)
	t.Logf("%d repetitions", refused.Load())
}

// bookUntilAnswered sends an order every second with the same Idempotency-Key, while the answer is 503 or
// idempotency_in_progress. It returns the id of the booking and the number of retries.
func (w *platform) bookUntilAnswered(t *testing.T, slug, key string, o order) (string, int) {
	header := http.Header{"Idempotency-Key": {uuid.NewString()}}
	again := time.NewTicker(time.Second)
	defer again.Stop()
	late := time.After(testkit.MaxWait)
	for times := 0; ; times++ {
		a, err := w.tryBook(slug, key, o, header)
		switch {
		case err == nil && a.status == http.StatusCreated:
			booking, _ := a.decodeObject(t)["booking"].(map[string]any)
			id, _ := booking["id"].(string)
			return id, times
		case err != nil || a.status != http.StatusServiceUnavailable &&
			a.decodeObject(t)["messageCode"] != "idempotency_in_progress":
			t.Errorf("after %d repetitions: %d %s %v", times, a.status, a.body, err)
			return "", times
		}
		select {
		case <-again.C:
		case <-late:
			t.Errorf("still %d %s", a.status, a.body)
			return "", times
		}
	}
}

// checkBookingsExist compares the acknowledged bookings with the owner's list of bookings.
func (w *platform) checkBookingsExist(t *testing.T, slug string, acknowledged [][]string) {
	t.Helper()
	var list struct{ Bookings []struct{ ID string } }
	w.callAdmin(t, http.MethodGet, "businesses/"+slug+"/bookings?limit=1000", nil).decode(t, http.StatusOK, &list)
	there := make(map[string]bool)
	for _, b := range list.Bookings {
		there[b.ID] = true
	}
	known := make(map[string]bool)
	for _, ids := range acknowledged {
		for _, id := range ids {
			known[id] = true
			if !there[id] {
				t.Errorf("booking %q was acknowledged and is not there", id)
			}
		}
	}
	if len(known) != len(list.Bookings) {
		t.Errorf("%d bookings are acknowledged, %d are there", len(known), len(list.Bookings))
	}
}
