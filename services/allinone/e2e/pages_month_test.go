package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// focusedName is a script that returns the name of the focused element as screen readers read it.
const focusedName = `(e => e.getAttribute("aria-label") || e.innerText)(document.activeElement)`

// useMonthGrid moves through the month by the keyboard (pages.md: the month is an APG grid).
func (p *pages) useMonthGrid(t *testing.T) {
	t.Parallel()
	p.publishSalon(t, "grid")
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB", Width: 1280})
	at := p.PublicURL + "/b/grid/when?staff=any&service=" + p.idsByName(t, "grid", "services")["Cut"]
	v.Go(at)
	v.Press("Show month")
	v.Tab("Monday, 1 March 2027")
	if days := visitor.Eval[int](v, `document.querySelectorAll(".month [tabindex='0']").length`); days != 1 {
		t.Errorf("%d days are reached by Tab, want 1", days)
	}
	if chosen := visitor.Eval[string](v,
		`document.querySelector("[role=grid][aria-labelledby] [aria-selected=true]").innerText`); chosen != "1" {
		t.Errorf("day %q is marked as chosen", chosen)
	}
	for _, step := range []struct{ key, day, says string }{
		{kb.ArrowRight, "Tuesday, 2 March 2027", " times available"},
		{kb.ArrowDown, "Tuesday, 9 March 2027", " times available"},
		{kb.End, "Sunday, 14 March 2027", "Fully booked"},
		{kb.ArrowLeft, "Saturday, 13 March 2027", "Fully booked"},
		{kb.Home, "Monday, 8 March 2027", " times available"},
		{kb.ArrowUp, "Monday, 1 March 2027", " times available"},
		{kb.PageUp, "Monday, 1 March 2027", ""}, // no earlier month can be booked
		{kb.ArrowLeft, "Monday, 1 March 2027", ""},
		{kb.PageDown, "Thursday, 1 April 2027", "Fully booked"},
		{kb.ArrowLeft, "Wednesday, 31 March 2027", " times available"},
		{kb.ArrowDown, "Wednesday, 7 April 2027", " times available"},
	} {
		v.PressKeys(step.key)
		v.Await("the focus is on "+step.day, `(`+focusedName+`).startsWith("`+step.day+`")`)
		if says := visitor.Eval[string](v, focusedName); !strings.Contains(says, step.says) {
			t.Errorf("%s says %q, not %q", step.day, says, step.says)
		}
	}
	v.Check()
	v.SaveScreenshot("month-focus")
	if hint := visitor.Eval[string](v, `document.activeElement.title`); !strings.HasSuffix(hint, " times available") {
		t.Errorf("the title for the pointer is %q", hint)
	}
	v.PressKeys(kb.Enter)
	v.Await("the times of that day are shown",
		`location.search.includes("date=2027-04-07") && document.querySelector("#times h2").innerText.startsWith("Wednesday, 7 April")`)
	arabic := p.openVisitor(t, visitor.Profile{Locale: "ar"})
	arabic.Go(at)
	arabic.PressElement("main > .more > summary")
	arabic.Await("the month is a grid", `!!document.querySelector("[role=grid] .chosen[tabindex='0']")`)
	visitor.Eval[bool](arabic, `(document.querySelector("[role=grid] .chosen").focus(), true)`)
	arabic.PressKeys(kb.ArrowLeft)
	arabic.Await("what is to the left comes next",
		`document.activeElement.innerText.trim() === document.querySelectorAll(".month .day")[1].innerText.trim()`)
	arabic.Check()
}
