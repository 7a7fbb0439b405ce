package limits

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/ratelimit"
	"github.com/slotmesh/slotmesh/libs/server"
)

// wrongSignIns are the windows in which wrong attempts to sign in count: as many times the attempts of a minute in so long. Whoever goes on
// guessing waits longer each time, and has eighty guesses a day.
var wrongSignIns = []struct {
	name   string
	times  int
	window time.Duration
}{
	{"wrong-sign-in-quarter", 2, 15 * time.Minute},
	{"wrong-sign-in-hour", 4, time.Hour},
	{"wrong-sign-in-day", 8, 24 * time.Hour},
}

// longer are the limits whose windows are not a minute. Like the attempts they are none where those are not limited.
func (c *Config) longer() []ratelimit.Limit {
	all := []ratelimit.Limit{{Name: mailedLink, N: min(c.SignInsPerMinute, 5), Window: time.Hour}}
	for _, w := range wrongSignIns {
		all = append(all, ratelimit.Limit{Name: w.name, N: w.times * c.SignInsPerMinute, Window: w.window})
	}
	return all
}

// SignIn counts an attempt to sign in, by its address and by the account that it names, whether there is one or not. It refuses as long as either has
// made too many, or too many wrong ones as far as this process knows. Faults: rate_limited (429).
func (g *Gate) SignIn(ctx context.Context, client netip.Addr, account string, answer server.Header) error {
	for _, who := range attempters(client, account) {
		for _, w := range wrongSignIns {
			limit := g.rows[w.name]
			if wait := g.limiter.Refused(who, limit.Limit); limit.N > 0 && wait > 0 {
				return g.refuse(ctx, limit, fault.RateLimited, wait)
			}
		}
		if err := g.count(ctx, g.rows[signIn], who, fault.RateLimited, answer); err != nil {
			return err
		}
	}
	return nil
}

// WrongSignIn counts an attempt that was wrong. Faults: rate_limited (429), once there were too many.
func (g *Gate) WrongSignIn(ctx context.Context, client netip.Addr, account string, answer server.Header) error {
	for _, who := range attempters(client, account) {
		for _, w := range wrongSignIns {
			if err := g.count(ctx, g.rows[w.name], who, fault.RateLimited, answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// MailedLink counts a mail with a link to an account, whether there is one or not. Faults: rate_limited (429).
func (g *Gate) MailedLink(ctx context.Context, account string) error {
	return g.count(ctx, g.rows[mailedLink], ratelimit.ID("account "+account), fault.RateLimited, http.Header{})
}

// attempters are those by whom attempts count. account gives no address away: it is a sum of it.
func attempters(client netip.Addr, account string) []ratelimit.Client {
	return []ratelimit.Client{ratelimit.Address(client), ratelimit.ID("account " + account)}
}
