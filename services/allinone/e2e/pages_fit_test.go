package e2e

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// misfitScript is a JavaScript expression that returns a line for each text that does not fit its place: a text outside
// of the window, a clipped text, a text that is longer than its button, and a text that covers another one. It does not
// examine texts that scroll or that stay in sight above others.
const misfitScript = `(() => {
	const seen = [], faults = [], wide = document.documentElement.clientWidth;
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const name = (text) => JSON.stringify(text.trim().slice(0, 40));
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		const of = node.parentElement;
		if (!node.data.trim() || !of.checkVisibility({visibilityProperty: true}) || of.closest("script, option, .unseen, .trap, [hidden]")) continue;
		const range = document.createRange();
		range.selectNodeContents(node);
		const control = of.closest("button, .button, .pill, .go, .chip, .day, .tabs a, th, .variants a > *, label");
		let floats = false, scrolls = false, hidden = false, clip = null;
		for (let e = of; e && e !== document.body; e = e.parentElement) {
			const style = getComputedStyle(e);
			floats ||= style.position === "sticky" || style.position === "fixed";
			hidden ||= style.clipPath !== "none"; // for screen readers only
			scrolls ||= /auto|scroll/.test(style.overflowX);
			if (!scrolls && !clip && /hidden|clip/.test(style.overflowX)) clip = e.getBoundingClientRect();
		}
		for (const r of hidden ? [] : range.getClientRects()) {
			if (r.width < 1 || r.height < 1) continue;
			if (!scrolls && (r.left < -0.5 || r.right > wide + 0.5)) faults.push(name(node.data) + " is outside of the window");
			if (clip && (r.left < clip.left - 1 || r.right > clip.right + 1)) faults.push(name(node.data) + " is clipped");
			const box = control?.getBoundingClientRect();
			if (box && (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1))
				faults.push(name(node.data) + " is longer than its " + control.tagName.toLowerCase() + "." + control.className);
			if (floats || scrolls || of.closest(".own, .pill")) continue;
			for (const s of seen) {
				const width = Math.min(r.right, s.r.right) - Math.max(r.left, s.r.left);
				const height = Math.min(r.bottom, s.r.bottom) - Math.max(r.top, s.r.top);
				if (width > 2 && height > 4 && s.node !== node) faults.push(name(node.data) + " covers " + name(s.node.data));
			}
			seen.push({r, node});
		}
	}
	if (document.documentElement.scrollWidth > wide) faults.push("the page is " + document.documentElement.scrollWidth + " px wide");
	return [...new Set(faults)].join("\n");
})()`

// fitTexts visits the states of the pages at the width of a phone, in languages with long words. Each text must fit its
// place.
func (p *pages) fitTexts(t *testing.T) {
	t.Parallel()
	p.publish(t, "fit-salon", strings.Replace(buildTogetherManifest("fit-salon"), "self_service: {",
		"self_service: {cancel_until_hours: 2, ", 1)+"cancellation_policy:\n"+
		"  - {hours_before: 48, refund_percent: 100}\n  - {hours_before: 24, refund_percent: 50}\n")
	p.publish(t, "fit-theatre", buildTheatre("fit-theatre", 12, 10, 10, 1))
	p.publish(t, "fit-shed", buildShed("fit-shed"))
	services := p.idsByName(t, "fit-salon", "services")
	both := "service=" + services["Cut"] + "&service=" + services["Wash"]
	key := p.createKey(t, "fit-salon", "write")
	for i, language := range []string{"de", "fi", "el", "ru"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			v := p.openVisitor(t, visitor.Profile{Locale: language, NoRules: language != "de"})
			check := func(state string) {
				t.Helper()
				v.AwaitLoad()
				if misfits := visitor.Eval[string](v, misfitScript); misfits != "" {
					t.Errorf("%s:\n%s", state, misfits)
					v.SaveScreenshot("misfit-" + language + "-" + state)
				}
			}
			start := []string{"09:00", "11:00", "13:00", "15:00"}[i]
			book := newOrder(services["Cut"], "2027-03-02", start).withField("locale", language)
			link := p.bookForCustomerLink(t, "fit-salon", key, book)
			rental := p.idsByName(t, "fit-shed", "rentals")["Kayak"]
			event := p.idsByName(t, "fit-theatre", "events")["Gala"]
			for _, page := range []struct{ state, path string }{
				{"host", "/"}, {"unknown", "/b/fit-salon/nothing"}, {"services", "/b/fit-salon"},
				{"cart", "/b/fit-salon?" + both}, {"times", "/b/fit-salon/when?" + both},
				{"month", "/b/fit-salon/when?month=2027-04&" + both},
				{"details", "/b/fit-salon/details?staff=any&date=2027-03-09&time=10:00&" + both},
				{"events", "/b/fit-theatre/events"}, {"event", "/b/fit-theatre/events/" + event},
				{"rentals", "/b/fit-shed/rentals"}, {"rental", "/b/fit-shed/rentals/" + rental},
			} {
				v.Go(p.PublicURL + page.path)
				check(page.state)
				if page.state == "host" || page.state == "cart" { // other tests check the other pages
					v.Check()
				}
				if page.state == "details" {
					visitor.Eval[bool](v, `document.querySelector("form.fields").noValidate = true`)
					v.PressElement("main button[type=submit]") // the form is empty
					v.ExpectElement("[aria-invalid=true]")
					check("wrong")
				}
			}
			for _, below := range []string{"?done=booked&", "/move?", "/cancel?"} {
				v.Go(link + below + "lang=" + language)
				check("link " + strings.Trim(below, "?/&"))
			}
			v.PressElement("main button[type=submit]")
			v.ExpectElement(`.actions a[href*="/when?"]`)
			check("cancelled")
		})
	}
}
