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

// wrongSignInWindows are windows for attempts to sign in with a wrong password. The windows are longer than a minute.
// In each window, the number of attempts with a wrong password is limited to SignInsPerMinute multiplied by the field
// `times`. With the default settings, an attacker can try 80 passwords per day.
var wrongSignInWindows = []struct {
	name   string
	times  int
	window time.Duration
}{
	{"wrong-sign-in-quarter", 2, 15 * time.Minute},
	{"wrong-sign-in-hour", 4, time.Hour},
	{"wrong-sign-in-day", 8, 24 * time.Hour},
}

// These constants limit the number of mails about accounts.
const (
	// mailedLinkWindow is the time for which a mailed link is valid. It is also the window of the limit for these
	// mails. When the limit refuses another mail, the link in an earlier mail of this window is therefore still valid.
	mailedLinkWindow = 30 * time.Minute
	maxMailedLinks   = 3
	maxInvitations   = 5
	maxNotices       = 5
	maxTestMessages  = 10
)

// longerLimits returns the limits whose window is longer than a minute. If SignInsPerMinute or
// BookPerMinute is 0 (unlimited), the limits that depend on it are also unlimited.
func (c *Config) longerLimits() []ratelimit.Limit {
	all := []ratelimit.Limit{
		{Name: mailedLink, N: min(c.SignInsPerMinute, maxMailedLinks), Window: mailedLinkWindow},
		{Name: signUp, N: 2 * c.SignInsPerMinute, Window: time.Hour},
		{Name: invitation, N: min(c.SignInsPerMinute, maxInvitations), Window: time.Hour},
		{Name: businessInvitation, N: c.InvitationsPerHour, Window: time.Hour},
		{Name: accountNotice, N: min(c.SignInsPerMinute, maxNotices), Window: time.Hour},
		{Name: testMessage, N: min(c.SignInsPerMinute, maxTestMessages), Window: time.Hour},
		{Name: networkCustomerLink, N: 2 * c.BookPerMinute, Window: time.Hour},
		{Name: customerLink, N: min(c.BookPerMinute, maxMailedLinks), Window: mailedLinkWindow},
		{Name: businessCustomerLink, N: 20 * c.BookPerMinute, Window: time.Hour},
	}
	for _, w := range wrongSignInWindows {
		all = append(all, ratelimit.Limit{Name: w.name, N: w.times * c.SignInsPerMinute, Window: w.window})
	}
	return all
}

// Attempter identifies the origin of an attempt to sign in, as one or more clients of a rate limit. Each client has its
// own count, and an attempt passes only if the counts of all clients allow it. [UnknownBrowser], [KnownBrowser],
// [Session] and [Address] return attempters.
type Attempter struct{ clients []ratelimit.Client }

// Address returns the attempter for an attempt that names no account. The attempt counts by client address.
func Address(client netip.Addr) Attempter {
	return Attempter{[]ratelimit.Client{ratelimit.Address(client)}}
}

// UnknownBrowser returns the attempter for a browser that has never signed in to the account. An attempt
// counts by client address. It also counts by account, together with the attempts of all other unknown
// browsers, even if the account does not exist. The argument `account` is a hash of the e-mail address.
func UnknownBrowser(client netip.Addr, account string) Attempter {
	return Attempter{[]ratelimit.Client{ratelimit.Address(client), ratelimit.ID("account " + account)}}
}

// KnownBrowser returns the attempter for a browser that has signed in to the account before. The attempts of this
// browser are counted separately, so that attempts from other browsers and networks cannot block this browser. The
// argument `browser` is a hash of the secret that the browser stores.
func KnownBrowser(account, browser string) Attempter {
	return Attempter{[]ratelimit.Client{ratelimit.ID("account " + account + " browser " + browser)}}
}

// Session returns the attempter for a signed-in session. The attempts in this session are counted separately from all
// other attempts.
func Session(id string) Attempter {
	return Attempter{[]ratelimit.Client{ratelimit.ID("session " + id)}}
}

// CountSignIn counts an attempt to sign in for each client of the attempter. Fault: rate_limited (429)
// if a client has made too many attempts, or too many wrong attempts as far as this process knows.
func (g *Gate) CountSignIn(ctx context.Context, by Attempter, answer server.Header) error {
	for _, who := range by.clients {
		for _, w := range wrongSignInWindows {
			limit := g.rows[w.name]
			if wait := g.exact.KnownRefusal(who, limit.Limit); limit.N > 0 && wait > 0 {
				return g.refuse(ctx, limit, fault.RateLimited, wait)
			}
		}
		if err := g.count(ctx, g.rows[signIn], who, fault.RateLimited, answer); err != nil {
			return err
		}
	}
	return nil
}

// CountWrongSignIn counts an attempt with a wrong password for each client of the
// attempter. Fault: rate_limited (429) if a client has made too many wrong attempts.
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

// CountMailedLink counts a mail with a link to choose a password. For an unknown browser, the mail counts by client
// address and by account, together with the mails for all other unknown browsers. A known browser has its own count.
// Wrong attempts to sign in do not block these mails. Fault: rate_limited (429) if a count has reached its limit.
func (g *Gate) CountMailedLink(ctx context.Context, by Attempter, answer server.Header) error {
	last := len(by.clients) - 1
	for _, network := range by.clients[:last] {
		if err := g.count(ctx, g.rows[signIn], network, fault.RateLimited, answer); err != nil {
			return err
		}
	}
	return g.count(ctx, g.rows[mailedLink], by.clients[last], fault.RateLimited, answer)
}

// CountSignUp counts a mail with a link to create an account, as [Gate.CountMailedLink] does. It also counts the mail by
// client address in a longer window, because such a mail may go to an address that has no account. Fault: rate_limited
// (429) if a count has reached its limit.
func (g *Gate) CountSignUp(ctx context.Context, client netip.Addr, account string, answer server.Header) error {
	if err := g.count(ctx, g.rows[signUp], ratelimit.Address(client), fault.RateLimited, answer); err != nil {
		return err
	}
	return g.CountMailedLink(ctx, UnknownBrowser(client, account), answer)
}

// CountInvitation counts a mail that invites a person to the given account, whether the account exists or not. Fault:
// rate_limited (429) if the account has received too many invitations.
func (g *Gate) CountInvitation(ctx context.Context, account string) error {
	return g.count(ctx, g.rows[invitation], ratelimit.ID("account "+account), fault.RateLimited, http.Header{})
}

// CountAccountNotice counts a mail that informs a person about a change of the given account. The argument `subject`
// names the kind of change. Each kind has its own count, so that mails about one kind never block mails about another
// kind. Fault: rate_limited (429) if the account has received too many mails of this kind.
func (g *Gate) CountAccountNotice(ctx context.Context, account, subject string) error {
	who := ratelimit.ID("account " + account + " notice " + subject)
	return g.count(ctx, g.rows[accountNotice], who, fault.RateLimited, http.Header{})
}

// CountTestMessage counts a test message that a person sends to the address of the given account. Fault: rate_limited
// (429) if the account has received too many test messages.
func (g *Gate) CountTestMessage(ctx context.Context, account string) error {
	return g.count(ctx, g.rows[testMessage], ratelimit.ID("account "+account), fault.RateLimited, http.Header{})
}

// CountBusinessInvitation counts an invitation that the given business sends. The invitations to all recipients count
// together. Fault: rate_limited (429) if the business has sent too many invitations.
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
