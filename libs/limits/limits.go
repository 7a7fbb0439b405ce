// Package limits is the table of the limits of semantics.md §8, and what counts requests against them: by address before
// anything else is done for a request to a public port, by key once it is known whose the key is, and wrong admin tokens by
// address. How a count is kept, libs/ratelimit says.
//
// Every public path has a limit, by construction: which one is read from the path itself, and a path that names none counts
// against the limit called other.
package limits

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/ratelimit"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Config are the settings of limits. Numbers are requests a minute; 0 is no limit.
type Config struct {
	// Counting says how long Redis is waited for.
	Counting ratelimit.Config
	// PublicPerMinute is what one address has on each public path for which interface.md §8 names no figure.
	PublicPerMinute int `env:"PUBLIC_LIMIT_PER_MINUTE, default=600"`
	// WebhookPerMinute is what one address has on the path of a payment provider's notices, which all come from a few.
	WebhookPerMinute int `env:"WEBHOOK_LIMIT_PER_MINUTE, default=6000"`
	// BookPerMinute is what one address has on POST /book (interface.md §8).
	BookPerMinute int `env:"BOOKING_IP_LIMIT_PER_MINUTE, default=10"`
	// KeyPerMinute is what one API key has on POST /book and /mcp together (interface.md §8, semantics.md §9).
	KeyPerMinute int `env:"BOOKING_KEY_LIMIT_PER_MINUTE, default=100"`
	// WrongTokensPerMinute is how many wrong admin tokens one address may show; with more it is refused whatever it shows.
	WrongTokensPerMinute int `env:"ADMIN_WRONG_TOKENS_PER_MINUTE, default=10"`
}

// Validate names the settings that are no numbers of requests.
func (c *Config) Validate() error {
	errs := []error{c.Counting.Validate()}
	for name, n := range map[string]int{
		"PUBLIC_LIMIT_PER_MINUTE": c.PublicPerMinute, "WEBHOOK_LIMIT_PER_MINUTE": c.WebhookPerMinute,
		"BOOKING_IP_LIMIT_PER_MINUTE": c.BookPerMinute, "BOOKING_KEY_LIMIT_PER_MINUTE": c.KeyPerMinute,
		"ADMIN_WRONG_TOKENS_PER_MINUTE": c.WrongTokensPerMinute,
	} {
		if n < 0 || n > mostPerMinute {
			errs = append(errs, fmt.Errorf("%s: write a number of requests from 1 to %d, or 0 for no limit", name, mostPerMinute))
		}
	}
	return errors.Join(errs...)
}

// mostPerMinute bounds what is kept of one client: 8 bytes for each request of a minute, ten times as many for its networks.
const mostPerMinute = 100_000

// Names of limits, where they are not the last part of a path that is read.
const (
	webhook    = "webhook"
	agents     = "mcp"
	book       = "book"
	other      = "other" // paths that nothing is at
	byKey      = "key"
	wrongToken = "wrong-token"
)

// table is all limits. Those of interface.md §8 stand as figures, all else are settings.
func (c *Config) table() map[string]int {
	return map[string]int{
		"slots":                  60,
		"available-dates":        20,
		"rental-availability":    60,
		"rental-available-dates": 20,
		book:                     c.BookPerMinute,
		"info":                   c.PublicPerMinute,
		"services":               c.PublicPerMinute,
		"staff":                  c.PublicPerMinute,
		"events":                 c.PublicPerMinute,
		"rentals":                c.PublicPerMinute,
		"openapi.json":           c.PublicPerMinute,
		"docs":                   c.PublicPerMinute,
		"docs.js":                c.PublicPerMinute,
		agents:                   c.PublicPerMinute,
		other:                    c.PublicPerMinute,
		webhook:                  c.WebhookPerMinute,
		byKey:                    c.KeyPerMinute,
		wrongToken:               c.WrongTokensPerMinute,
	}
}

// named is the name of the limit of a request to a public port. What its path does not answer, such as a GET of /book, is not
// counted against the path's own figure.
func named(method, path string) string {
	if path == "/mcp" {
		return agents
	}
	rest, public := strings.CutPrefix(path, "/api/public/")
	if !public {
		return other
	}
	read := method == http.MethodGet || method == http.MethodHead
	slug, name, deep := strings.Cut(rest, "/")
	switch {
	case slug == "stripe" && name == "webhook": // no business's path, also where one is called stripe
		return webhook
	case deep && slug != "" && (read && slices.Contains(reads, name) || method == http.MethodPost && name == book):
		return name
	case !deep && read && slices.Contains(descriptions, slug):
		return slug
	}
	return other
}

// The last parts of the paths below a business's slug that are read, and of those that describe the interface.
var (
	reads = []string{
		"info", "services", "staff", "events", "rentals", "slots", "available-dates", "rental-availability", "rental-available-dates",
	}
	descriptions = []string{"openapi.json", "docs", "docs.js"}
)

// Limiter counts; *ratelimit.Fallback is the one outside tests.
type Limiter interface {
	ratelimit.Limiter
	// Refused says how long a client is known to be refused, without counting anything; 0 where that is not known.
	Refused(who ratelimit.Client, limit ratelimit.Limit) time.Duration
}

var (
	_ Limiter = (*ratelimit.Fallback)(nil)
	_ Limiter = (*ratelimit.Local)(nil)
)

// Gate counts requests against the limits of the table. It counts slotmesh.limits.hit by limit.
type Gate struct {
	limiter Limiter
	rows    map[string]*row
	hit     metric.Int64Counter
}

// row is one limit of the table.
type row struct {
	ratelimit.Limit
	policy string // as the header RateLimit-Policy tells it
	label  metric.MeasurementOption
}

// New returns the gate of a service.
func New(cfg Config, limiter Limiter, tel *telemetry.Telemetry) *Gate {
	g := &Gate{
		limiter: limiter, rows: make(map[string]*row),
		hit: tel.Counter("slotmesh.limits.hit", "Requests refused by a limit, by limit."),
	}
	for name, n := range cfg.table() {
		limit := ratelimit.PerMinute(name, n)
		g.rows[name] = &row{
			Limit:  limit,
			policy: fmt.Sprintf("%q;q=%d;w=%d", name, n, int(limit.Window.Seconds())),
			label:  metric.WithAttributeSet(attribute.NewSet(attribute.String("limit", name))),
		}
	}
	return g
}

// Pass counts a request to a public path by its address. It is a [server.Limit]. Faults: rate_limited (429).
func (g *Gate) Pass(ctx context.Context, client netip.Addr, method, path string, answer server.Header) error {
	return g.count(ctx, g.rows[named(method, path)], ratelimit.Address(client), fault.RateLimited, answer)
}

// PassKey counts a request by its API key. Faults: rate_limited (401).
func (g *Gate) PassKey(ctx context.Context, keyID string, answer server.Header) error {
	return g.count(ctx, g.rows[byKey], ratelimit.ID(keyID), fault.KeyRateLimited, answer)
}

// TokensRefused tells whether an address has shown too many wrong admin tokens, as far as this process knows; it asks and counts
// nothing, so that right tokens cost nothing. Faults: rate_limited (429).
func (g *Gate) TokensRefused(ctx context.Context, client netip.Addr) error {
	limit := g.rows[wrongToken]
	wait := g.limiter.Refused(ratelimit.Address(client), limit.Limit)
	if limit.N == 0 || wait == 0 {
		return nil
	}
	return g.refuse(ctx, limit, fault.RateLimited, wait)
}

// WrongToken counts a wrong admin token. Faults: rate_limited (429), once there were too many.
func (g *Gate) WrongToken(ctx context.Context, client netip.Addr, answer server.Header) error {
	return g.count(ctx, g.rows[wrongToken], ratelimit.Address(client), fault.RateLimited, answer)
}

func (g *Gate) count(ctx context.Context, limit *row, who ratelimit.Client, kind fault.Kind, answer server.Header) error {
	if limit.N == 0 {
		return nil
	}
	d, err := g.limiter.Allow(ctx, who, limit.Limit)
	if err != nil {
		return err
	}
	tell(answer, limit, d)
	if d.Allowed {
		return nil
	}
	return g.refuse(ctx, limit, kind, d.RetryAfter)
}

func (g *Gate) refuse(ctx context.Context, limit *row, kind fault.Kind, wait time.Duration) error {
	g.hit.Add(ctx, 1, limit.label)
	refusal := fault.New(kind, "Rate limit exceeded") // the sentence is interface.md §7's
	refusal.RetryAfter = wait
	return refusal
}

// The headers of draft-ietf-httpapi-ratelimit-headers-11: what the limits of an answer are, and what is left of each.
const (
	policyHeader = "RateLimit-Policy"
	limitHeader  = "RateLimit"
)

// tell adds to the headers: r is how many requests more would pass, t the seconds until it may be more.
func tell(answer server.Header, limit *row, d ratelimit.Decision) {
	policy, left := limit.policy, make([]byte, 0, 48)
	if before := answer.Get(policyHeader); before != "" {
		policy = before + ", " + policy
		left = append(append(left, answer.Get(limitHeader)...), ", "...)
	}
	left = strconv.AppendQuote(left, limit.Name)
	left = strconv.AppendInt(append(left, ";r="...), int64(d.Left), 10)
	left = strconv.AppendInt(append(left, ";t="...), int64(ratelimit.Seconds(d.Reset)), 10)
	answer.Set(policyHeader, policy)
	answer.Set(limitHeader, string(left))
}
