package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// people is a business of a test's own, with two members; change is what its manifest has otherwise, from and to by
// turns.
func (p *pages) people(t *testing.T, slug string, change ...string) {
	t.Helper()
	manifest := strings.Replace(salon(slug, 2), "languages: [en]", "languages: [en, ar, ja]", 1)
	p.publish(t, slug, strings.NewReplacer(change...).Replace(manifest))
}

// fill fills in who books.
func fill(v *visitor.Visitor) {
	v.FillThe("input[name=name]", "Zoë Example")
	v.FillThe("input[name=email]", "zoe@example.com")
	v.FillThe("input[name=phone]", "+351 210 000 000")
}

// toDetails goes on foot to the last question, with who is free and at the first start of a Monday that is listed at
// ten.
func (p *pages) toDetails(v *visitor.Visitor, slug string) {
	v.Go(p.PublicURL + "/b/" + slug)
	v.Press("Cut")
	v.Press("No preference")
	v.PressThe(".day[href]")
	v.Press("10:00")
	v.Sees("Your details")
}

// live are the bookings of a business that are not cancelled.
func (p *pages) live(t *testing.T, slug string) int { t.Helper(); return p.booked(t, slug) }

// everyWay books in each of these ways to come, with every page held against what pages owe.
func (p *pages) everyWay(t *testing.T) {
	t.Parallel()
	for name, as := range map[string]visitor.As{
		"phone": {Locale: "en-GB"}, "desk-dark": {Locale: "en-GB", Width: 1280, Dark: true},
		"plain": {Locale: "en-GB", NoScript: true}, "ar": {Locale: "ar"},
		"ja": {Locale: "ja", Width: 1280}, "zoomed": {Locale: "en-GB", Width: 1280, Zoom: 200, NoRules: true},
		"slow": {Locale: "en-GB", Slow: true}, "slow-desk": {Locale: "ar", Width: 1280, Slow: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.people(t, "ways-"+name, "name: Salon", "name: Harbour Hair", "Member 0", "Inês", "Member 1", "Tomás",
				"name: Wash", "name: Wash and blow-dry",
				"modules: {", "page: {accent: \"#0b6e4f\"}\nmodules: {")
			v := p.visit(t, as)
			seen := func(step, selector string) {
				v.Finds(selector)
				v.Check()
				v.Keep(name + "-" + step)
			}
			v.Go(p.PublicURL + "/b/ways-" + name)
			seen("1-what", "main .card")
			v.PressThe("main .cover")
			seen("2-who", `main .cover[href*="/when?"]`)
			v.PressThe("main .cover")
			seen("3-when", "main .pill")
			v.PressThe("main .pill")
			seen("4-details", "input[name=email]")
			fill(v)
			v.PressThe("button[type=submit]")
			seen("5-done", "main .facts")
			if !strings.Contains(v.Address(), "/m/") || !strings.Contains(v.Text(), "Cut") {
				t.Errorf("it ends at %s:\n%s", v.Address(), v.Text())
			}
		})
	}
}

// impatient presses twice, goes back and presses again: one booking.
func (p *pages) impatient(t *testing.T) {
	t.Parallel()
	p.people(t, "impatient")
	v := p.visit(t, visitor.As{Locale: "en-GB"})
	p.toDetails(v, "impatient")
	fill(v)
	v.PressTwice("Book now")
	v.Sees("Booking request received", "Member 0")
	v.Back()
	v.Sees("Your details")
	v.Press("Book now")
	v.Sees("Booking request received")
	if n := p.live(t, "impatient"); n != 1 {
		t.Errorf("%d bookings of one form", n)
	}
}

// twoTabs book the last free member at the same time: the second is told, keeps what was typed and takes another time.
func (p *pages) twoTabs(t *testing.T) {
	t.Parallel()
	p.people(t, "tabs", "staff: [s0, s1]", "staff: [s0]")
	first, second := p.visit(t, visitor.As{Locale: "en-GB"}), p.visit(t, visitor.As{Locale: "en-GB"})
	for _, v := range []*visitor.Visitor{first, second} {
		v.Go(p.PublicURL + "/b/tabs")
		v.Press("Cut")
		v.PressThe(".day[href]")
		v.Press("10:00")
		fill(v)
	}
	first.Press("Book now")
	first.Sees("Booking request received", "10:00 – 10:45")
	second.Press("Book now")
	second.Sees("just been taken")
	second.Check()
	second.Keep("taken")
	if kept := second.Filled("E-mail"); kept != "zoe@example.com" {
		t.Errorf("the e-mail is %q", kept)
	}
	second.PressThe("button[name=pick]")
	second.Until("nothing is wrong any more", `!document.querySelector("[role=alert]")`)
	second.Press("Book now")
	second.Sees("Booking request received")
	if n := p.live(t, "tabs"); n != 2 {
		t.Errorf("%d bookings, want 2", n)
	}
}

// changing is a business that changes while somebody fills in the form: it costs more, then pauses, then has no such
// service.
func (p *pages) changing(t *testing.T) {
	t.Parallel()
	p.people(t, "changing")
	v := p.visit(t, visitor.As{Locale: "en-GB"})
	p.toDetails(v, "changing")
	v.Sees("€40.00")
	fill(v)
	v.FillThe("input[name=email]", "nobody")
	v.Press("Book now") // the browser itself refuses the address
	v.Sees("Your details")
	fill(v)
	p.people(t, "changing", "price: 40.00", "price: 45.00")
	v.Press("Book now")
	v.Sees("€45.00")
	v.Check()
	v.Keep("price-changed")
	if n := p.live(t, "changing"); n != 0 {
		t.Errorf("%d bookings at a price that nobody saw", n)
	}
	p.people(t, "changing", "price: 40.00", "price: 45.00", "bookings: {", "bookings: {paused_until: 2027-03-02, ")
	v.Press("Book now")
	v.Sees("paused until")
	v.Check()
	if n := p.live(t, "changing"); n != 0 {
		t.Errorf("%d bookings in a pause", n)
	}
}

// byKeyboard books without a pointer.
func (p *pages) byKeyboard(t *testing.T) {
	t.Parallel()
	p.people(t, "keyboard")
	v := p.visit(t, visitor.As{Locale: "en-GB", Width: 1280})
	v.Go(p.PublicURL + "/b/keyboard")
	for _, press := range [][]string{{"Cut", kb.Enter}, {"Member 1", kb.Enter}, {"Monday", kb.ArrowRight, kb.Enter},
		{"11:00", kb.Enter}} {
		v.Sees(map[string]string{"Monday": "March 2027", "11:00": "Tuesday, 2 March"}[press[0]])
		v.Tab(press[0])
		v.Keys(press[1:]...)
	}
	v.Sees("Your details")
	for label, text := range map[string]string{"Name": "Zoë", "E-mail": "zoe@example.com"} {
		v.Tab(label)
		v.Keys(text)
	}
	v.Tab("Book now")
	v.Keys(kb.Enter)
	v.Sees("Booking request received", "Member 1", "11:00 – 11:45")
}

// unknown is asked last: what is occupied cannot be told any more, which is not the same as full.
func (p *pages) unknown(t *testing.T) {
	p.people(t, "unknown")
	if err := p.StopService("booking"); err != nil {
		t.Fatal(err)
	}
	v := p.visit(t, visitor.As{Locale: "en-GB"})
	v.Go(p.PublicURL + "/b/unknown")
	v.Press("Cut")
	v.Press("No preference")
	v.Sees("cannot be checked")
	v.Check()
	v.Keep("unknown")
}

// wholeFrame says, within a frame, that all of its page is in sight.
const wholeFrame = `Math.abs(innerHeight - document.documentElement.getBoundingClientRect().height) <= 1`

// embedded books within another site, which hears of it.
func (p *pages) embedded(t *testing.T) {
	t.Parallel()
	v := p.visit(t, visitor.As{Locale: "en-GB"})
	v.Go(p.listed + "/inline")
	for _, press := range []string{"main .cover", "main .pill"} {
		v.Within("/b/parlour", func() {
			v.Finds(press)
			v.Until("the frame is as high as its page", wholeFrame) // before, it may move under the pointer
			v.PressThe(press)
		})
	}
	v.Within("/details", func() {
		v.Finds("input[name=email]")
		v.Until("the frame is as high as its page", wholeFrame)
		v.Until("what the site knows stands there",
			`document.querySelector("input[name=name]").value === "Ada Example"`)
		v.FillThe("input[name=email]", "ada@example.com")
		v.Press("Book now")
	})
	v.Within("/m/", func() { v.Sees("Cut") })
	v.Until("the site hears of the booking", `heard.some(m => m.startsWith("slotmesh:booked"))`)
}

// The page holds back what is not a visitor's: nothing is booked by it.
func (p *pages) strangers(t *testing.T) {
	t.Parallel()
	p.people(t, "strangers")
	a := p.do(t, http.MethodGet, p.PublicURL+"/b/strangers", nil, nil)
	if strings.Contains(string(a.body), p.key) || strings.Contains(string(a.body), p.AdminToken) ||
		strings.Contains(string(a.body), p.PeerSecrets["pages"]) {
		t.Error("a secret is in the page")
	}
}
