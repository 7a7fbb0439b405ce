package e2e

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// Owners find what was written to a customer, read it and go to what it is about.
func TestOwnersReadWhatWasSentInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{world: start(t), chromium: visitor.Open(t)}
	looks := map[string]visitor.As{"phone": {Locale: "en-GB"}, "dark": {Locale: "en-GB", Width: 1280, Dark: true},
		"ar": {Locale: "ar", Width: 1280}}
	offices := map[string]*office{}
	for name := range looks {
		offices[name] = p.open(t, "mails-"+name)
	}
	p.world.awaitMails(t, 4*len(looks))
	for name, as := range looks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := offices[name]
			v := o.signIn(t, "manager", as)
			look := func(step, selector string) {
				v.Finds(selector)
				v.Whole()
				v.Check()
				v.Keep("messages-" + name + "-" + step)
			}
			v.Go(o.at("/messages?kind=reminder"))
			look("none", ".empty")
			v.Go(o.at("/messages?kind=booking_received"))
			look("list", ".row .cover")
			v.Sees("ada@example.com")
			v.PressThe(".row .cover")
			look("one", ".letter")
			v.PressThe(`.facts a[href*="/messages?about="]`)
			v.Until("one is listed",
				`document.querySelectorAll(".row").length === 1 && location.search.includes("about=")`)
			v.PressThe(".row .cover")
			v.Finds(".letter")
			v.PressThe(`.facts a[href*="/bookings/"]`)
			v.Finds(".drawer .history")
			if at := v.Address(); !strings.Contains(at, "/bookings/") {
				t.Errorf("the message leads to %s", at)
			}
		})
	}
	offices["phone"].mayNot(t, "viewer", "/messages")
}
