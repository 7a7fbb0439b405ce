package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// TestOwnersReadMessagesInABrowser finds the messages to a customer, reads one, and follows its link to the booking.
func TestOwnersReadMessagesInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{platform: sharePlatform(t), chromium: visitor.Open(t)}
	sites := map[string]*ownerSite{}
	for name := range ownerVisitors {
		sites[name] = p.openBusiness(t, "mails-"+name)
	}
	for _, o := range sites {
		o.awaitMessages(t, 4)
	}
	for name, profile := range ownerVisitors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := sites[name]
			v := o.signIn(t, "manager", profile)
			look := func(step, selector string) {
				v.ExpectElement(selector)
				v.AwaitLoad()
				v.Check()
				v.SaveScreenshot("messages-" + name + "-" + step)
			}
			v.Go(o.buildAddress("/messages?kind=reminder"))
			look("none", ".empty")
			v.Go(o.buildAddress("/messages?kind=booking_received"))
			look("list", ".row .cover")
			v.ExpectText("ada@example.com")
			v.PressElement(".row .cover")
			look("one", ".letter")
			v.PressElement(`.facts a[href*="/messages?about="]`)
			v.Await("one is listed",
				`document.querySelectorAll(".row").length === 1 && location.search.includes("about=")`)
			v.PressElement(".row .cover")
			v.ExpectElement(".letter")
			v.PressElement(`.facts a[href*="/bookings/"]`)
			v.ExpectElement(".drawer .history")
			if at := v.Address(); !strings.Contains(at, "/bookings/") {
				t.Errorf("the message leads to %s", at)
			}
		})
	}
	sites["phone"].checkForbidden(t, "viewer", "/messages")
}

// TestOwnersWriteWordsInABrowser types first sentences of a message. The preview follows, and shows the facts in place
// of the placeholders. The browser's history gets no entry from it. The saved words are shown again.
func TestOwnersWriteWordsInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{platform: sharePlatform(t), chromium: visitor.Open(t)}
	for name, profile := range ownerVisitors {
		o := p.openBusiness(t, "words-"+name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const typed = `textarea[name="notifications.intros.booking_confirmed.text"]`
			v := o.signIn(t, "owner", profile)
			v.Go(o.buildAddress("/offer/words?kind=booking_confirmed"))
			v.InFrame("/offer/words/preview", func() { v.ExpectText("Maria") })
			v.AwaitLoad()
			v.Check()
			before := visitor.Eval[int](v, "history.length")
			for text, want := range map[string]string{"Dear {customer_name}!": "Dear Maria",
				"Your code: {reference}": "Your code: 5A3B-1E00"} {
				visitor.Eval[bool](v, `document.querySelector("iframe.mail").isOld = true`)
				v.FillElement(typed, text)
				v.Await("the preview follows", `!document.querySelector("iframe.mail").isOld`)
				v.InFrame("/offer/words/preview", func() { v.ExpectText(want) })
			}
			if after := visitor.Eval[int](v, "history.length"); after != before {
				t.Errorf("the history has %d entries, before the previews %d", after, before)
			}
			v.SaveScreenshot("words-" + name)
			v.FillElement(typed, "Bring {name}.")
			v.PressElement(`form[data-preview] button:not([formaction])`)
			v.ExpectElement(".field-error")
			v.FillElement(typed, "Bring {reference}.")
			v.PressElement(`form[data-preview] button:not([formaction])`)
			v.Await("the words are saved", `document.querySelector("[role=status]") !== null && `+
				`document.querySelector('`+typed+`').value === "Bring {reference}."`)
		})
	}
}

// awaitMessages waits until at least n messages of the business are written.
func (o *ownerSite) awaitMessages(t *testing.T, n int) {
	t.Helper()
	testkit.WaitUntil(t, "the messages are written", func(context.Context) error {
		var list struct{ Messages []struct{ ID string } }
		o.callAdmin(t, http.MethodGet, "businesses/"+o.slug+"/messages", nil).decode(t, http.StatusOK, &list)
		if len(list.Messages) < n {
			return fmt.Errorf("%d of %d are written", len(list.Messages), n)
		}
		return nil
	})
}
