package e2e

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// listMenuScript is a JavaScript expression that returns the texts of the phone's bar.
const listMenuScript = `[...document.querySelectorAll(".tabs > ul > li")].map(e => (e.querySelector("summary") ?? e).innerText.trim())`

// TestOwnersUseMenuOnPhoneInABrowser shows that each role has the bar of its work on a phone, and that the menu New works with and
// without scripts.
func TestOwnersUseMenuOnPhoneInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{platform: sharePlatform(t), chromium: visitor.Open(t)}
	for role, want := range map[string][]string{
		"owner": {"Today", "Calendar", "New", "Customers", "More"}, "desk": {"Today", "Calendar", "New", "Customers", "More"},
		"staff": {"Today", "Calendar", "New", "Bookings", "More"}, "viewer": {"Today", "Calendar", "Bookings", "More"},
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			o := p.openBusiness(t, "bar-"+role)
			v := o.signIn(t, role, visitor.Profile{Locale: "en-GB", NoScript: role == "desk"})
			v.Go(o.buildAddress("/today"))
			if bar := visitor.Eval[[]string](v, listMenuScript); !slices.Equal(bar, want) {
				t.Errorf("the bar is %v, want %v", bar, want)
			}
			v.Check()
			if role != "viewer" {
				o.openNewMenu(t, v, role)
			}
			v.Go(o.buildAddress("/more"))
			v.ExpectElement(".cards.links")
			v.Check()
			v.Go(o.buildAddress("/search"))
			v.ExpectElement("#found .cover")
			v.Check()
			v.SaveScreenshot("bar-" + role + "-search")
		})
	}
}

// openNewMenu opens the menu New of the bar, closes it by the keyboard, and follows an entry.
func (o *ownerSite) openNewMenu(t *testing.T, v *visitor.Visitor, role string) {
	t.Helper()
	v.PressElement(".tabs summary")
	v.ExpectElement(".tabs .new[open]")
	v.Check()
	v.SaveScreenshot("bar-" + role + "-new")
	if role != "desk" { // without scripts, the button alone closes the menu
		v.PressKeys(kb.Escape)
		v.Await("the menu is closed", `!document.querySelector(".tabs .new[open]")`)
		v.PressElement(".tabs summary")
		v.ExpectElement(".tabs .new[open]")
	}
	v.PressElement(`.tabs .new a[href$="/time-off"], .tabs .new a[href$="/bookings/new"]`)
	v.Await("the page of the entry is open", `!location.pathname.endsWith("/today")`)
}
