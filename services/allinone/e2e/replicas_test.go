package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// replicaPair has two Slotmesh processes on one database. Redis is stopped, so that no message about a change of one
// process reaches the other.
type replicaPair struct {
	all      [2]*platform
	database *pgx.Conn
	key, cut string
}

func openReplicas(t *testing.T) *replicaPair {
	t.Helper()
	url, r := testkit.Database(t, "e2e"), &replicaPair{}
	cache := miniredis.RunT(t)
	for i := range r.all {
		r.all[i] = startPlatform(t, allowLoopback, func(c *allinone.Config) {
			c.DatabaseURL, c.RedisURL = url, "redis://"+cache.Addr()
			c.Settings = withSettings(c.Settings, "BOOKING_IP_LIMIT_PER_MINUTE", "0", "BOOKING_KEY_LIMIT_PER_MINUTE",
				"0",
				"LIMIT_TIMEOUT", "1s", "REDIS_TIMEOUT", "1s")
		})
	}
	cache.Close() // Redis stays stopped
	var err error
	if r.database, err = pgx.Connect(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.database.Close(t.Context()) })
	r.all[0].publish(t, "salon", buildSalon("salon", 4))
	r.key = r.all[0].createKey(t, "salon", "write")
	r.cut = r.all[0].idsByName(t, "salon", "services")["Cut"]
	return r
}

// withSettings returns a copy of the settings, in which the pairs of name and value replace or add settings.
func withSettings(settings map[string]string, pairs ...string) map[string]string {
	changed := map[string]string{}
	for name, value := range settings {
		changed[name] = value
	}
	for i := 0; i < len(pairs); i += 2 {
		changed[pairs[i]] = pairs[i+1]
	}
	return changed
}

// countBookings counts the bookings of a day.
func (r *replicaPair) countBookings(t *testing.T, day string) int {
	t.Helper()
	var n int
	if err := r.database.QueryRow(t.Context(),
		`SELECT count(*) FROM booking.bookings WHERE local_start::date = $1::text::date`, day).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// race lets 64 clients book on a day at both replicas. Each client continues while its requests book, find an occupied
// time or are answered with 503. After five bookings, race calls `do`, which must stop further bookings. race returns
// the number of bookings at the end of `do`, and the last answer of each client.
func (r *replicaPair) race(t *testing.T, day string, do func()) (int, []reply) {
	t.Helper()
	var (
		group sync.WaitGroup
		made  atomic.Int64
		begun = make(chan struct{})
		over  atomic.Bool
		last  = make([]reply, 64)
	)
	for client := range last {
		group.Go(func() {
			for n := 0; ; n++ {
				minute := (client*7 + n) % 32 * 15
				late := over.Load()
				o := newOrder(r.cut, day, fmt.Sprintf("%02d:%02d", 9+minute/60, minute%60))
				a, err := r.all[client%2].tryBook("salon", r.key, o, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if a.status == http.StatusCreated && made.Add(1) == 5 {
					close(begun)
				}
				// A conflict before the end of `do` and a 503 mean that nothing was booked, so the client tries again.
				isRepeated := a.status == http.StatusConflict && !late || a.status == http.StatusServiceUnavailable
				if last[client] = a; a.status != http.StatusCreated && !isRepeated {
					return
				}
			}
		})
	}
	<-begun
	do()
	there := r.countBookings(t, day)
	over.Store(true)
	group.Wait()
	return there, last
}

func TestReplicasWithoutRedisApplyPublishAndRevocation(t *testing.T) {
	t.Parallel()
	r := openReplicas(t)
	const closed, open = "2027-03-03", "2027-03-02"
	there, last := r.race(t, closed, func() {
		r.all[0].publish(t, "salon", buildSalon("salon", 4)+"overrides: [{date: "+closed+", hours: []}]\n")
	})
	if n := r.countBookings(t, closed); n != there {
		t.Errorf("%d bookings on the day that was closed, %d of them after that was answered", n, n-there)
	}
	for _, a := range last {
		a.checkStatus(t, http.StatusConflict, "closed")
	}
	there, last = r.race(t, open, func() { r.all[1].revokeAll(t, "salon") })
	if n := r.countBookings(t, open); n != there {
		t.Errorf("%d bookings by the key that was revoked, %d of them after that was answered", n, n-there)
	}
	for _, a := range last {
		a.checkStatus(t, http.StatusUnauthorized, "invalid_api_key")
	}
}

// TestPublishFailsWithoutBooking publishes while booking is stopped. The answer is outcome_unknown, because booking has
// not confirmed the new version. The version is published nevertheless.
func TestPublishFailsWithoutBooking(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	w.publish(t, "salon", buildSalon("salon", 1))
	if err := w.StopService("booking"); err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(buildSalon("salon", 1), "name: Cut", "name: Trim", 1)
	w.callAdmin(t, http.MethodPut, "businesses/salon", []byte(changed)).checkStatus(t, http.StatusServiceUnavailable,
		"outcome_unknown")
	if a := w.callAdmin(t, http.MethodGet, "businesses/salon", nil); !bytes.Contains(a.body, []byte("Trim")) {
		t.Errorf("the published business is %d %s", a.status, a.body)
	}
}
