package limits_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/limits"
)

// Who guesses on and on, each time as soon as they may, waits longer and longer.
func TestTheWaitGrowsWithWrongSignIns(t *testing.T) {
	t.Parallel()
	for by, from := range map[string]func(n int) (netip.Addr, string){
		"address": func(n int) (netip.Addr, string) { return somebody, fmt.Sprint(n) },
		"account": func(n int) (netip.Addr, string) {
			return netip.AddrFrom4([4]byte{198, 51, byte(n >> 8), byte(n)}), "ana"
		},
	} {
		g, hands := gate(settings)
		began, guesses := hands.Now(), 0
		var waits []time.Duration
		for hands.Now().Sub(began) < 24*time.Hour {
			client, account := from(guesses + len(waits))
			err := g.SignIn(t.Context(), client, account, http.Header{})
			if err == nil {
				guesses++
				err = g.WrongSignIn(t.Context(), client, account, http.Header{})
			}
			if err == nil {
				continue
			}
			if !fault.Is(err, fault.RateLimited) {
				t.Fatal(err)
			}
			waits = append(waits, fault.Of(err).RetryAfter)
			hands.Advance(fault.Of(err).RetryAfter)
		}
		if guesses > 81 {
			t.Errorf("by %s: %d guesses in a day", by, guesses)
		}
		for i, most := range []time.Duration{time.Minute, 15 * time.Minute} {
			if waits[i] > most || i > 0 && waits[i] <= waits[i-1] {
				t.Errorf("by %s: the waits are %v", by, waits)
			}
		}
		if longest := waits[len(waits)-1]; longest < 12*time.Hour {
			t.Errorf("by %s: the longest wait is %s of %v", by, longest, waits)
		}
	}
}

func TestRightSignInsCountByTheMinuteAlone(t *testing.T) {
	t.Parallel()
	g, hands := gate(settings)
	for range 500 {
		if err := g.SignIn(t.Context(), somebody, "ana", http.Header{}); err != nil {
			t.Fatal(err)
		}
		hands.Advance(7 * time.Second)
	}
}

func TestMailsWithALinkAreCountedByAccount(t *testing.T) {
	t.Parallel()
	g, hands := gate(settings)
	mail := func(account string) error { return g.MailedLink(t.Context(), account) }
	for range 5 {
		if err := mail("ana"); err != nil {
			t.Fatal(err)
		}
	}
	if err := mail("ana"); !fault.Is(err, fault.RateLimited) {
		t.Errorf("the sixth in an hour: %v", err)
	}
	if err := mail("bo"); err != nil {
		t.Errorf("somebody else's: %v", err)
	}
	hands.Advance(time.Hour)
	if err := mail("ana"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

func TestWithoutALimitNoAttemptIsCounted(t *testing.T) {
	t.Parallel()
	g, _ := gate(limits.Config{Counting: settings.Counting})
	for range 100 {
		if err := g.SignIn(t.Context(), somebody, "ana", http.Header{}); err != nil {
			t.Fatal(err)
		}
		if err := g.WrongSignIn(t.Context(), somebody, "ana", http.Header{}); err != nil {
			t.Fatal(err)
		}
	}
}
