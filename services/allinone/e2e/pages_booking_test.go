package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// publishSalon publishes a salon with two members. The pairs in change replace texts of its manifest.
func (p *pages) publishSalon(t *testing.T, slug string, change ...string) {
	t.Helper()
	manifest := strings.Replace(buildSalon(slug, 2), "languages: [en]", "languages: [en, ar, ja]", 1)
	p.publish(t, slug, strings.NewReplacer(change...).Replace(manifest))
}

// fillContact fills in the customer's contact data.
func fillContact(v *visitor.Visitor) {
	v.FillElement("input[name=name]", "Zoë Example")
	v.FillElement("input[name=email]", "zoe@example.com")
	v.FillElement("input[name=phone]", "+351 210 000 000")
}

// goToDetails goes to the form for the contact data, without a preferred member, at ten on the first free day.
func (p *pages) goToDetails(v *visitor.Visitor, slug string) {
	v.Go(p.PublicURL + "/b/" + slug)
	v.Press("Cut")
	v.PressElement(".day[href]")
	v.Press("10:00")
	v.ExpectText("Your details")
}

// countLiveBookings returns the number of bookings of a business that are not cancelled.
func (p *pages) countLiveBookings(t *testing.T, slug string) int {
	t.Helper()
	return p.countBookings(t, slug)
}

// bookInEveryWay books on each kind of device and checks every page.
func (p *pages) bookInEveryWay(t *testing.T) {
	t.Parallel()
	for name, profile := range map[string]visitor.Profile{
		"phone": {Locale: "en-GB"}, "desk-dark": {Locale: "en-GB", Width: 1280, Dark: true},
		"plain": {Locale: "en-GB", NoScript: true}, "ar": {Locale: "ar"},
		"ja": {Locale: "ja", Width: 1280}, "zoomed": {Locale: "en-GB", Width: 1280, Zoom: 200, NoRules: true},
		"slow": {Locale: "en-GB", Slow: true}, "slow-desk": {Locale: "ar", Width: 1280, Slow: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.publishSalon(t, "ways-"+name, "name: Salon", "name: Harbour Hair", "Member 0", "Inês", "Member 1",
				"Tomás",
				"name: Wash", "name: Wash and blow-dry",
				"modules: {", "page: {accent: \"#0b6e4f\"}\nmodules: {")
			v := p.openVisitor(t, profile)
			checkStep := func(step, selector string) {
				v.ExpectElement(selector)
				v.Check()
				v.SaveScreenshot(name + "-" + step)
			}
			v.Go(p.PublicURL + "/b/ways-" + name)
			checkStep("1-what", "main .card")
			v.PressElement("main .cover")
			checkStep("3-when", "main .pill")
			v.PressElement("main .pill")
			checkStep("4-details", "input[name=email]")
			fillContact(v)
			v.PressElement("button[type=submit]")
			checkStep("5-done", "main .facts")
			if !strings.Contains(v.Address(), "/m/") || !strings.Contains(v.Text(), "Cut") {
				t.Errorf("the visit ends at %s:\n%s", v.Address(), v.Text())
			}
		})
	}
}

// bookImpatiently sends a form twice, goes back and sends it again. The platform makes one booking.
func (p *pages) bookImpatiently(t *testing.T) {
	t.Parallel()
	p.publishSalon(t, "impatient")
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	p.goToDetails(v, "impatient")
	fillContact(v)
	v.PressTwice("Book with obligation to pay")
	v.ExpectText("Booking request received", "Member 0")
	v.Back()
	v.ExpectText("Your details")
	v.Press("Book with obligation to pay")
	v.ExpectText("Booking request received")
	if n := p.countLiveBookings(t, "impatient"); n != 1 {
		t.Errorf("%d bookings of one form", n)
	}
}

// bookInTwoTabs books one member's slot in two windows at the same time. The second window keeps the contact data and
// books another start.
func (p *pages) bookInTwoTabs(t *testing.T) {
	t.Parallel()
	p.publishSalon(t, "tabs", "staff: [s0, s1]", "staff: [s0]")
	first, second := p.openVisitor(t, visitor.Profile{Locale: "en-GB"}),
		p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	for _, v := range []*visitor.Visitor{first, second} {
		v.Go(p.PublicURL + "/b/tabs")
		v.Press("Cut")
		v.PressElement(".day[href]")
		v.Press("10:00")
		fillContact(v)
	}
	first.Press("Book with obligation to pay")
	first.ExpectText("Booking request received", "10:00 – 10:45")
	second.Press("Book with obligation to pay")
	second.ExpectText("Someone just took 10:00. Pick another time")
	second.Check()
	second.SaveScreenshot("taken")
	if stored := second.FieldValue("Email"); stored != "zoe@example.com" {
		t.Errorf("the e-mail is %q", stored)
	}
	second.PressElement("button[name=pick]")
	second.Await("nothing is wrong any more", `!document.querySelector("[role=alert]")`)
	second.Press("Book with obligation to pay")
	second.ExpectText("Booking request received")
	if n := p.countLiveBookings(t, "tabs"); n != 2 {
		t.Errorf("%d bookings, want 2", n)
	}
}

// bookWhileOfferChanges changes the business while a customer fills in the form: first the price rises, then online
// bookings pause.
func (p *pages) bookWhileOfferChanges(t *testing.T) {
	t.Parallel()
	p.publishSalon(t, "changing")
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	p.goToDetails(v, "changing")
	v.ExpectText("€40.00")
	fillContact(v)
	v.FillElement("input[name=email]", "nobody")
	v.Press("Book with obligation to pay") // the browser rejects the address
	v.ExpectText("Your details")
	fillContact(v)
	p.publishSalon(t, "changing", "price: 40.00", "price: 45.00")
	v.Press("Book with obligation to pay")
	v.ExpectText("€45.00")
	v.Check()
	v.SaveScreenshot("price-changed")
	if n := p.countLiveBookings(t, "changing"); n != 0 {
		t.Errorf("%d bookings have a price that no customer saw", n)
	}
	p.publishSalon(t, "changing", "price: 40.00", "price: 45.00", "bookings: {",
		"bookings: {paused_until: 2027-03-02, ")
	v.Press("Book with obligation to pay")
	v.ExpectText("paused until")
	v.Check()
	if n := p.countLiveBookings(t, "changing"); n != 0 {
		t.Errorf("%d bookings in a pause", n)
	}
}

// bookByKeyboard books without a pointer.
func (p *pages) bookByKeyboard(t *testing.T) {
	t.Parallel()
	p.publishSalon(t, "keyboard")
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(p.PublicURL + "/b/keyboard")
	for _, press := range []string{"Cut", "Member 1", "Tue 2", "11:00"} {
		v.ExpectText(map[string]string{"Member 1": "Choose a time", "Tue 2": "Monday, 1 March",
			"11:00": "Tuesday, 2 March"}[press])
		v.Tab(press)
		v.PressKeys(kb.Enter)
	}
	v.ExpectText("Your details")
	for label, text := range map[string]string{"Name": "Zoë", "Email": "zoe@example.com"} {
		v.Tab(label)
		v.PressKeys(text)
	}
	v.Tab("Book with obligation to pay")
	v.PressKeys(kb.Enter)
	v.ExpectText("Booking request received", "Member 1", "11:00 – 11:45")
}

// checkUnknownAvailability stops booking and checks that the page reports unknown availability, not a full day.
func (p *pages) checkUnknownAvailability(t *testing.T) {
	p.publishSalon(t, "unknown")
	if err := p.StopService("booking"); err != nil {
		t.Fatal(err)
	}
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	v.Go(p.PublicURL + "/b/unknown")
	v.Press("Cut")
	v.ExpectText("be checked right now")
	v.Check()
	v.SaveScreenshot("unknown")
}

// wholeFrame is a condition in a frame: the frame shows its whole page.
const wholeFrame = `Math.abs(innerHeight - document.documentElement.getBoundingClientRect().height) <= 1`

// bookEmbedded books in a frame of another site. The site gets a message about the booking.
func (p *pages) bookEmbedded(t *testing.T) {
	t.Parallel()
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	v.Go(p.listedSite + "/inline")
	for _, press := range []string{"main .cover", "main .pill"} {
		v.InFrame("/b/parlour", func() {
			v.ExpectElement(press)
			v.Await("the frame is as high as its page", wholeFrame) // before, it could move under the pointer
			v.PressElement(press)
		})
	}
	v.InFrame("/details", func() {
		v.ExpectElement("input[name=email]")
		v.Await("the frame is as high as its page", wholeFrame)
		v.Await("what the site knows stands there",
			`document.querySelector("input[name=name]").value === "Ada Example"`)
		v.FillElement("input[name=email]", "ada@example.com")
		v.Press("Book with obligation to pay")
	})
	v.InFrame("/m/", func() { v.ExpectText("Cut") })
	v.Await("the site hears of the booking", `heard.some(m => m.startsWith("slotmesh:booked"))`)
}

// checkNoSecrets checks that a page contains no secret of the platform.
func (p *pages) checkNoSecrets(t *testing.T) {
	t.Parallel()
	p.publishSalon(t, "strangers")
	a := p.do(t, http.MethodGet, p.PublicURL+"/b/strangers", nil, nil)
	if strings.Contains(string(a.body), p.key) || strings.Contains(string(a.body), p.AdminToken) ||
		strings.Contains(string(a.body), p.PeerSecrets["pages"]) {
		t.Error("a secret is in the page")
	}
}
