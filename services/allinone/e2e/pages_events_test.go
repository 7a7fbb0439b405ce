package e2e

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// findTierField returns the name of the field for the number of tickets of a tier.
func (s pageAnswer) findTierField(t *testing.T, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<label for="(n-[0-9a-f-]+)">\s*<span class="tier"><bdi>` + name +
		`</bdi>`).FindStringSubmatch(s.text)
	if found == nil {
		t.Fatalf("%d: no tickets called %s in %s", s.status, name, s.text)
	}
	return found[1]
}

// followLink opens the first link of a page that matches a pattern, and returns its address and page.
func (w *platform) followLink(t *testing.T, page pageAnswer, link string) (string, pageAnswer) {
	t.Helper()
	found := regexp.MustCompile(`href="(` + link + `[^"]*)"`).FindStringSubmatch(page.text)
	if found == nil {
		t.Fatalf("%d: no link %s in %s", page.status, link, page.text)
	}
	at := w.PublicURL + html.UnescapeString(found[1])
	return at, w.browse(t, at, nil)
}

// awaitWords reads a page until it contains the words, because services read a published version with a short delay.
func (w *platform) awaitWords(t *testing.T, address, words string) {
	t.Helper()
	var last pageAnswer
	for range 1000 {
		if last = w.browse(t, address, nil); strings.Contains(last.text, words) {
			return
		}
	}
	t.Fatalf("the page never says %q: %s", words, last.text)
}

// countSoldTickets returns the number of sold tickets of the first event.
func (w *platform) countSoldTickets(t *testing.T, slug string, seats int) int {
	t.Helper()
	return seats - w.listEvents(t, slug+"/events").listRemainders()[0]
}

// TestEventPageSellsTicketsWithoutScripts follows every link and form from the list of events to the customer's page,
// without scripts. The first two pages have metadata for search engines.
func TestEventPageSellsTicketsWithoutScripts(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "theatre-links", buildTheatre("theatre-links", 12, 10, 10, 1))
	first := w.browse(t, w.PublicURL+"/b/theatre-links", nil)
	if first.status != http.StatusSeeOther || first.location != "/b/theatre-links/events" {
		t.Fatalf("a business that has nothing but events leads to %q: %d", first.location, first.status)
	}
	list := w.browse(t, w.PublicURL+first.location, nil)
	list.checkPage(t, "list", http.StatusOK, "Gala", "Sat 3 Apr, 20:00", "Matinee", "5 left",
		`<link rel="canonical" href="`+w.PublicURL+`/b/theatre-links/events"`, `hreflang="ja" href="`+w.PublicURL+
			`/b/theatre-links/events?lang=ja"`, `"@type":"Event"`)
	for _, hidden := range []string{"Private", "Past"} {
		if strings.Contains(list.text, hidden) {
			t.Errorf("%s is listed", hidden)
		}
	}
	address, event := w.followLink(t, list, "/b/theatre-links/events/")
	event.checkPage(t, "event", http.StatusOK, "Gala", "20:00 – 00:30", "Dinner &amp; music.", "€71.00", "€115.00",
		"Free",
		"1 left",
		`"startDate":"2027-04-03T20:00:00+01:00"`, `"endDate":"2027-04-04T00:30:00+01:00"`,
		`"price":71.00,"priceCurrency":"EUR"`, `"availability":"https://schema.org/LimitedAvailability"`)
	wanted := url.Values{event.findTierField(t, "Stalls"): {"2"}, event.findTierField(t, "Circle"): {"1"}}
	w.browse(t, address+"/details", nil).checkPage(t, "none chosen", http.StatusUnprocessableEntity,
		"at least one ticket")
	at := address + "/details?" + wanted.Encode()
	details := w.browse(t, at, nil)
	details.checkPage(t, "details", http.StatusOK, "2 × Stalls", "€142.00", "1 × Circle", "€115.00", "€257.00",
		"Pay when you arrive")
	wrong := details.fillForm(t, contactForm)
	wrong.Set("email", "zoe")
	second := w.browse(t, at, wrong)
	second.checkPage(t, "a wrong address", http.StatusUnprocessableEntity, "like name@example.com",
		`value="Zoë &lt;b&gt;"`, `value="zoe"`, "2 × Stalls")
	bought := w.browse(t, at, second.fillForm(t, contactForm))
	if bought.status != http.StatusSeeOther || !strings.HasPrefix(bought.location, w.PublicURL+"/m/") {
		t.Fatalf("bought: %d to %q: %s", bought.status, bought.location, bought.text)
	}
	w.browse(t, bought.location, nil).checkPage(t, "the customer's page", http.StatusOK, "Your tickets", "Gala",
		"2 × Stalls", "1 × Circle", `data-told="booked"`, "€257.00")
	if n := w.countSoldTickets(t, "theatre-links", 12); n != 3 {
		t.Errorf("%d tickets are sold, want 3", n)
	}
}

// TestTicketFormBuysOnceAndOnlyAsShown sends one form many times, which buys once. Forged forms, and forms with
// another price than shown, buy nothing.
func TestTicketFormBuysOnceAndOnlyAsShown(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "theatre-once", buildTheatre("theatre-once", 12, 10, 10, 1))
	address, event := w.followLink(t, w.browse(t, w.PublicURL+"/b/theatre-once/events", nil), "/b/theatre-once/events/")
	at := address + "/details?" + url.Values{event.findTierField(t, "Stalls"): {"2"}}.Encode()
	page := w.browse(t, at, nil)
	for name, change := range map[string]func(url.Values){
		"no token": func(f url.Values) {
			f.Del("token")
		}, "a made up token": func(f url.Values) { f.Set("token", f.Get("token")+"A") },
		"the trap": func(f url.Values) {
			f.Set("website", "https://spam.example")
		}, "no name": func(f url.Values) { f.Set("name", " ") },
		"no address": func(f url.Values) { f.Set("email", "") },
	} {
		form := page.fillForm(t, contactForm)
		change(form)
		if answer := w.browse(t, at, form); answer.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, answer.status)
		}
	}
	cheaper := page.fillForm(t, contactForm)
	cheaper.Set("total", "1.00")
	w.browse(t, at, cheaper).checkPage(t, "another price", http.StatusConflict, "The price is now €142.00")
	w.browse(t, at, page.fillForm(t, contactForm), "Sec-Fetch-Site", "cross-site").checkPage(t, "another site",
		http.StatusForbidden)
	if n := w.countSoldTickets(t, "theatre-once", 12); n != 0 {
		t.Errorf("%d tickets were sold", n)
	}
	form := page.fillForm(t, contactForm)
	var wg sync.WaitGroup
	links := make([]string, 6)
	for i := range links {
		wg.Go(func() { links[i] = w.browse(t, at, form).location })
	}
	wg.Wait()
	for _, link := range links {
		if link != links[0] || !strings.HasPrefix(link, w.PublicURL+"/m/") {
			t.Errorf("the clicks lead to %q", links)
			break
		}
	}
	if n := w.countSoldTickets(t, "theatre-once", 12); n != 2 {
		t.Errorf("%d tickets are sold, want 2", n)
	}
}

// TestTicketFormReportsConcurrentChanges sends forms after tickets were sold, or the offer was changed, paused or
// removed. The page reports the change and keeps the contact data.
func TestTicketFormReportsConcurrentChanges(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	manifest := buildTheatre("theatre", 12, 3, 10, 1)
	w.publish(t, "theatre", manifest)
	address, event := w.followLink(t, w.browse(t, w.PublicURL+"/b/theatre/events", nil), "/b/theatre/events/")
	stalls := event.findTierField(t, "Stalls")
	at := address + "/details?" + url.Values{stalls: {"3"}}.Encode()
	form := w.browse(t, at, nil).fillForm(t, contactForm)
	other := address + "/details?" + url.Values{stalls: {"2"}}.Encode()
	if bought := w.browse(t, other,
		w.browse(t, other, nil).fillForm(t, contactForm)); bought.status != http.StatusSeeOther {
		t.Fatalf("another customer: %d %s", bought.status, bought.text)
	}
	w.browse(t, at, nil).checkPage(t, "an old link", http.StatusConflict, "Fewer tickets are left", "1 left")
	fewer := w.browse(t, at, form)
	fewer.checkPage(t, "sold meanwhile", http.StatusConflict, "Fewer tickets are left", "1 left",
		`<option value="1" selected`)
	fewer.checkCustomerKept(t)
	next := fewer.fillForm(t, contactForm)
	next.Set(stalls, "1")
	if bought := w.browse(t, at, next); bought.status != http.StatusSeeOther {
		t.Errorf("an order of the remaining tickets: %d %s", bought.status, bought.text)
	}
	circle := address + "/details?" + url.Values{event.findTierField(t, "Circle"): {"1"}}.Encode()
	form = w.browse(t, circle, nil).fillForm(t, contactForm)
	w.publish(t, "theatre", strings.Replace(manifest, "price: 100.00", "price: 110.00", 1))
	w.awaitWords(t, circle, "€126.00")
	dearer := w.browse(t, circle, form)
	dearer.checkPage(t, "price changed", http.StatusConflict, "The price is now €126.00")
	dearer.checkCustomerKept(t)
	w.publish(t, "theatre", manifest+"bookings: {paused_until: 2027-03-08}\n")
	if paused := w.browse(t, circle, form); !strings.Contains(paused.text, "paused until") {
		t.Errorf("paused: %d %s", paused.status, paused.text)
	}
	w.publish(t, "theatre", strings.Replace(manifest, "key: gala", "key: opera", 1))
	w.awaitWords(t, circle, "no longer available")
	if removed := w.browse(t, circle, form); removed.status == http.StatusSeeOther || !strings.Contains(removed.text,
		"no longer available") {
		t.Errorf("a removed event: %d %s", removed.status, removed.text)
	}
	if n := w.countSoldTickets(t, "theatre", 12); n != 0 {
		t.Errorf("%d tickets of the other event are sold", n)
	}
}

// TestEventPageExplainsRefusals checks the pages of three events. One is sold out, one requires a way of payment that
// the page does not have, and one has an unknown number of tickets. The page offers no form that would be refused.
func TestEventPageExplainsRefusals(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	w.publish(t, "full", buildTheatre("full", 1, 1, 1, 1))
	address, event := w.followLink(t, w.browse(t, w.PublicURL+"/b/full/events", nil), "/b/full/events/")
	at := address + "/details?" + url.Values{event.findTierField(t, "Stalls"): {"1"}}.Encode()
	form := w.browse(t, at, nil).fillForm(t, contactForm)
	if bought := w.browse(t, at, form); bought.status != http.StatusSeeOther {
		t.Fatalf("the last: %d %s", bought.status, bought.text)
	}
	w.browse(t, w.PublicURL+"/b/full/events", nil).checkPage(t, "the list", http.StatusOK, "Sold out")
	over := w.browse(t, address, nil)
	over.checkPage(t, "sold out", http.StatusOK, "Sold out", `"availability":"https://schema.org/SoldOut"`)
	if strings.Contains(over.text, "<form") {
		t.Error("tickets are offered that there are not")
	}
	prepaid := strings.Replace(buildTheatre("prepaid", 9, 9, 9, 9), "modules:",
		"payments: {providers: [stripe], modes: {events: online}}\nmodules:", 1)
	w.publish(t, "prepaid", prepaid)
	_, event = w.followLink(t, w.browse(t, w.PublicURL+"/b/prepaid/events", nil), "/b/prepaid/events/")
	event.checkPage(t, "to be paid online", http.StatusOK, "€71.00", "must be paid in advance")
	if strings.Contains(event.text, "<form") {
		t.Error("tickets are offered that would be refused")
	}
	if err := w.StopService("booking"); err != nil {
		t.Fatal(err)
	}
	unknown := w.browse(t, address, nil)
	unknown.checkPage(t, "booking away", http.StatusOK, "be checked right now")
	if strings.Contains(unknown.text, "Sold out") {
		t.Error("tickets whose number is unknown are shown as sold out")
	}
	lost := w.browse(t, at, w.browse(t, at, nil).fillForm(t, contactForm))
	lost.checkPage(t, "an order then", http.StatusServiceUnavailable, "try again in a moment")
	lost.checkCustomerKept(t)
}

// buyTickets buys tickets on each kind of device and checks every page.
func (p *pages) buyTickets(t *testing.T) {
	t.Parallel()
	for name, profile := range map[string]visitor.Profile{
		"phone": {Locale: "en-GB"}, "desk-dark": {Locale: "en-GB", Width: 1280, Dark: true},
		"plain": {Locale: "en-GB", NoScript: true},
		"ar":    {Locale: "ar"}, "ja": {Locale: "ja", Width: 1280}, "slow": {Locale: "en-GB", Slow: true},
		"slow-desk": {Locale: "ar", Width: 1280, Slow: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := "gala-" + name
			p.publish(t, slug, buildTheatre(slug, 40, 20, 20, 1))
			v := p.openVisitor(t, profile)
			checkStep := func(step, selector string) {
				v.ExpectElement(selector)
				v.Check()
				v.SaveScreenshot(name + "-event-" + step)
			}
			v.Go(p.PublicURL + "/b/" + slug)
			checkStep("1-list", "main .card")
			v.PressElement("main .cover")
			checkStep("2-event", "main .tiers select")
			v.Choose(".tiers li:nth-child(1) select", 2)
			v.Choose(".tiers li:nth-child(2) select", 1)
			v.PressElement("main button[type=submit]")
			checkStep("3-details", "input[name=email]")
			v.FillElement("input[name=name]", "Zoë Example")
			v.FillElement("input[name=email]", "zoe@example.com")
			v.PressElement("main button[type=submit]")
			checkStep("4-done", "main .facts")
			if !strings.Contains(v.Address(), "/m/") {
				t.Errorf("the visit ends at %s:\n%s", v.Address(), v.Text())
			}
			if n := p.countSoldTickets(t, slug, 40); n != 3 {
				t.Errorf("%d tickets are sold, want 3", n)
			}
		})
	}
}

// buyLastTickets buys the last tickets in two windows. The second window reports that they are sold, keeps the
// contact data, and buys another tier.
func (p *pages) buyLastTickets(t *testing.T) {
	t.Parallel()
	p.publish(t, "last", buildTheatre("last", 40, 2, 20, 1))
	first, second := p.openVisitor(t, visitor.Profile{Locale: "en-GB"}),
		p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	for _, v := range []*visitor.Visitor{first, second} {
		v.Go(p.PublicURL + "/b/last/events")
		v.Press("Gala")
		v.ExpectElement(".tiers select")
		v.Choose(".tiers li:nth-child(1) select", 2)
		v.Press("Continue")
		v.ExpectText("Your details")
		v.FillElement("input[name=name]", "Zoë Example")
		v.FillElement("input[name=email]", "zoe@example.com")
	}
	first.Press("Book with obligation to pay")
	first.ExpectText("Your tickets", "2 × Stalls")
	second.Press("Book with obligation to pay")
	second.ExpectText("Fewer tickets are left", "Sold out")
	second.Check()
	second.SaveScreenshot("tickets-gone")
	if stored := second.FieldValue("Email"); stored != "zoe@example.com" {
		t.Errorf("the e-mail is %q", stored)
	}
	second.Choose(".tiers li:nth-child(2) select", 1)
	second.PressElement("main button[type=submit]") // at a price that was not shown yet
	second.ExpectText("The price is now €115.00")
	second.Press("Book with obligation to pay")
	second.ExpectText("Your tickets", "1 × Circle")
}

// buildPaidTheatre returns the manifest of a theatre whose tickets are paid online, by the payment mode.
func buildPaidTheatre(slug, mode string) string {
	return strings.Replace(buildTheatre(slug, 40, 20, 20, 1), "modules:",
		"payments: {providers: [stripe], accounts: {stripe: acct_"+slug+"}, modes: {events: "+mode+"}}\n"+
			"self_service: {cancel_until_hours: 0}\ncancellation_policy:\n  - {hours_before: 24, refund_percent: 100}\nmodules:", 1)
}

// TestTicketFormFollowsPaymentMode buys tickets in each payment mode. The form leads to the provider's page if a
// payment is due online, and to the customer's page otherwise.
func TestTicketFormFollowsPaymentMode(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	provider := startStripe(t).URL + "/"
	for _, c := range []struct{ slug, mode, tier, pay, leads string }{
		{"tickets-online", "online", "Stalls", "", provider}, {"tickets-free", "online", "Box", "", "/m/"},
		{"tickets-choice", "customer_choice", "Stalls", "online", provider},
		{"tickets-door", "customer_choice", "Stalls", "at_door", "/m/"},
		{"tickets-later", "at_door", "Stalls", "", "/m/"},
	} {
		w.publish(t, c.slug, buildPaidTheatre(c.slug, c.mode))
		address, event := w.followLink(t, w.browse(t, w.PublicURL+"/b/"+c.slug+"/events", nil), "/b/"+c.slug+"/events/")
		at := address + "/details?" + url.Values{event.findTierField(t, c.tier): {"1"}}.Encode()
		page := w.browse(t, at, nil)
		if asks := strings.Contains(page.text, `name="pay"`); asks != (c.pay != "") {
			t.Errorf("%s: the form asks how it is paid: %v", c.slug, asks)
		}
		form := page.fillForm(t, contactForm)
		form.Set("pay", c.pay)
		if bought := w.browse(t, at, form); bought.status != http.StatusSeeOther ||
			!strings.HasPrefix(strings.TrimPrefix(bought.location, w.PublicURL), c.leads) {
			t.Errorf("%s: %d to %q: %s", c.slug, bought.status, bought.location, bought.text)
		}
	}
}

// payTickets leaves the payment page, pays later by the link, and cancels for a full refund.
func (p *pages) payTickets(t *testing.T) {
	t.Parallel()
	p.publish(t, "paid-gala", buildPaidTheatre("paid-gala", "online"))
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	v.Go(p.PublicURL + "/b/paid-gala/events")
	v.Press("Gala")
	v.ExpectElement(".tiers select")
	v.Choose(".tiers li:nth-child(1) select", 2)
	v.Press("Continue")
	v.ExpectText("Your details", "Pay €142.00")
	v.Check()
	v.FillElement("input[name=name]", "Zoë Example")
	v.FillElement("input[name=email]", "zoe@example.com")
	v.PressElement("main button[type=submit]")
	v.ExpectText("The provider's page")
	v.Press("Give up")
	v.ExpectText("Please pay online to keep your tickets", "2 × Stalls")
	link, _, _ := strings.Cut(v.Address(), "?")
	later := p.openVisitor(t, visitor.Profile{Locale: "en-GB", NoScript: true})
	later.Go(link)
	later.ExpectText("Payment needed", "Please pay online to keep your tickets", "Due now €142.00")
	later.Check()
	later.SaveScreenshot("tickets-to-be-paid")
	later.Press("Pay €142.00")
	later.ExpectText("The provider's page")
	later.Press("Pay")
	later.ExpectText("Your tickets", "Cancel tickets")
	later.ExpectNoText("Due now")
	last := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	last.Go(link + "/cancel")
	last.ExpectText("Cancel these tickets?", "2 × Stalls", "Refund €142.00")
	last.Check()
	last.SaveScreenshot("tickets-cancel")
	last.PressTwice("Cancel tickets")
	last.ExpectText("Tickets cancelled", "Your refund goes back the way you paid")
	last.ExpectNoText("Cancel tickets", "Add to calendar")
	last.Check()
	if n := p.countSoldTickets(t, "paid-gala", 40); n != 0 {
		t.Errorf("%d tickets are still sold", n)
	}
}
