package console_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

// newAddress returns an IP address that no other test uses. It must be unique because all tests share one Redis.
func newAddress() string {
	id := testkit.Unique()
	return "2001:db8:" + id[:4] + ":" + id[4:8] + "::1"
}

// rateWindow is a rate limit: `n` requests in the time `of`.
type rateWindow struct {
	n  int
	of time.Duration
}

// checkRateLimit sends requests until one is refused, and fails if the refusal is too early or too late for all
// windows. It returns the refusal and the time until which it lasts at least. A request counts at some time between its
// start and its answer, so a slow machine does not fail the test.
func checkRateLimit(t *testing.T, label string, send func(i int) consoletest.Answer,
	windows ...rateWindow) (consoletest.Answer, time.Time) {
	t.Helper()
	var sent, answered []time.Time // times of the accepted requests
	for i := range 5 * windows[0].n {
		startTime := time.Now()
		got := send(i)
		ended := time.Now()
		var until time.Time
		may := false
		for _, w := range windows {
			may = may || countSince(answered, startTime.Add(-w.of)) >= w.n
			if len(sent) >= w.n && sent[len(sent)-w.n].Add(w.of).After(until) {
				until = sent[len(sent)-w.n].Add(w.of)
			}
		}
		if got.Status == http.StatusTooManyRequests {
			if !may {
				t.Fatalf("%s: request %d is refused, and fewer than a window takes have passed: %v", label, i+1,
					answered)
			}
			// The console measures the end of a refusal from a time before it calls Redis, so subtract the duration of
			// the request.
			return got, until.Add(startTime.Sub(ended))
		}
		if ended.Before(until) {
			t.Fatalf("%s: request %d is answered %d though a window is full: %v", label, i+1, got.Status, sent)
		}
		sent, answered = append(sent, startTime), append(answered, ended)
	}
	t.Fatalf("%s: %d requests took so long that no window was ever full", label, 5*windows[0].n)
	return consoletest.Answer{}, time.Time{}
}

// countSince returns how many of the sorted times are later than `bound`.
func countSince(times []time.Time, bound time.Time) int {
	first := slices.IndexFunc(times, func(at time.Time) bool { return at.After(bound) })
	if first < 0 {
		return 0
	}
	return len(times) - first
}

func TestWrongTokensBlockOnlyTheirAddress(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.Limits.WrongTokensPerMinute = 3
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	guesser, owner := newAddress(), newAddress()
	show := func(from, token string) consoletest.Answer {
		return w.Call(t, "GET", "/admin/businesses", "", "X-Forwarded-For", from, "Authorization", "Bearer "+token)
	}
	for range 5 {
		if got := show(guesser, consoletest.Token); got.Status != 200 {
			t.Fatalf("right tokens count: %d %s", got.Status, got.Body)
		}
	}
	refused := func(got consoletest.Answer) {
		t.Helper()
		expect(t, got, 429, "rate_limited", "Rate limit exceeded")
		if got.Header.Get("Retry-After") == "" {
			t.Error("Retry-After is missing")
		}
	}
	got, until := checkRateLimit(t, "wrong tokens", func(int) consoletest.Answer {
		got := show(guesser, "wrong")
		if got.Status != 429 {
			expect(t, got, 401, "unauthorized", "not the right one")
		}
		return got
	}, rateWindow{3, time.Minute})
	refused(got)
	if got := show(guesser, consoletest.Token); got.Status != 200 || time.Now().Before(until) {
		refused(got)
	}
	if got := show(owner, consoletest.Token); got.Status != 200 {
		t.Errorf("the right token from another address: %d %s", got.Status, got.Body)
	}
}

func TestAdminAPILimitsPrincipals(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) { c.Limits.AdminPerMinute = 3 })
	mine, other := w.AddTokenUntil(t, time.Now().Add(time.Hour)), w.AddTokenUntil(t, time.Now().Add(time.Hour))
	got, _ := checkRateLimit(t, "one token", func(int) consoletest.Answer {
		return w.CallAs(t, mine, "GET", "/admin/tokens", "")
	}, rateWindow{3, time.Minute})
	expect(t, got, 429, "rate_limited", "Rate limit exceeded")
	if got.Header.Get("Retry-After") == "" {
		t.Error("Retry-After is missing")
	}
	if got := w.CallAs(t, other, "GET", "/admin/tokens", ""); got.Status != 200 {
		t.Errorf("another token: %d", got.Status)
	}
}

// TestSignInRoutesLimitRequestsAndBodies shows that sign-in routes limit requests by IP address and
// refuse bodies above the size of a form.
func TestSignInRoutesLimitRequestsAndBodies(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.Limits.PublicPerMinute = 2
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	for _, path := range []string{"/sign-in", "/sign-in/link/nobodys", "/device/token"} {
		from, method := newAddress(), "GET"
		if path == "/device/token" {
			method = "POST"
		}
		checkRateLimit(t, path, func(int) consoletest.Answer {
			return w.Call(t, method, path, "", "X-Forwarded-For", from)
		}, rateWindow{2, time.Minute})
	}
	form := "email=" + strings.Repeat("a", 64<<10)
	got := w.Call(t, "POST", "/sign-in", form, "X-Forwarded-For", newAddress(), "Content-Type",
		"application/x-www-form-urlencoded")
	if got.Status != 413 {
		t.Errorf("a form of %d bytes: %d", len(form), got.Status)
	}
}
