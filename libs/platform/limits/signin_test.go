package limits_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// A client that repeats wrong guesses, each as soon as the limit permits it, has to wait longer and longer.
func TestWrongSignInsExtendWait(t *testing.T) {
	t.Parallel()
	for by, from := range map[string]func(n int) limits.Attempter{
		"address":       func(n int) limits.Attempter { return limits.UnknownBrowser(clientAddress, fmt.Sprint(n)) },
		"account":       func(n int) limits.Attempter { return limits.UnknownBrowser(addressOf(n), "ana") },
		"known browser": func(int) limits.Attempter { return limits.KnownBrowser("ana", "laptop") },
		"session":       func(int) limits.Attempter { return limits.Session("s") },
	} {
		g, manualClock := newGate(readSettings)
		began, guesses := manualClock.Now(), 0
		var waits []time.Duration
		const most = 81
		for manualClock.Now().Sub(began) < 24*time.Hour && guesses <= most {
			attempter := from(guesses + len(waits))
			err := g.CountSignIn(t.Context(), attempter, http.Header{})
			if err == nil {
				guesses++
				err = g.CountWrongSignIn(t.Context(), attempter, http.Header{})
			}
			if err == nil {
				continue
			}
			if !fault.Is(err, fault.RateLimited) {
				t.Fatal(err)
			}
			waits = append(waits, fault.Of(err).RetryAfter)
			manualClock.Advance(fault.Of(err).RetryAfter)
		}
		if guesses > most || len(waits) < 2 {
			t.Errorf("by %s: %d guesses in a day, with the waits %v", by, guesses, waits)
			continue
		}
		for i, longest := range []time.Duration{time.Minute, 15 * time.Minute} {
			if waits[i] > longest || i > 0 && waits[i] <= waits[i-1] {
				t.Errorf("by %s: the waits are %v", by, waits)
			}
		}
		if longest := waits[len(waits)-1]; longest < 12*time.Hour {
			t.Errorf("by %s: the longest wait is %s of %v", by, longest, waits)
		}
	}
}

func TestCorrectSignInsCountPerMinuteOnly(t *testing.T) {
	t.Parallel()
	g, manualClock := newGate(readSettings)
	for range 500 {
		if err := g.CountSignIn(t.Context(), limits.UnknownBrowser(clientAddress, "ana"), http.Header{}); err != nil {
			t.Fatal(err)
		}
		manualClock.Advance(7 * time.Second)
	}
}

// addressOf returns another IPv4 address for each n.
func addressOf(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{198, byte(n >> 16), byte(n >> 8), byte(n)})
}

// A generated attack comes from unknown browsers in any network, including the owner's network. It never blocks the
// owner's known browser, session or mailed link.
func TestUnknownBrowsersDoNotBlockKnownBrowsersAndSessions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		g, manualClock := newGate(readSettings)
		random := rand.New(rand.NewPCG(seed, 1))
		for range 300 {
			unknown := limits.UnknownBrowser(addressOf(random.IntN(50)), "ana")
			if random.IntN(5) == 0 {
				unknown = limits.UnknownBrowser(clientAddress, "ana")
			}
			switch random.IntN(4) {
			case 0:
				_ = g.CountMailedLink(t.Context(), unknown, http.Header{})
			case 1:
				_ = g.CountInvitation(t.Context(), "ana")
			case 2:
				_ = g.CountSignIn(t.Context(), unknown, http.Header{})
			default:
				if g.CountSignIn(t.Context(), unknown, http.Header{}) == nil {
					_ = g.CountWrongSignIn(t.Context(), unknown, http.Header{})
				}
			}
			manualClock.Advance(time.Duration(random.IntN(600)) * time.Second)
		}
		known := limits.KnownBrowser("ana", "laptop")
		for what, err := range map[string]error{
			"known browser": g.CountSignIn(t.Context(), known, http.Header{}),
			"session":       g.CountSignIn(t.Context(), limits.Session("s"), http.Header{}),
			"its mail":      g.CountMailedLink(t.Context(), known, http.Header{}),
		} {
			if err != nil {
				t.Errorf("seed %d: %s: %v", seed, what, err)
			}
		}
	}
}

// Wrong passwords do not block mails. If the limit refuses a mail to an unknown browser, an earlier mail has a link
// that is still valid.
func TestMailedLinksHaveSeparateCount(t *testing.T) {
	t.Parallel()
	g, manualClock := newGate(readSettings)
	for n := range 100 {
		_ = g.CountWrongSignIn(t.Context(), limits.UnknownBrowser(addressOf(n), "ana"), http.Header{})
	}
	mail := func(n int, account string) error {
		return g.CountMailedLink(t.Context(), limits.UnknownBrowser(addressOf(1000+n), account), http.Header{})
	}
	for n := range 3 {
		if err := mail(n, "ana"); err != nil {
			t.Fatal(err)
		}
	}
	if err := mail(3, "ana"); !fault.Is(err, fault.RateLimited) || fault.Of(err).RetryAfter > 30*time.Minute {
		t.Errorf("the fourth in half an hour: %v", err)
	}
	if err := mail(4, "bo"); err != nil {
		t.Errorf("another account's: %v", err)
	}
	manualClock.Advance(30 * time.Minute)
	if err := mail(5, "ana"); err != nil {
		t.Errorf("half an hour later: %v", err)
	}
}

func TestInvitationsHaveSeparateCount(t *testing.T) {
	t.Parallel()
	g, _ := newGate(readSettings)
	for range 5 {
		if err := g.CountInvitation(t.Context(), "ana"); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.CountInvitation(t.Context(), "ana"); !fault.Is(err, fault.RateLimited) {
		t.Errorf("the sixth in an hour: %v", err)
	}
	if err := g.CountMailedLink(t.Context(), limits.UnknownBrowser(clientAddress, "ana"), http.Header{}); err != nil {
		t.Errorf("a mailed link: %v", err)
	}
}

func TestNoticesCountByAccountAndSubject(t *testing.T) {
	t.Parallel()
	g, manualClock := newGate(readSettings)
	for range 5 {
		if err := g.CountAccountNotice(t.Context(), "ana", "password"); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.CountAccountNotice(t.Context(), "ana", "password"); !fault.Is(err, fault.RateLimited) {
		t.Errorf("the sixth in an hour: %v", err)
	}
	for account, subject := range map[string]string{"ana": "programs", "bo": "password"} {
		if err := g.CountAccountNotice(t.Context(), account, subject); err != nil {
			t.Errorf("%s about %s: %v", account, subject, err)
		}
	}
	manualClock.Advance(time.Hour)
	if err := g.CountAccountNotice(t.Context(), "ana", "password"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

func TestTestMessagesCountByAccount(t *testing.T) {
	t.Parallel()
	g, manualClock := newGate(readSettings)
	for range 10 {
		if err := g.CountTestMessage(t.Context(), "ana"); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.CountTestMessage(t.Context(), "ana"); !fault.Is(err, fault.RateLimited) {
		t.Errorf("the eleventh in an hour: %v", err)
	}
	if err := g.CountTestMessage(t.Context(), "bo"); err != nil {
		t.Errorf("another account: %v", err)
	}
	manualClock.Advance(time.Hour)
	if err := g.CountTestMessage(t.Context(), "ana"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

func TestZeroLimitCountsNoAttempts(t *testing.T) {
	t.Parallel()
	g, _ := newGate(limits.Config{Counting: readSettings.Counting})
	for range 100 {
		if err := g.CountSignIn(t.Context(), limits.UnknownBrowser(clientAddress, "ana"), http.Header{}); err != nil {
			t.Fatal(err)
		}
		if err := g.CountWrongSignIn(t.Context(), limits.UnknownBrowser(clientAddress, "ana"), http.Header{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBusinessInvitationsAreLimitedPerHour(t *testing.T) {
	t.Parallel()
	with := readSettings
	with.InvitationsPerHour = 3
	g, manualClock := newGate(with)
	business, other := uuid.New(), uuid.New()
	for range 3 {
		if err := g.CountBusinessInvitation(t.Context(), business); err != nil {
			t.Fatal(err)
		}
	}
	err := g.CountBusinessInvitation(t.Context(), business)
	if !fault.Is(err, fault.RateLimited) || !strings.Contains(fault.Of(err).Sentence, "as many invitations") ||
		fault.Of(err).RetryAfter != time.Hour {
		t.Errorf("the fourth: %v", err)
	}
	if err := g.CountBusinessInvitation(t.Context(), other); err != nil {
		t.Errorf("another business: %v", err)
	}
	manualClock.Advance(time.Hour)
	if err := g.CountBusinessInvitation(t.Context(), business); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}
