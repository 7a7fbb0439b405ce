package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// checkLimit sends requests until `limit` requests have passed within a minute. It checks that the next request is
// refused and has the rate limit headers.
func checkLimit(t *testing.T, label string, limit, status int, send func(i int) reply) {
	t.Helper()
	refused := findRefused(t, label, limit, status, send)
	policy := refused.header.Get("RateLimit-Policy")
	if name, _, found := strings.Cut(policy, fmt.Sprintf(";q=%d;w=60", limit)); status == http.StatusTooManyRequests &&
		(!found || refused.header.Get("RateLimit") != name+";r=0;t="+refused.header.Get("Retry-After")) {
		t.Errorf("%s: RateLimit-Policy %q, RateLimit %q, Retry-After %q", label, policy,
			refused.header.Get("RateLimit"),
			refused.header.Get("Retry-After"))
	}
	seconds, err := strconv.Atoi(refused.header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 60 {
		t.Errorf("%s: Retry-After is %q, want whole seconds up to 60", label, refused.header.Get("Retry-After"))
	}
}

// findRefused sends requests until one is refused, and returns its answer. Exactly `limit` requests must have passed in
// the minute before the refused request. A busy machine may need more than a minute for `limit` requests, and then the
// first ones no longer count. The platform counts a request between its start and its end, so findRefused records both
// times.
func findRefused(t *testing.T, label string, limit, status int, send func(i int) reply) reply {
	t.Helper()
	var sent, answered []time.Time // times of the requests that passed
	for i := range 5 * limit {
		startTime := time.Now()
		a := send(i)
		ended := time.Now()
		if a.status == status {
			a.checkStatus(t, status, "rate_limited")
			if counting := countSince(answered, startTime.Add(-time.Minute)); counting < limit {
				t.Fatalf("%s: request %d was refused though %d have passed in the minute before, want %d", label, i+1,
					counting, limit)
			}
			return a
		}
		if counting := countSince(sent, ended.Add(-time.Minute)); counting >= limit {
			t.Fatalf("%s: request %d passed after %d in the minute before, and was answered %d: %s", label, i+1,
				counting, a.status, a.body)
		}
		sent, answered = append(sent, startTime), append(answered, ended)
	}
	t.Fatalf("%s: %d requests took so long that never %d passed in a minute", label, 5*limit, limit)
	return reply{}
}

// countSince returns how many of the sorted times are later than `bound`.
func countSince(times []time.Time, bound time.Time) int {
	first := slices.IndexFunc(times, func(at time.Time) bool { return at.After(bound) })
	if first < 0 {
		return 0
	}
	return len(times) - first
}

func TestLimitsRefuseRequestAfterMax(t *testing.T) {
	t.Parallel()
	const public = 15
	w := startPlatform(t, func(c *allinone.Config) { c.PublicLimitPerMinute = public })
	w.publish(t, "limits", buildSalon("limits", 1))
	w.publish(t, "boat-limits", buildBoathouse("boat-limits"))
	cut, key := w.idsByName(t, "limits", "services")["Cut"], w.createKey(t, "limits", "write")
	boat := w.idsByName(t, "boat-limits", "rentals")["Boat"]
	reads := map[string]int{
		"limits/slots?date=2027-03-01&service_id=" + cut:                                           60,
		"limits/available-dates?start=2027-03-01&end=2027-03-02&service_id=" + cut:                 20,
		"boat-limits/rental-availability?startDate=2027-03-01&endDate=2027-03-01&rentalId=" + boat: 60,
		"boat-limits/rental-available-dates?start=2027-03-01&end=2027-03-02&rental_id=" + boat:     20,
		"limits/info":                     public,
		"limits/services?date=2027-03-02": public,
		"limits/staff":                    public,
		"limits/events":                   public,
		"limits/rentals":                  public,
		"openapi.json":                    public,
	}
	for path, limit := range reads {
		address := newAddress()
		checkLimit(t, path, limit, http.StatusTooManyRequests, func(int) reply { return w.getFrom(t, address, path) })
		w.get(t, path).checkStatus(t, http.StatusOK, "") // the limit does not apply to another address
	}

	nowhere := newAddress()
	checkLimit(t, "paths that nothing is at", public, http.StatusTooManyRequests, func(i int) reply {
		return w.getFrom(t, nowhere, fmt.Sprintf("limits/nothing-%d", i))
	})
	agent := http.Header{"X-Forwarded-For": {newAddress()}, "Content-Type": {"application/json"}}
	checkLimit(t, "agents by address", public, http.StatusTooManyRequests, func(int) reply {
		return w.do(t, http.MethodPost, w.PublicURL+"/mcp", []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), agent)
	})
	address := http.Header{"X-Forwarded-For": {newAddress()}}
	checkLimit(t, "book by address", 10, http.StatusTooManyRequests, func(int) reply {
		return w.mustBook(t, "limits", key, newOrder(cut, "2027-03-06", "10:00"), address)
	})
}

// newIPv6Site returns a random /48 network, so that no other test uses it.
func newIPv6Site() string {
	return fmt.Sprintf("fd%02x:%x:%x", rand.IntN(256), rand.IntN(1<<16), rand.IntN(1<<16))
}

func TestLimitsCountIPv6Networks(t *testing.T) {
	t.Parallel()
	const public = 2
	w := startPlatform(t, func(c *allinone.Config) { c.PublicLimitPerMinute = public })
	w.publish(t, "six", buildSalon("six", 1))
	info := func(address string) reply { return w.getFrom(t, address, "six/info") }

	site := newIPv6Site()
	checkLimit(t, "one /64", public, http.StatusTooManyRequests, func(i int) reply {
		return info(fmt.Sprintf("%s:1::%x", site, i+1))
	})
	info(site+":2::1").checkStatus(t, http.StatusOK, "") // another /64

	site = newIPv6Site()
	findRefused(t, "eleven /64s of one /56", 10*public, http.StatusTooManyRequests, func(i int) reply {
		return info(fmt.Sprintf("%s:%x::1", site, i/public))
	})
	site = newIPv6Site()
	findRefused(t, "eleven /56s of one /48", 10*public, http.StatusTooManyRequests, func(i int) reply {
		return info(fmt.Sprintf("%s:%x::1", site, i/public<<8))
	})
	info(newIPv6Site()+"::1").checkStatus(t, http.StatusOK, "")
}

func TestLimitHeadersAreExposedToOtherOrigins(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "shown", buildSalon("shown", 1))
	a := w.get(t, "shown/info")
	a.checkStatus(t, http.StatusOK, "")
	for _, name := range []string{"RateLimit", "RateLimit-Policy", "Retry-After"} {
		if exposed := strings.Split(a.header.Get("Access-Control-Expose-Headers"), ", "); !slices.Contains(exposed,
			name) {
			t.Errorf("%s is not among %v", name, exposed)
		}
	}
	if a.header.Get("RateLimit") == "" || a.header.Get("RateLimit-Policy") == "" {
		t.Errorf("the headers are %v", a.header)
	}
}

func (w *platform) mustBook(t *testing.T, slug, key string, o order, header http.Header) reply {
	t.Helper()
	a, err := w.tryBook(slug, key, o, header)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestBookLimitsRequestsOfKey(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "busy", buildSalon("busy", 1))
	cut, key := w.idsByName(t, "busy", "services")["Cut"], w.createKey(t, "busy", "write")
	var last reply
	checkLimit(t, "book by key", 100, http.StatusUnauthorized, func(int) reply {
		last = w.book(t, "busy", key, newOrder(cut, "2027-03-06", "10:00"))
		return last
	})
	if sentence := last.decodeObject(t)["error"]; sentence != "Rate limit exceeded" {
		t.Errorf("the sentence is %q", sentence)
	}
}

func TestLimitsCountAcrossProcesses(t *testing.T) {
	t.Parallel()
	shared := testkit.Database(t, "e2e")
	together := func(c *allinone.Config) { c.DatabaseURL = shared }
	one, two := startPlatform(t, together), startPlatform(t, together)
	one.publish(t, "pair", buildSalon("pair", 1))
	path := "pair/slots?date=2027-03-01&service_id=" + one.idsByName(t, "pair", "services")["Cut"]
	address := newAddress()
	checkLimit(t, path, 60, http.StatusTooManyRequests, func(i int) reply {
		return []*platform{one, two}[i%2].getFrom(t, address, path)
	})
}

func TestFrontIgnoresForwardedAddressesOfUntrustedClients(t *testing.T) {
	t.Parallel()
	// Without trusted proxies, all requests come from this machine's address, even if their header names another one.
	w := startPlatform(t, useOwnRedis(t), func(c *allinone.Config) { c.TrustedProxies = nil })
	w.publish(t, "direct", buildSalon("direct", 1))
	path := "direct/available-dates?start=2027-03-01&end=2027-03-02&service_id=" + w.idsByName(t, "direct",
		"services")["Cut"]
	checkLimit(t, "under claimed addresses", 20, http.StatusTooManyRequests, func(int) reply { return w.get(t, path) })
}

func TestLimitsApplyWithoutRedis(t *testing.T) {
	t.Parallel()
	link := testkit.NewLink(t, nil)
	w := startPlatform(t, func(c *allinone.Config) { c.RedisURL = "redis://" + link.Address })
	w.publish(t, "alone", buildSalon("alone", 1))
	path := "alone/available-dates?start=2027-03-01&end=2027-03-02&service_id=" + w.idsByName(t, "alone",
		"services")["Cut"]
	w.get(t, path).checkStatus(t, http.StatusOK, "")
	link.Cut()
	address := newAddress()
	checkLimit(t, "without Redis", 20, http.StatusTooManyRequests, func(int) reply {
		return w.getFrom(t, address, path)
	})
	w.get(t, path).checkStatus(t, http.StatusOK, "")
	// The services read a new version even if Redis does not deliver the message about it.
	w.publish(t, "alone", buildSalon("alone", 2))
}
