package console_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
)

// TestNoticesSkipUnverifiedAddress lets an owner invite the address of another person and sign in by its link.
// Changes of the account or the business then send no mail to that address.
func TestNoticesSkipUnverifiedAddress(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	owner, _ := addTokenAs(t, w, id, access.Owner)
	const victim = "victim@example.com"
	got := w.CallAs(t, owner, "POST", harb+"/members", `{"email":"`+victim+`","role":"owner","mail":false}`)
	session := findSession(t, pressButton(t, w, field(t, got, "link").(string), ""))
	current := ""
	for i := range 5 {
		chosen := fmt.Sprintf("a new long password %d", i)
		got := postForm(t, w, "/account/password", session, url.Values{"current": {current}, "new": {chosen}})
		session, current = findSession(t, got), chosen
	}
	connect(t, w, session, "buy at evil.example", id)
	olga := w.AddSession(t, "olga@example.com", access.Member{BusinessID: id, Role: access.Owner})
	shortenRetention(t, w, owner, 1)
	w.AwaitMail(t, "olga@example.com", 1)
	connect(t, w, olga, "laptop", id)
	w.AwaitMail(t, "olga@example.com", 2)
	if mails := w.Notifications.ListMails(victim); len(mails) > 0 {
		t.Errorf("the stranger got %d mails, among them %+v", len(mails), mails[0])
	}
}

// TestNoticesToOwnersAreLimited shows that an owner gets at most five mails an hour about one kind of change.
func TestNoticesToOwnersAreLimited(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) { c.Limits.SignInsPerMinute = 10 })
	id := publish(t, w)
	owner, _ := addTokenAs(t, w, id, access.Owner)
	w.AddSession(t, "olga@example.com", access.Member{BusinessID: id, Role: access.Owner})
	const most = 5
	shortenRetention(t, w, owner, most+5)
	w.AwaitMail(t, "olga@example.com", most)
	w.Call(t, "PUT", harb, readText(t, w)+"payments: {providers: [stripe], accounts: {stripe: acct_other}}\n",
		"Content-Type", yaml)
	if mail, _ := w.AwaitMail(t, "olga@example.com", most+1); !strings.Contains(mail.Subject,
		"payment account was changed") {
		t.Errorf("mail %d is about something else: %s", most+1, mail.Subject)
	}
}

// shortenRetention sets the retention to 800 days and then to 30 days, `times` times.
func shortenRetention(t *testing.T, w *consoletest.Fixture, owner string, times int) {
	t.Helper()
	text := consoletest.BuildManifest("harbor", "Harbor")
	for range times {
		for _, days := range []string{"800", "30"} {
			if got := w.CallAs(t, owner, "PUT", harb, text+"privacy: {keep_customers_days: "+days+"}\n", "Content-Type",
				yaml); got.Status != 200 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
		}
	}
}

// TestUnverifiedAddressHasNoKnownBrowser lets an owner invite the address of another person and sign in with two
// browsers. Neither browser becomes known, so the address gets no more mailed links than usual.
func TestUnverifiedAddressHasNoKnownBrowser(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.Limits.SignInsPerMinute = 10
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	owner, _ := addTokenAs(t, w, publish(t, w), access.Owner)
	victim := uuid.NewString() + "@example.com"
	const allowed = 3
	answers := map[int]int{}
	for range 2 {
		got := w.CallAs(t, owner, "POST", harb+"/members", `{"email":"`+victim+`","role":"owner","mail":false}`)
		browser := findCookie(pressButton(t, w, field(t, got, "link").(string), ""), "slotmesh-browser")
		for range allowed {
			asked := postForm(t, w, "/sign-in/forgotten", "", url.Values{"email": {victim}},
				"X-Forwarded-For", newAddress(), "Cookie", "slotmesh-browser="+browser)
			answers[asked.Status]++
		}
	}
	if answers[303] != allowed || answers[429] != allowed {
		t.Errorf("links were mailed: %v", answers)
	}
}

// TestEndedSessionMakesNoBrowserKnown shows that a browser does not become known by a session that has already
// ended.
func TestEndedSessionMakesNoBrowserKnown(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	w.AddSession(t, "ana@example.com", access.Member{BusinessID: publish(t, w), Role: access.Owner})
	person, err := w.Store.FindCredentialsByEmail(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	sessions, err := w.Store.ListSessions(t.Context(), person.ID, now)
	if err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	for id, isKnown := range map[uuid.UUID]bool{sessions[0].ID: true, uuid.New(): false} {
		_, hash := secret.New("")
		if err := w.Store.RememberBrowser(t.Context(), hash, person.ID, id, now); err != nil {
			t.Fatal(err)
		}
		if got, err := w.Store.KnowsBrowser(t.Context(), hash, "ana@example.com", now); err != nil || got != isKnown {
			t.Errorf("%t, %v, want %t", got, err, isKnown)
		}
	}
}
