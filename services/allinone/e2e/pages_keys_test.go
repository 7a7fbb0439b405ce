package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// onlyFilledAction is a condition: exactly one action is filled with a color, and it has this text.
const onlyFilledAction = `(() => {
	const filled = [...document.querySelectorAll("main .actions .button")].filter(e => getComputedStyle(e).backgroundColor !== "rgba(0, 0, 0, 0)");
	return filled.length === 1 && filled[0].innerText.trim() === %q;
})()`

// buyByKeyboard buys tickets and reserves a kayak by the keyboard alone, at a zoom of 200 %. At the end, the calendar
// is the main action.
func (p *pages) buyByKeyboard(t *testing.T) {
	t.Parallel()
	p.publish(t, "keys-theatre", buildTheatre("keys-theatre", 12, 10, 10, 1))
	p.publish(t, "keys-shed", buildShed("keys-shed"))
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB", Width: 1280, Zoom: 200})
	press := func(name string, keys ...string) {
		v.Tab(name)
		v.PressKeys(keys...)
	}
	finish := func(done string) {
		v.ExpectText("Your details")
		v.Check()
		press("Name", "Zoë")
		press("Email", "zoe@example.com")
		press("Book with obligation to pay", kb.Enter)
		v.ExpectText(done)
		v.Check()
		v.Await("the calendar stands out", fmt.Sprintf(onlyFilledAction, "Add to calendar"))
	}
	v.Go(p.PublicURL + "/b/keys-theatre/events")
	press("Gala", kb.Enter)
	v.ExpectText("Dinner & music.")
	v.Check()
	press("Stalls", "2")
	press("Continue", kb.Enter)
	finish("Your tickets")
	v.ExpectText("2 × Stalls")
	v.Go(p.PublicURL + "/b/keys-shed/rentals")
	press("Kayak", kb.Enter)
	v.ExpectText("March 2027")
	v.Check()
	press("Monday", kb.ArrowRight, kb.Enter)
	v.ExpectText("Tuesday, 2 March 2027")
	press("Duration", "2")
	press("Continue", kb.Enter)
	finish("You’re set: ")
	v.ExpectText("10:00 – 12:00")
}
