package limits

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// wrongSignInWindows are the windows that are longer than a minute, for wrong attempts
// to sign in. In each window, times × the attempts per minute are allowed. An
// attacker waits longer in each window, and has 80 guesses per day by default.
var wrongSignInWindows = []struct {
	name   string
	times  int
	window time.Duration
}{
	{"wrong-sign-in-quarter", 2, 15 * time.Minute},
	{"wrong-sign-in-hour", 4, time.Hour},
	{"wrong-sign-in-day", 8, 24 * time.Hour},
}

// Windows and numbers of mails about accounts.
const (
	// mailedLinkWindow is the time for which a mailed link is valid. If the limit
	// refuses another mail, the person therefore still has a valid link in the mailbox.
	mailedLinkWindow = 30 * time.Minute
	maxMailedLinks   = 3
	maxInvitations   = 5
	maxNotices       = 5
)

// longerLimits returns the limits whose window is not a minute. If attempts to sign
// in are unlimited, the limits that are derived from them are also unlimited.
func (c *Config) longerLimits() []ratelimit.Limit {
	all := []ratelimit.Limit{
		{Name: mailedLink, N: min(c.SignInsPerMinute, maxMailedLinks), Window: mailedLinkWindow},
		{Name: invitation, N: min(c.SignInsPerMinute, maxInvitations), Window: time.Hour},
		{Name: businessInvitation, N: c.InvitationsPerHour, Window: time.Hour},
		{Name: accountNotice, N: min(c.SignInsPerMinute, maxNotices), Window: time.Hour},
	}
	for _, w := range wrongSignInWindows {
		all = append(all, ratelimit.Limit{Name: w.name, N: w.times * c.SignInsPerMinute, Window: w.window})
	}
	return all
}

// Attempter identifies who attempts to sign in, by one or more clients. Each client has its own count, and an
// attempt passes only if every count allows it. Constructors: [UnknownBrowser], [KnownBrowser], [Session], [Address].
type Attempter struct{ clients []ratelimit.Client }

// Address returns the attempter for an attempt without an account. It counts by network.
func Address(client netip.Addr) Attempter {
	return Attempter{[]ratelimit.Client{ratelimit.Address(client)}}
}

// UnknownBrowser returns the attempter for a browser that never signed in to the account.
// Its attempts count by network, and by account together with those of all other unknown browsers,
// even if the account does not exist. account is a hash of the e-mail address.
func UnknownBrowser(client netip.Addr, account string) Attempter {
	return Attempter{[]ratelimit.Client{ratelimit.Address(client), ratelimit.ID("account " + account)}}
}

// KnownBrowser returns the attempter for a browser that has signed in to the account before. It has its own count,
// which other browsers and networks cannot use up. browser is a hash of the secret that the browser stores.
func KnownBrowser(account, browser string) Attempter {
	return Attempter{[]ratelimit.Client{ratelimit.ID("account " + account + " browser " + browser)}}
}

// Session returns the attempter for a signed-in session, which has its own count.
func Session(id string) Attempter {
	return Attempter{[]ratelimit.Client{ratelimit.ID("session " + id)}}
}

// CountSignIn counts an attempt to sign in. It refuses if a client of the attempter has made too many
// attempts, or too many wrong ones as far as this process knows. Faults: rate_limited (429).
func (g *Gate) CountSignIn(ctx context.Context, by Attempter, answer server.Header) error {
	for _, who := range by.clients {
		for _, w := range wrongSignInWindows {
			limit := g.rows[w.name]
			if wait := g.limiter.KnownRefusal(who, limit.Limit); limit.N > 0 && wait > 0 {
				return g.refuse(ctx, limit, fault.RateLimited, wait)
			}
		}
		if err := g.count(ctx, g.rows[signIn], who, fault.RateLimited, answer); err != nil {
			return err
		}
	}
	return nil
}

// CountWrongSignIn counts a wrong attempt. Faults: rate_limited (429) after too many.
func (g *Gate) CountWrongSignIn(ctx context.Context, by Attempter, answer server.Header) error {
	for _, who := range by.clients {
		for _, w := range wrongSignInWindows {
			if err := g.count(ctx, g.rows[w.name], who, fault.RateLimited, answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// CountMailedLink counts a mail with a link to choose a password. Unknown browsers count by network and, together, by
// account; a known browser has its own count. Wrong attempts to sign in do not block these mails. Faults: rate_limited
// (429).
func (g *Gate) CountMailedLink(ctx context.Context, by Attempter, answer server.Header) error {
	last := len(by.clients) - 1
	for _, network := range by.clients[:last] {
		if err := g.count(ctx, g.rows[signIn], network, fault.RateLimited, answer); err != nil {
			return err
		}
	}
	return g.count(ctx, g.rows[mailedLink], by.clients[last], fault.RateLimited, answer)
}

// CountInvitation counts a mail that invites an account, whether the account exists or not. Faults: rate_limited (429).
func (g *Gate) CountInvitation(ctx context.Context, account string) error {
	return g.count(ctx, g.rows[invitation], ratelimit.ID("account "+account), fault.RateLimited, http.Header{})
}

// CountAccountNotice counts a mail about a change of an account. Each subject has its own count, so
// that mails about one kind of change never delay mails about another. Faults: rate_limited (429).
func (g *Gate) CountAccountNotice(ctx context.Context, account, subject string) error {
	who := ratelimit.ID("account " + account + " notice " + subject)
	return g.count(ctx, g.rows[accountNotice], who, fault.RateLimited, http.Header{})
}

// CountBusinessInvitation counts an invitation that a business sends,
// regardless of the recipient. Faults: rate_limited (429).
func (g *Gate) CountBusinessInvitation(ctx context.Context, businessID uuid.UUID) error {
	err := g.count(ctx, g.rows[businessInvitation], ratelimit.ID("business "+businessID.String()), fault.RateLimited,
		http.Header{})
	if !fault.Is(err, fault.RateLimited) {
		return err
	}
	f := fault.Of(err)
	f.Sentence = "This business has sent as many invitations as it may within an hour; try again later."
	return f
}
