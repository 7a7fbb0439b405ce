package e2e

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// TestOwnersSearchInABrowser finds a customer with her bookings, and a page by its name.
func TestOwnersSearchInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{platform: sharePlatform(t), chromium: visitor.Open(t)}
	for name, profile := range ownerVisitors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := p.openBusiness(t, "search-"+name)
			v := o.signIn(t, "owner", profile)
			v.Go(o.buildAddress("/calendar"))
			v.Await("scripts have run", `document.readyState === "complete"`)
			for step, words := range map[string]string{"ada": "ada@example.com", "none": "nobody at all"} {
				v.PressKeys("/")
				v.Await("the search has the focus", `document.activeElement?.id === "search"`)
				v.FillElement("#search", words)
				v.PressKeys(kb.Enter)
				v.Await("it was looked for",
					`location.pathname.endsWith("/search") && document.readyState === "complete" && document.querySelector("#search").defaultValue === "`+words+`"`)
				v.Check()
				v.SaveScreenshot("search-" + name + "-" + step)
			}
			v.Go(o.buildAddress("/search?query=ada@example.com"))
			v.PressElement(`a[href*="/customers/one"]`)
			v.ExpectText("ada@example.com")
			if profile.Locale == "en-GB" {
				v.Go(o.buildAddress("/search?query=pause"))
				v.Press("Pause online bookings")
				v.ExpectElement("input[name=until]")
			} else {
				o.useSearchPanel(v)
			}
		})
	}
}

// useSearchPanel finds a service in the panel below the search field, and opens it by the keyboard.
func (o *ownerSite) useSearchPanel(v *visitor.Visitor) {
	v.Go(o.buildAddress("/today"))
	v.Await("scripts have run", `document.readyState === "complete"`)
	v.PressKeys("/")
	v.FillElement("#search", "cut")
	v.Await("the service is found", `!!document.querySelector('#palette a[href$="/offer/services/cut"]')`)
	v.Check()
	v.SaveScreenshot("search-panel")
	v.PressKeys(kb.Escape)
	v.Await("the panel is closed", `!document.querySelector("#palette")`)
	v.FillElement("#search", "wash")
	v.Await("the service is found", `!!document.querySelector('#palette a[href$="/offer/services/wash"]')`)
	v.PressKeys(kb.ArrowDown, kb.Enter)
	v.ExpectElement(`form.offer [name="price"]`)
}
