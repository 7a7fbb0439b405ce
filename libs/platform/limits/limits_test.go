package limits_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var readSettings = limits.Config{Counting: ratelimit.Config{Timeout: time.Second}, PublicPerMinute: 600,
	WebhookPerMinute: 6000, BookPerMinute: 10, PagesPerMinute: 120, KeyPerMinute: 100, WrongTokensPerMinute: 10,
	AdminPerMinute: 1200, SignInsPerMinute: 10}

var clientAddress = netip.MustParseAddr("192.0.2.7")

func newGate(of limits.Config) (*limits.Gate, *clock.Manual) {
	manualClock := clock.Fixed(time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC))
	local := ratelimit.NewLocal(manualClock)
	return limits.New(of, local, local, telemetry.Discard()), manualClock
}

func TestPathSelectsLimit(t *testing.T) {
	t.Parallel()
	g, _ := newGate(readSettings)
	seen := []string{ // limits that do not belong to a path
		"key", "wrong-token", "admin", "sign-in", "wrong-sign-in-quarter", "wrong-sign-in-hour", "wrong-sign-in-day",
		"mailed-link", "sign-up", "invitation", "business-invitation", "account-notice", "test-message",
		"customer-link",
		"network-customer-link", "business-customer-link",
	}
	for request, want := range map[string]string{
		"GET /api/public/harbor/info":                   `"info";q=600;w=60`,
		"HEAD /api/public/harbor/info":                  `"info";q=600;w=60`,
		"GET /api/public/stripe/info":                   `"info";q=600;w=60`,
		"GET /api/public/docs/services":                 `"services";q=600;w=60`,
		"GET /api/public/harbor/staff":                  `"staff";q=600;w=60`,
		"GET /api/public/harbor/events":                 `"events";q=600;w=60`,
		"GET /api/public/harbor/rentals":                `"rentals";q=600;w=60`,
		"GET /api/public/harbor/slots":                  `"slots";q=60;w=60`,
		"GET /api/public/harbor/available-dates":        `"available-dates";q=20;w=60`,
		"GET /api/public/harbor/rental-availability":    `"rental-availability";q=60;w=60`,
		"GET /api/public/harbor/rental-available-dates": `"rental-available-dates";q=20;w=60`,
		"POST /api/public/harbor/book":                  `"book";q=10;w=60`,
		"POST /api/public/stripe/webhook":               `"webhook";q=6000;w=60`,
		"GET /m/mZ2Qm1rZyQ0v3pXkK1tW9g":                 `"manage";q=30;w=60`,
		"POST /m/mZ2Qm1rZyQ0v3pXkK1tW9g/cancel":         `"manage";q=30;w=60`,
		"GET /b/harbor/when":                            `"pages";q=120;w=60`,
		"POST /b/harbor/details":                        `"book";q=10;w=60`,
		"GET /assets/pages.css":                         `"other";q=600;w=60`,
		"GET /m":                                        `"other";q=600;w=60`,
		"GET /api/public/openapi.json":                  `"openapi.json";q=600;w=60`,
		"GET /api/public/docs":                          `"docs";q=600;w=60`,
		"GET /api/public/docs.js":                       `"docs.js";q=600;w=60`,
		"POST /mcp":                                     `"mcp";q=600;w=60`,
		"GET /mcp":                                      `"mcp";q=600;w=60`,
		// Requests with a method that the path does not support do not count against its limit.
		"GET /api/public/harbor/book":       `"other";q=600;w=60`,
		"OPTIONS /api/public/harbor/slots":  `"other";q=600;w=60`,
		"POST /api/public/harbor/info":      `"other";q=600;w=60`,
		"GET /api/public/harbor/event":      `"other";q=600;w=60`,
		"GET /api/public/harbor/slots/":     `"other";q=600;w=60`,
		"GET /api/public//slots":            `"other";q=600;w=60`,
		"GET /api/public/harbor/%73lots":    `"other";q=600;w=60`,
		"GET /api/public/harbor":            `"other";q=600;w=60`,
		"GET /":                             `"other";q=600;w=60`,
		"BREW /api/public/harbor/slots/x/y": `"other";q=600;w=60`,
	} {
		method, path, _ := strings.Cut(request, " ")
		answer := http.Header{}
		if err := g.Pass(t.Context(), clientAddress, method, path, answer); err != nil {
			t.Fatalf("%s: %v", request, err)
		}
		if got := answer.Get("RateLimit-Policy"); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
		seen = append(seen, strings.Split(want, `"`)[1])
	}
	slices.Sort(seen)
	if diff := cmp.Diff(slices.Sorted(slices.Values(limits.Names())), slices.Compact(seen)); diff != "" {
		t.Errorf("limits of the table (-) that this test has no request for:\n%s", diff)
	}
}

func TestReadmeListsAllLimitsAndSettings(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(readme)) {
		if cells := strings.Split(line, "|"); len(cells) == 6 && !strings.HasPrefix(cells[1], " limit") &&
			!strings.HasPrefix(cells[1], "---") {
			listed = append(listed, strings.Split(strings.TrimSpace(cells[1]), ", ")...)
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(slices.Sorted(slices.Values(limits.Names())), listed); diff != "" {
		t.Errorf("limits of the table (-) and of the README (+):\n%s", diff)
	}
	for _, name := range settingNames() {
		if !strings.Contains(string(readme), "`"+name+"`") {
			t.Errorf("the README does not name %s", name)
		}
	}
}

// settingNames returns the environment variables of the limits.
func settingNames() []string {
	var names []string
	for f := range reflect.TypeFor[limits.Config]().Fields() {
		if name, _, numeric := strings.Cut(f.Tag.Get("env"), ","); numeric {
			names = append(names, name)
		}
	}
	return names
}

func TestHeadersShowRemainder(t *testing.T) {
	t.Parallel()
	g, manualClock := newGate(readSettings)
	pass := func() (http.Header, error) {
		answer := http.Header{}
		return answer, g.Pass(t.Context(), clientAddress, http.MethodPost, "/api/public/harbor/book", answer)
	}
	for left := 9; left >= 0; left-- {
		answer, err := pass()
		if want := fmt.Sprintf(`"book";r=%d;t=%d`, left, 60-(9-left)); err != nil || answer.Get("RateLimit") != want {
			t.Errorf("%q, %v; want %s", answer.Get("RateLimit"), err, want)
		}
		manualClock.Advance(time.Second)
	}
	answer, err := pass()
	refused := fault.Of(err)
	if !fault.Is(err, fault.RateLimited) || refused.Sentence != "Rate limit exceeded" || refused.RetrySeconds() != 50 ||
		answer.Get("RateLimit") != `"book";r=0;t=50` {
		t.Errorf("%q, %v after %s", answer.Get("RateLimit"), err, refused.RetryAfter)
	}
}

func TestHeadersShowAddressAndKeyLimits(t *testing.T) {
	t.Parallel()
	g, _ := newGate(limits.Config{BookPerMinute: 10, KeyPerMinute: 1})
	answer := http.Header{}
	if err := g.Pass(t.Context(), clientAddress, http.MethodPost, "/api/public/harbor/book", answer); err != nil {
		t.Fatal(err)
	}
	if err := g.PassKey(t.Context(), "one", answer); err != nil {
		t.Fatal(err)
	}
	if got := answer.Get("RateLimit-Policy") + " | " +
		answer.Get("RateLimit"); got != `"book";q=10;w=60, "key";q=1;w=60 | "book";r=9;t=60, "key";r=0;t=60` {
		t.Error(got)
	}
	if err := g.PassAgent(t.Context(), "one", answer); !fault.Is(err, fault.RateLimited) {
		t.Errorf("on /mcp: %v", err)
	}
	if err := g.PassKey(t.Context(), "one", answer); !fault.Is(err, fault.KeyRateLimited) {
		t.Errorf("over the limit of the key: %v", err)
	}
	if err := g.PassKey(t.Context(), "other", answer); err != nil {
		t.Errorf("another key: %v", err)
	}
}

// PassBoth gives the same answers as Pass and then PassKey, whichever of the two limits are set.
func TestPassBothEqualsPassThenPassKey(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]limits.Config{
		"the address first": {BookPerMinute: 2, KeyPerMinute: 3}, "the key first": {BookPerMinute: 3, KeyPerMinute: 2},
		"no limit of the address": {KeyPerMinute: 2}, "none of the key": {BookPerMinute: 2}, "none": {},
	} {
		together, _ := newGate(of)
		separate, _ := newGate(of)
		for i := range 4 {
			got, want := http.Header{}, http.Header{}
			byKey, gotErr := together.PassBoth(t.Context(), clientAddress, http.MethodPost, "/api/public/harbor/book", "one",
				got)
			if gotErr == nil {
				gotErr = byKey.Pass(t.Context(), got)
			}
			wantErr := separate.Pass(t.Context(), clientAddress, http.MethodPost, "/api/public/harbor/book", want)
			if wantErr == nil {
				wantErr = separate.PassKey(t.Context(), "one", want)
			}
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || gotErr != nil && fault.Of(gotErr).Kind != fault.Of(wantErr).Kind {
				t.Errorf("%s, request %d: %v, want %v", name, i, gotErr, wantErr)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, request %d (-want +got):\n%s", name, i, diff)
			}
		}
	}
}

func TestZeroLimitAllowsEverything(t *testing.T) {
	t.Parallel()
	g, _ := newGate(limits.Config{})
	answer := http.Header{}
	for range 2000 {
		if err := g.Pass(t.Context(), clientAddress, http.MethodGet, "/api/public/harbor/info", answer); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.CheckWrongTokens(t.Context(), clientAddress); err != nil || len(answer) > 0 {
		t.Errorf("%v, %v", answer, err)
	}
}

func TestWrongTokensCountByAddress(t *testing.T) {
	t.Parallel()
	g, manualClock := newGate(limits.Config{WrongTokensPerMinute: 2})
	other := netip.MustParseAddr("192.0.2.8")
	wrong := func() error { return g.CountWrongToken(t.Context(), clientAddress, http.Header{}) }
	for range 2 {
		if err := g.CheckWrongTokens(t.Context(), clientAddress); err != nil {
			t.Fatal(err)
		}
		if err := wrong(); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.CheckWrongTokens(t.Context(), clientAddress); !fault.Is(err, fault.RateLimited) ||
		fault.Of(err).RetrySeconds() != 60 {
		t.Errorf("after two: %v", err)
	}
	if err := wrong(); !fault.Is(err, fault.RateLimited) {
		t.Errorf("the third: %v", err)
	}
	if err := g.CheckWrongTokens(t.Context(), other); err != nil {
		t.Errorf("another address: %v", err)
	}
	manualClock.Advance(time.Minute)
	if err := g.CheckWrongTokens(t.Context(), clientAddress); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

func TestPrincipalsHaveSeparateCounts(t *testing.T) {
	t.Parallel()
	of := readSettings
	of.AdminPerMinute = 3
	g, manualClock := newGate(of)
	pass := func(label string) error { return g.PassPrincipal(t.Context(), label, http.Header{}) }
	for range 3 {
		if err := pass("token a"); err != nil {
			t.Fatal(err)
		}
	}
	if err := pass("token a"); !fault.Is(err, fault.RateLimited) || fault.Of(err).RetryAfter <= 0 {
		t.Errorf("the fourth: %v", err)
	}
	if err := pass("token b"); err != nil {
		t.Errorf("another principal: %v", err)
	}
	manualClock.Advance(time.Minute)
	if err := pass("token a"); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

func TestConfigReportsAllErrors(t *testing.T) {
	t.Parallel()
	if err := readSettings.Validate(); err != nil {
		t.Error(err)
	}
	bad := limits.Config{
		PublicPerMinute: -1, WebhookPerMinute: 1 << 30, BookPerMinute: -1, PagesPerMinute: -1, KeyPerMinute: -1,
		WrongTokensPerMinute: -1, AdminPerMinute: -1, SignInsPerMinute: -1, InvitationsPerHour: -1,
	}
	err := bad.Validate()
	for _, name := range append(settingNames(), "LIMIT_TIMEOUT") {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
	if again := bad.Validate(); again.Error() != err.Error() {
		t.Errorf("two calls name the settings in different orders:\n%v\n%v", err, again)
	}
}

func TestCancelledRequestIsNotRefused(t *testing.T) {
	t.Parallel()
	g, _ := newGate(readSettings)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Pass(cancelled, clientAddress, http.MethodGet, "/api/public/harbor/info", http.Header{}); err == nil ||
		fault.Is(err, fault.RateLimited) {
		t.Errorf("%v", err)
	}
}

// A general limit is decided without a call to Redis. An exact limit is not.
func TestGeneralLimitsCallNoStore(t *testing.T) {
	t.Parallel()
	local := ratelimit.NewLocal(clock.System())
	redis := &callCounter{Local: local}
	g := limits.New(readSettings, redis, local, telemetry.Discard())
	for request, calls := range map[string]int{
		"GET /api/public/harbor/info": 0, "GET /api/public/harbor/services": 0, "GET /api/public/harbor/staff": 0,
		"GET /api/public/harbor/events": 0, "GET /api/public/harbor/rentals": 0, "GET /api/public/docs": 0,
		"GET /b/harbor": 0, "POST /mcp": 0, "GET /assets/pages.css": 0, "POST /api/public/stripe/webhook": 0,
		"GET /api/public/harbor/slots": 1, "GET /api/public/harbor/available-dates": 1,
		"GET /api/public/harbor/rental-availability": 1, "GET /api/public/harbor/rental-available-dates": 1,
		"POST /api/public/harbor/book": 1, "POST /b/harbor/details": 1, "GET /m/mZ2Qm1rZyQ0v3pXkK1tW9g": 1,
	} {
		redis.calls = 0
		method, path, _ := strings.Cut(request, " ")
		if err := g.Pass(t.Context(), clientAddress, method, path, http.Header{}); err != nil {
			t.Fatal(err)
		}
		if redis.calls != calls {
			t.Errorf("%s: %d calls of the shared limiter, want %d", request, redis.calls, calls)
		}
	}
}

// callCounter counts the calls of a limiter.
type callCounter struct {
	*ratelimit.Local
	calls int
}

func (c *callCounter) Allow(ctx context.Context, who ratelimit.Client, limit ratelimit.Limit) (ratelimit.Decision, error) {
	c.calls++
	return c.Local.Allow(ctx, who, limit)
}
