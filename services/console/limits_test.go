package console_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestAnAddressWithTooManyWrongTokensIsRefusedWhateverItShowsAndOthersAreNot(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.Limits.WrongTokensPerMinute = 3
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	id := testkit.Unique() // the test Redis is shared
	guesser, owner := "2001:db8:"+id[:4]+":"+id[4:8]+"::1", "2001:db8:"+id[8:]+":"+id[:4]+"::1"
	show := func(from, token string) consoletest.Answer {
		return w.Call(t, "GET", "/admin/businesses", "", "X-Forwarded-For", from, "Authorization", "Bearer "+token)
	}
	for range 5 {
		if got := show(guesser, consoletest.Token); got.Status != 200 {
			t.Fatalf("right tokens count: %d %s", got.Status, got.Body)
		}
	}
	for range 3 {
		expect(t, show(guesser, "wrong"), 401, "unauthorized", "not the right one")
	}
	for _, token := range []string{"wrong", consoletest.Token} {
		got := show(guesser, token)
		expect(t, got, 429, "rate_limited", "Rate limit exceeded")
		if got.Header.Get("Retry-After") == "" {
			t.Error("Retry-After is missing")
		}
	}
	if got := show(owner, consoletest.Token); got.Status != 200 {
		t.Errorf("the right token from another address: %d %s", got.Status, got.Body)
	}
}

// Strangers are counted before anything is looked up for them, and their forms are no manifests.
func TestStrangersAtTheDoorAreCountedAndSendNoMoreThanAForm(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.Limits.PublicPerMinute = 2
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	id := testkit.Unique() // the test Redis is shared
	for i, path := range []string{"/sign-in", "/sign-in/link/nobodys", "/device/token"} {
		stranger := "2001:db8:" + id[:4] + ":" + id[4:8] + "::1"
		if i > 0 {
			stranger = "2001:db8:" + id[8:] + ":" + id[i:i+4] + "::1"
		}
		method := "GET"
		if path == "/device/token" {
			method = "POST"
		}
		for n := range 3 {
			got := w.Call(t, method, path, "", "X-Forwarded-For", stranger)
			if refused := got.Status == 429; refused != (n == 2) {
				t.Errorf("request %d to %s: %d", n+1, path, got.Status)
			}
		}
	}
	form := "email=" + strings.Repeat("a", 64<<10)
	got := w.Call(t, "POST", "/sign-in", form, "X-Forwarded-For", "2001:db8::"+id[:4], "Content-Type", "application/x-www-form-urlencoded")
	if got.Status != 413 {
		t.Errorf("a form of %d bytes: %d", len(form), got.Status)
	}
}
