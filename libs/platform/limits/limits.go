// Package limits defines the rate limits of semantics.md §8 and counts
// requests against them. libs/platform/ratelimit stores the counts.
//
// A service counts a request to its public port by client address before any other work. It counts the request by API
// key after it has found the owner of the key. Requests with invalid admin tokens count by client address.
//
// The path of a request selects the limit. The limit named
// "other" applies to all paths that have no limit of their own.
package limits

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Config holds the settings of rate limits. Each number is a number of requests; 0 means no limit.
type Config struct {
	// Counting holds the settings for counting requests in Redis.
	Counting ratelimit.Config
	// PublicPerMinute is the limit per client address on each public path for which interface.md §8 defines no number.
	PublicPerMinute int `env:"PUBLIC_LIMIT_PER_MINUTE, default=600"`
	// WebhookPerMinute is the limit per client address on the path for webhooks of a payment
	// provider. It is high, because a provider sends all webhooks from few addresses.
	WebhookPerMinute int `env:"WEBHOOK_LIMIT_PER_MINUTE, default=6000"`
	// BookPerMinute is the limit per client address on POST /book (interface.md §8).
	BookPerMinute int `env:"BOOKING_IP_LIMIT_PER_MINUTE, default=10"`
	// PagesPerMinute is the limit per client address on GET requests for booking
	// pages. One such request may need as much work as GET /available-dates.
	PagesPerMinute int `env:"PAGES_LIMIT_PER_MINUTE, default=120"`
	// KeyPerMinute is the limit per API key for POST /book and /mcp together (interface.md §8, semantics.md §9).
	KeyPerMinute int `env:"BOOKING_KEY_LIMIT_PER_MINUTE, default=100"`
	// WrongTokensPerMinute is the number of invalid admin tokens that one client address may send in a minute. Above
	// this number, every request from that address with an admin token is refused.
	WrongTokensPerMinute int `env:"ADMIN_WRONG_TOKENS_PER_MINUTE, default=10"`
	// AdminPerMinute is the limit per principal for requests to the admin API. Each admin token is one principal,
	// whether the admin API created the token or an environment variable contains it.
	AdminPerMinute int `env:"ADMIN_LIMIT_PER_MINUTE, default=1200"`
	// SignInsPerMinute is the number of attempts to sign in that each client of an [Attempter] may make in a minute.
	// Attempts with a wrong password also count against limits with longer windows.
	SignInsPerMinute int `env:"SIGN_INS_PER_MINUTE, default=10"`
	// InvitationsPerHour is the number of invitations that one business
	// may send in an hour. Invitations that operators send do not count.
	InvitationsPerHour int `env:"INVITATIONS_PER_HOUR, default=30"`
}

// Validate returns an error that names each setting with an invalid number of requests.
func (c *Config) Validate() error {
	errs := []error{c.Counting.Validate()}
	for _, setting := range []struct {
		name     string
		requests int
	}{
		{"PUBLIC_LIMIT_PER_MINUTE", c.PublicPerMinute},
		{"WEBHOOK_LIMIT_PER_MINUTE", c.WebhookPerMinute},
		{"BOOKING_IP_LIMIT_PER_MINUTE", c.BookPerMinute},
		{"BOOKING_KEY_LIMIT_PER_MINUTE", c.KeyPerMinute},
		{"ADMIN_WRONG_TOKENS_PER_MINUTE", c.WrongTokensPerMinute},
		{"PAGES_LIMIT_PER_MINUTE", c.PagesPerMinute},
		{"SIGN_INS_PER_MINUTE", c.SignInsPerMinute},
		{"INVITATIONS_PER_HOUR", c.InvitationsPerHour},
		{"ADMIN_LIMIT_PER_MINUTE", c.AdminPerMinute},
	} {
		if setting.requests < 0 || setting.requests > maxPerMinute {
			errs = append(errs, fmt.Errorf("%s: write a number of requests from 1 to %d, or 0 for no limit",
				setting.name, maxPerMinute))
		}
	}
	return errors.Join(errs...)
}

// maxPerMinute is the maximum of all settings. It bounds the memory per client. A client needs 8 bytes per request in a
// minute, and the networks of the client's address need ten times as much.
const maxPerMinute = 100_000

// These constants are the names of those limits that code in this package refers to.
const (
	webhook       = "webhook"
	manage        = "manage"
	pages         = "pages"
	book          = "book"
	agentRequests = "mcp"
	other         = "other"
	byKey         = "key"
	wrongToken    = "wrong-token"
	admin         = "admin"
	signIn        = "sign-in"
	mailedLink    = "mailed-link"
	signUp        = "sign-up"
	invitation    = "invitation"

	businessInvitation = "business-invitation"
	accountNotice      = "account-notice"
	testMessage        = "test-message"

	customerLink         = "customer-link"
	networkCustomerLink  = "network-customer-link"
	businessCustomerLink = "business-customer-link"
)

// requests is a kind of requests, by path and method. Each limit counts one kind.
type requests int

const (
	reads        requests = iota // GET and HEAD of /api/public/{slug}/{name}
	writes                       // POST to /api/public/{slug}/{name}
	descriptions                 // GET and HEAD of /api/public/{name}
	special                      // requests whose limit findRow or another function selects by its name
)

// exact and general are the kinds of limits (semantics.md §8). A general limit protects the services from single clients.
// It is not exact over replicas, because each replica decides without a call to Redis.
const exact, general = false, true

// limit is a row of the table of limits. It consists of a name, the number of requests that may pass in a minute, the
// kind of requests that count, and the kind of the limit. Requests count by client address, unless the comment on
// the row names another key.
type limit struct {
	name      string
	perMinute int
	requests
	isGeneral bool
}

// minuteLimits returns all limits with a window of one minute. The numbers
// that interface.md §8 defines are constants; all others are settings.
func (c *Config) minuteLimits() []limit {
	return []limit{
		{"slots", 60, reads, exact},
		{"available-dates", 20, reads, exact},
		{"rental-availability", 60, reads, exact},
		{"rental-available-dates", 20, reads, exact},
		{"info", c.PublicPerMinute, reads, general},
		{"services", c.PublicPerMinute, reads, general},
		{"staff", c.PublicPerMinute, reads, general},
		{"events", c.PublicPerMinute, reads, general},
		{"rentals", c.PublicPerMinute, reads, general},
		{book, c.BookPerMinute, writes, exact}, // also POST requests to the booking page, /b/{slug}/…
		{"openapi.json", c.PublicPerMinute, descriptions, general},
		{"docs", c.PublicPerMinute, descriptions, general},
		{"docs.js", c.PublicPerMinute, descriptions, general},
		{agentRequests, c.PublicPerMinute, special, general}, // any method of /mcp
		{webhook, c.WebhookPerMinute, special, general},      // any method of /api/public/stripe/webhook
		{manage, 30, special, exact},                         // any method of the page behind a customer's link, /m/{token} (lifecycle.md §5)
		{pages, c.PagesPerMinute, special, general},          // other requests to the booking page, /b/{slug}/…
		{other, c.PublicPerMinute, special, general},         // all other requests
		{byKey, c.KeyPerMinute, special, exact},              // requests to POST /book and /mcp, by API key
		{wrongToken, c.WrongTokensPerMinute, special, exact}, // invalid admin tokens, by client address
		{admin, c.AdminPerMinute, special, exact},            // requests to the admin API, by principal
		{signIn, c.SignInsPerMinute, special, exact},         // attempts to sign in, by client of the attempter
	}
}

// findRow returns the limit that applies to a request to a public port. If the
// path does not support the method, as in GET /book, the limit "other" applies.
func (g *Gate) findRow(method, path string) *row {
	if path == "/mcp" {
		return g.rows[agentRequests]
	}
	if strings.HasPrefix(path, "/m/") {
		return g.rows[manage]
	}
	if strings.HasPrefix(path, "/b/") {
		if method == http.MethodPost {
			return g.rows[book]
		}
		return g.rows[pages]
	}
	rest, public := strings.CutPrefix(path, "/api/public/")
	if !public {
		return g.rows[other]
	}
	slug, name, deep := strings.Cut(rest, "/")
	counts := descriptions
	switch {
	// in this path, `stripe` is the payment provider, even if a business has the slug `stripe`
	case slug == "stripe" && name == webhook:
		return g.rows[webhook]
	case !deep:
		name = slug
	case slug == "":
		return g.rows[other]
	case method == http.MethodPost:
		counts = writes
	default:
		counts = reads
	}
	if r := g.rows[name]; r != nil && r.requests == counts && (counts == writes || method == http.MethodGet ||
		method == http.MethodHead) {
		return r
	}
	return g.rows[other]
}

// Limiter decides whether a request passes an exact limit. Services use *ratelimit.Fallback.
type Limiter interface {
	ratelimit.Limiter
	// KnownRefusal returns the time for which the limit will still refuse the client, as far as this process knows. It
	// returns 0 if the process knows of no refusal. It does not count a request.
	KnownRefusal(who ratelimit.Client, limit ratelimit.Limit) time.Duration
}

var (
	_ Limiter = (*ratelimit.Fallback)(nil)
	_ Limiter = (*ratelimit.Local)(nil)
)

// Gate counts requests and refuses requests above a limit. For each refusal, it increments the metric
// slotmesh.limits.hit, which has the name of the limit as a label.
type Gate struct {
	exact   Limiter
	general ratelimit.Limiter
	rows    map[string]*row
	hit     metric.Int64Counter
}

// row is a limit of the table with its header value and its metric label, which are computed once.
type row struct {
	ratelimit.Limit
	requests
	counter ratelimit.Limiter // counts the requests
	policy  string            // value of the header RateLimit-Policy
	label   metric.MeasurementOption
}

// New returns the gate of a service. The argument `inRedis` counts the requests for exact limits, and the argument
// `inProcess` counts those for general limits.
func New(cfg Config, inRedis Limiter, inProcess ratelimit.Limiter, tel *telemetry.Telemetry) *Gate {
	g := &Gate{
		exact: inRedis, general: inProcess, rows: make(map[string]*row),
		hit: tel.Counter("slotmesh.limits.hit", "Requests refused by a limit, by limit."),
	}
	for _, l := range cfg.minuteLimits() {
		g.rows[l.name] = g.newRow(ratelimit.PerMinute(l.name, l.perMinute), l.requests, l.isGeneral)
	}
	for _, l := range cfg.longerLimits() {
		g.rows[l.Name] = g.newRow(l, special, exact)
	}
	return g
}

func (g *Gate) newRow(l ratelimit.Limit, counts requests, isGeneral bool) *row {
	counter := ratelimit.Limiter(g.exact)
	if isGeneral {
		counter = g.general
	}
	return &row{
		Limit: l, requests: counts, counter: counter,
		policy: fmt.Sprintf("%q;q=%d;w=%d", l.Name, l.N, int(l.Window.Seconds())),
		label:  metric.WithAttributeSet(attribute.NewSet(attribute.String("limit", l.Name))),
	}
}

// Pass counts a request to a public path by its client address. It implements [server.Limit].
// Fault: rate_limited (429) if the address has reached the limit of the path.
func (g *Gate) Pass(ctx context.Context, client netip.Addr, method, path string, answer server.Header) error {
	return g.count(ctx, g.findRow(method, path), ratelimit.Address(client), fault.RateLimited, answer)
}

// PassKey counts a request by its API key. Fault: rate_limited (401) if the key has reached its limit.
func (g *Gate) PassKey(ctx context.Context, keyID string, answer server.Header) error {
	return g.count(ctx, g.rows[byKey], ratelimit.ID(keyID), fault.KeyRateLimited, answer)
}

// PassAgent counts a request to /mcp by its API key. Together with the requests of [Gate.PassKey], it counts against
// one limit. Fault: rate_limited (429) if the key has reached its limit. The status is not 401, because an agent would
// conclude from 401 that the key is invalid, and discard the key.
func (g *Gate) PassAgent(ctx context.Context, keyID string, answer server.Header) error {
	return g.count(ctx, g.rows[byKey], ratelimit.ID(keyID), fault.RateLimited, answer)
}

// PassBoth counts a request by its client address and by its API key in one round trip to
// Redis. If the limit of the address refuses the request, the request does not count by its
// key. The caller must verify the key and then call [KeyDecision.Pass], which applies the limit
// of the key. Fault: rate_limited (429) if the address has reached the limit of the path.
func (g *Gate) PassBoth(ctx context.Context, client netip.Addr, method, path, keyID string,
	answer server.Header) (KeyDecision, error) {
	byAddress, key := g.findRow(method, path), g.rows[byKey]
	if byAddress.N == 0 || key.N == 0 {
		err := g.count(ctx, byAddress, ratelimit.Address(client), fault.RateLimited, answer)
		if err != nil || key.N == 0 {
			return KeyDecision{}, err
		}
		d, err := g.exact.Allow(ctx, ratelimit.ID(keyID), key.Limit)
		return KeyDecision{gate: g, decision: d}, err
	}
	decisions, err := g.exact.AllowInTurn(ctx,
		ratelimit.Question{Client: ratelimit.Address(client), Limit: byAddress.Limit},
		ratelimit.Question{Client: ratelimit.ID(keyID), Limit: key.Limit})
	if err != nil {
		return KeyDecision{}, err
	}
	if err := g.applyDecision(ctx, byAddress, decisions[0], fault.RateLimited, answer); err != nil {
		return KeyDecision{}, err
	}
	return KeyDecision{gate: g, decision: decisions[1]}, nil
}

// KeyDecision is the decision of an API key's limit about a counted
// request. The zero KeyDecision means that no limit applies.
type KeyDecision struct {
	gate     *Gate
	decision ratelimit.Decision
}

// IsRefused reports whether the limit of the key refuses the request.
func (k KeyDecision) IsRefused() bool { return k.gate != nil && !k.decision.Allowed }

// Pass sets the rate limit headers of the answer. Fault:
// rate_limited (401) if the limit of the key refuses the request.
func (k KeyDecision) Pass(ctx context.Context, answer server.Header) error {
	if k.gate == nil {
		return nil
	}
	return k.gate.applyDecision(ctx, k.gate.rows[byKey], k.decision, fault.KeyRateLimited, answer)
}

// CheckWrongTokens checks whether an address has sent too many invalid admin tokens, as far as this process knows. It
// does not count the request and does not call Redis, so that a request with a valid token needs no additional round
// trip. Fault: rate_limited (429) if the address has sent too many invalid tokens.
func (g *Gate) CheckWrongTokens(ctx context.Context, client netip.Addr) error {
	limit := g.rows[wrongToken]
	wait := g.exact.KnownRefusal(ratelimit.Address(client), limit.Limit)
	if limit.N == 0 || wait == 0 {
		return nil
	}
	return g.refuse(ctx, limit, fault.RateLimited, wait)
}

// CountWrongToken counts an invalid admin token by client address. Fault:
// rate_limited (429) if the address has sent too many invalid tokens.
func (g *Gate) CountWrongToken(ctx context.Context, client netip.Addr, answer server.Header) error {
	return g.count(ctx, g.rows[wrongToken], ratelimit.Address(client), fault.RateLimited, answer)
}

// PassPrincipal counts a request to the admin API by its principal. The argument `label` identifies the
// principal without revealing a secret. Fault: rate_limited (429) if the principal has reached the limit.
func (g *Gate) PassPrincipal(ctx context.Context, label string, answer server.Header) error {
	return g.count(ctx, g.rows[admin], ratelimit.ID("principal "+label), fault.RateLimited, answer)
}

func (g *Gate) count(ctx context.Context, limit *row, who ratelimit.Client, kind fault.Kind,
	answer server.Header) error {
	if limit.N == 0 {
		return nil
	}
	d, err := limit.counter.Allow(ctx, who, limit.Limit)
	if err != nil {
		return err
	}
	return g.applyDecision(ctx, limit, d, kind, answer)
}

// applyDecision writes the decision about a request to the headers of
// the answer. It returns a fault if the decision refuses the request.
func (g *Gate) applyDecision(ctx context.Context, limit *row, d ratelimit.Decision, kind fault.Kind,
	answer server.Header) error {
	writeHeaders(answer, limit, d)
	if d.Allowed {
		return nil
	}
	return g.refuse(ctx, limit, kind, d.RetryAfter)
}

func (g *Gate) refuse(ctx context.Context, limit *row, kind fault.Kind, wait time.Duration) error {
	g.hit.Add(ctx, 1, limit.label)
	refusal := fault.New(kind, "Rate limit exceeded") // interface.md §7 prescribes this sentence
	refusal.RetryAfter = wait
	return refusal
}

// policyHeader and limitHeader are the names of the headers in draft-ietf-httpapi-ratelimit-headers-11.
// RateLimit-Policy lists the limits that apply. RateLimit lists the remaining requests of each limit.
const (
	policyHeader = "RateLimit-Policy"
	limitHeader  = "RateLimit"
)

// writeHeaders adds the state of a limit to the headers of the answer. In the header RateLimit, `r` is the number of
// further requests that would pass. `t` is the number of seconds until `r` can increase.
func writeHeaders(answer server.Header, limit *row, d ratelimit.Decision) {
	policy, remainder := limit.policy, make([]byte, 0, 48)
	if previous := answer.Get(policyHeader); previous != "" {
		policy = previous + ", " + policy
		remainder = append(append(remainder, answer.Get(limitHeader)...), ", "...)
	}
	remainder = strconv.AppendQuote(remainder, limit.Name)
	remainder = strconv.AppendInt(append(remainder, ";r="...), int64(d.Left), 10)
	remainder = strconv.AppendInt(append(remainder, ";t="...), int64(ratelimit.Seconds(d.Reset)), 10)
	answer.Set(policyHeader, policy)
	answer.Set(limitHeader, string(remainder))
}
