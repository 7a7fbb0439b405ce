// Package limits defines the limits of semantics.md §8 and counts
// requests against them. libs/platform/ratelimit does the counting.
//
// A request to a public port counts by address before any other work. It counts by
// API key after the owner of the key is found. Wrong admin tokens count by address.
//
// Every public path has a limit. The path selects its limit; a path
// without a limit of its own counts against the limit named other.
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

// Config holds the settings of limits. Numbers are requests per minute; 0 means no limit.
type Config struct {
	// Counting holds the settings of the counting in Redis.
	Counting ratelimit.Config
	// PublicPerMinute is the limit per address on each public path for which interface.md §8 names no number.
	PublicPerMinute int `env:"PUBLIC_LIMIT_PER_MINUTE, default=600"`
	// WebhookPerMinute is the limit per address on the path of a
	// payment provider's webhooks, which come from few addresses.
	WebhookPerMinute int `env:"WEBHOOK_LIMIT_PER_MINUTE, default=6000"`
	// BookPerMinute is the limit per address on POST /book (interface.md §8).
	BookPerMinute int `env:"BOOKING_IP_LIMIT_PER_MINUTE, default=10"`
	// PagesPerMinute is the limit per address on reads of booking
	// pages. Each read may cost as much as /available-dates.
	PagesPerMinute int `env:"PAGES_LIMIT_PER_MINUTE, default=120"`
	// KeyPerMinute is the limit per API key on POST /book and /mcp together (interface.md §8, semantics.md §9).
	KeyPerMinute int `env:"BOOKING_KEY_LIMIT_PER_MINUTE, default=100"`
	// WrongTokensPerMinute is the number of wrong admin tokens per
	// address. Beyond it, every request with a token is refused.
	WrongTokensPerMinute int `env:"ADMIN_WRONG_TOKENS_PER_MINUTE, default=10"`
	// AdminPerMinute is the limit of requests to the admin API per principal. A principal
	// is an admin token: one that the API created, or the one in the environment.
	AdminPerMinute int `env:"ADMIN_LIMIT_PER_MINUTE, default=1200"`
	// SignInsPerMinute is the number of attempts to sign in per source
	// ([Attempter]). Wrong attempts also count in longer windows.
	SignInsPerMinute int `env:"SIGN_INS_PER_MINUTE, default=10"`
	// InvitationsPerHour is the number of invitations that one business
	// may send in an hour. Invitations by operators do not count.
	InvitationsPerHour int `env:"INVITATIONS_PER_HOUR, default=30"`
}

// Validate names the settings that are not valid numbers of requests.
func (c *Config) Validate() error {
	errs := []error{c.Counting.Validate()}
	for name, n := range map[string]int{
		"PUBLIC_LIMIT_PER_MINUTE": c.PublicPerMinute, "WEBHOOK_LIMIT_PER_MINUTE": c.WebhookPerMinute,
		"BOOKING_IP_LIMIT_PER_MINUTE": c.BookPerMinute, "BOOKING_KEY_LIMIT_PER_MINUTE": c.KeyPerMinute,
		"ADMIN_WRONG_TOKENS_PER_MINUTE": c.WrongTokensPerMinute, "PAGES_LIMIT_PER_MINUTE": c.PagesPerMinute,
		"SIGN_INS_PER_MINUTE": c.SignInsPerMinute, "INVITATIONS_PER_HOUR": c.InvitationsPerHour,
		"ADMIN_LIMIT_PER_MINUTE": c.AdminPerMinute,
	} {
		if n < 0 || n > maxPerMinute {
			errs = append(errs, fmt.Errorf("%s: write a number of requests from 1 to %d, or 0 for no limit", name,
				maxPerMinute))
		}
	}
	return errors.Join(errs...)
}

// maxPerMinute bounds the memory per client: 8 bytes per request in a minute, and ten times as much for its networks.
const maxPerMinute = 100_000

// Names of limits that the code refers to.
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
	invitation    = "invitation"

	businessInvitation = "business-invitation"
	accountNotice      = "account-notice"
)

// requests selects the requests that a limit counts.
type requests int

const (
	reads        requests = iota // GET and HEAD of /api/public/{slug}/{name}
	writes                       // POST to /api/public/{slug}/{name}
	descriptions                 // GET and HEAD of /api/public/{name}
	special                      // selected by code
)

// limit is a row of the table of limits: a name, the number of requests that pass in a minute, and the
// requests that count. Requests count by client address, unless the comment on the row states another key.
type limit struct {
	name      string
	perMinute int
	requests
}

// minuteLimits returns all limits per minute. The numbers of interface.md §8 are constants; all others are settings.
func (c *Config) minuteLimits() []limit {
	return []limit{
		{"slots", 60, reads},
		{"available-dates", 20, reads},
		{"rental-availability", 60, reads},
		{"rental-available-dates", 20, reads},
		{"info", c.PublicPerMinute, reads},
		{"services", c.PublicPerMinute, reads},
		{"staff", c.PublicPerMinute, reads},
		{"events", c.PublicPerMinute, reads},
		{"rentals", c.PublicPerMinute, reads},
		{book, c.BookPerMinute, writes}, // also bookings on the booking page, /b/{slug}/…
		{"openapi.json", c.PublicPerMinute, descriptions},
		{"docs", c.PublicPerMinute, descriptions},
		{"docs.js", c.PublicPerMinute, descriptions},
		{agentRequests, c.PublicPerMinute, special},   // any method of /mcp
		{webhook, c.WebhookPerMinute, special},        // any method of /api/public/stripe/webhook
		{manage, 30, special},                         // any method of a customer's link, /m/{token} (lifecycle.md §5)
		{pages, c.PagesPerMinute, special},            // reads of the booking page, /b/{slug}/…
		{other, c.PublicPerMinute, special},           // all other requests
		{byKey, c.KeyPerMinute, special},              // by API key
		{wrongToken, c.WrongTokensPerMinute, special}, // wrong admin tokens
		{admin, c.AdminPerMinute, special},            // the admin API, by principal
		{signIn, c.SignInsPerMinute, special},         // attempts to sign in, by address and by account
	}
}

// findRow returns the limit that applies to a request to a public port. A request with a method
// that its path does not support, such as GET /book, does not count against that path's limit.
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
	case slug == "stripe" && name == webhook: // not a path of a business, even if a business has the slug stripe
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

// Limiter counts requests; the implementation is *ratelimit.Fallback.
type Limiter interface {
	ratelimit.Limiter
	// KnownRefusal returns how long a client is known to be refused; 0 if not known. It counts nothing.
	KnownRefusal(who ratelimit.Client, limit ratelimit.Limit) time.Duration
}

var (
	_ Limiter = (*ratelimit.Fallback)(nil)
	_ Limiter = (*ratelimit.Local)(nil)
)

// Gate counts requests against the limits of the table. It counts refusals in slotmesh.limits.hit by limit.
type Gate struct {
	limiter Limiter
	rows    map[string]*row
	hit     metric.Int64Counter
}

// row is one limit of the table.
type row struct {
	ratelimit.Limit
	requests
	policy string // value of the header RateLimit-Policy
	label  metric.MeasurementOption
}

// New returns the gate of a service.
func New(cfg Config, limiter Limiter, tel *telemetry.Telemetry) *Gate {
	g := &Gate{
		limiter: limiter, rows: make(map[string]*row),
		hit: tel.Counter("slotmesh.limits.hit", "Requests refused by a limit, by limit."),
	}
	for _, l := range cfg.minuteLimits() {
		g.rows[l.name] = newRow(ratelimit.PerMinute(l.name, l.perMinute), l.requests)
	}
	for _, l := range cfg.longerLimits() {
		g.rows[l.Name] = newRow(l, special)
	}
	return g
}

func newRow(l ratelimit.Limit, counts requests) *row {
	return &row{
		Limit: l, requests: counts,
		policy: fmt.Sprintf("%q;q=%d;w=%d", l.Name, l.N, int(l.Window.Seconds())),
		label:  metric.WithAttributeSet(attribute.NewSet(attribute.String("limit", l.Name))),
	}
}

// Pass counts a request to a public path by its address. It implements [server.Limit]. Faults: rate_limited (429).
func (g *Gate) Pass(ctx context.Context, client netip.Addr, method, path string, answer server.Header) error {
	return g.count(ctx, g.findRow(method, path), ratelimit.Address(client), fault.RateLimited, answer)
}

// PassKey counts a request by its API key. Faults: rate_limited (401).
func (g *Gate) PassKey(ctx context.Context, keyID string, answer server.Header) error {
	return g.count(ctx, g.rows[byKey], ratelimit.ID(keyID), fault.KeyRateLimited, answer)
}

// PassAgent counts a request to /mcp by its API key, in the same count as [Gate.PassKey]. It differs from PassKey in
// the status: rate_limited is sent as 429, because an agent would take a 401 as an invalid key and discard the key.
func (g *Gate) PassAgent(ctx context.Context, keyID string, answer server.Header) error {
	return g.count(ctx, g.rows[byKey], ratelimit.ID(keyID), fault.RateLimited, answer)
}

// PassBoth combines [Gate.Pass] and [Gate.PassKey] in one round trip. A request that the
// limit of its address refuses does not count by its key. The caller must call [KeyDecision.Pass]
// for the result of the key's limit, after it has verified the key. Faults: those of Pass.
func (g *Gate) PassBoth(ctx context.Context, client netip.Addr, method, path, keyID string,
	answer server.Header) (KeyDecision, error) {
	byAddress, key := g.findRow(method, path), g.rows[byKey]
	if byAddress.N == 0 || key.N == 0 {
		err := g.count(ctx, byAddress, ratelimit.Address(client), fault.RateLimited, answer)
		if err != nil || key.N == 0 {
			return KeyDecision{}, err
		}
		d, err := g.limiter.Allow(ctx, ratelimit.ID(keyID), key.Limit)
		return KeyDecision{gate: g, decision: d}, err
	}
	decisions, err := g.limiter.AllowInTurn(ctx,
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

// KeyDecision is the result of the limit of an API key for a counted request. The zero KeyDecision means that there is
// no limit.
type KeyDecision struct {
	gate     *Gate
	decision ratelimit.Decision
}

// IsRefused reports whether the limit refuses the request.
func (k KeyDecision) IsRefused() bool { return k.gate != nil && !k.decision.Allowed }

// Pass sets the headers of the limit. Faults: rate_limited (401).
func (k KeyDecision) Pass(ctx context.Context, answer server.Header) error {
	if k.gate == nil {
		return nil
	}
	return k.gate.applyDecision(ctx, k.gate.rows[byKey], k.decision, fault.KeyRateLimited, answer)
}

// CheckWrongTokens returns rate_limited (429) if an address has sent too many wrong admin tokens, as far as this
// process knows. It does not count the request and sends nothing to Redis, so that valid tokens cost no round trip.
func (g *Gate) CheckWrongTokens(ctx context.Context, client netip.Addr) error {
	limit := g.rows[wrongToken]
	wait := g.limiter.KnownRefusal(ratelimit.Address(client), limit.Limit)
	if limit.N == 0 || wait == 0 {
		return nil
	}
	return g.refuse(ctx, limit, fault.RateLimited, wait)
}

// CountWrongToken counts a wrong admin token. Faults: rate_limited (429) after too many.
func (g *Gate) CountWrongToken(ctx context.Context, client netip.Addr, answer server.Header) error {
	return g.count(ctx, g.rows[wrongToken], ratelimit.Address(client), fault.RateLimited, answer)
}

// PassPrincipal counts a request to the admin API by its principal. label
// identifies the principal without revealing a secret. Faults: rate_limited (429).
func (g *Gate) PassPrincipal(ctx context.Context, label string, answer server.Header) error {
	return g.count(ctx, g.rows[admin], ratelimit.ID("principal "+label), fault.RateLimited, answer)
}

func (g *Gate) count(ctx context.Context, limit *row, who ratelimit.Client, kind fault.Kind,
	answer server.Header) error {
	if limit.N == 0 {
		return nil
	}
	d, err := g.limiter.Allow(ctx, who, limit.Limit)
	if err != nil {
		return err
	}
	return g.applyDecision(ctx, limit, d, kind, answer)
}

// applyDecision writes a decision to the answer's headers. If the decision refuses the request, it returns a fault.
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
	refusal := fault.New(kind, "Rate limit exceeded") // the sentence is prescribed by interface.md §7
	refusal.RetryAfter = wait
	return refusal
}

// The headers of draft-ietf-httpapi-ratelimit-headers-11: the limits of a response, and the remainder of each.
const (
	policyHeader = "RateLimit-Policy"
	limitHeader  = "RateLimit"
)

// writeHeaders writes the state of a limit to the answer's headers. In the header RateLimit, r is the number of further
// requests that would pass, and t is the number of seconds until r can increase.
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
