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

// tier is the field of how many tickets of a tier are wanted, as the page of the event shows it.
func (s shown) tier(t *testing.T, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<label for="(n-[0-9a-f-]+)">\s*<span class="tier"><bdi>` + name +
		`</bdi>`).FindStringSubmatch(s.text)
	if found == nil {
		t.Fatalf("%d: no tickets called %s in %s", s.status, name, s.text)
	}
	return found[1]
}

// to follows the first link of a page that begins so.
func (w *world) to(t *testing.T, page shown, link string) (string, shown) {
	t.Helper()
	found := regexp.MustCompile(`href="(` + link + `[^"]*)"`).FindStringSubmatch(page.text)
	if found == nil {
		t.Fatalf("%d: no link %s in %s", page.status, link, page.text)
	}
	at := w.PublicURL + html.UnescapeString(found[1])
	return at, w.browse(t, at, nil)
}

// shows reads a page until it has these words: what was published reaches every part in a moment.
func (w *world) shows(t *testing.T, address, words string) {
	t.Helper()
	var last shown
	for range 1000 {
		if last = w.browse(t, address, nil); strings.Contains(last.text, words) {
			return
		}
	}
	t.Fatalf("the page never says %q: %s", words, last.text)
}

// sold is how many tickets of the first event are sold.
func (w *world) sold(t *testing.T, slug string, seats int) int {
	t.Helper()
	return seats - w.events(t, slug+"/events").left()[0]
}

// Every link and form from the list of events to the customer's own page, without a script; search engines are told of
// both.
func TestTicketsAreBoughtByPlainLinksAndForms(t *testing.T) {
	t.Parallel()
	w := shared(t)
	w.publish(t, "theatre-links", theatre("theatre-links", 12, 10, 10, 1))
	first := w.browse(t, w.PublicURL+"/b/theatre-links", nil)
	if first.status != http.StatusSeeOther || first.location != "/b/theatre-links/events" {
		t.Fatalf("a business that has nothing but events leads to %q: %d", first.location, first.status)
	}
	list := w.browse(t, w.PublicURL+first.location, nil)
	list.want(t, "list", http.StatusOK, "Gala", "Saturday, 3 April 2027, 20:00", "Lisbon", "Matinee", "5 left",
		`<link rel="canonical" href="`+w.PublicURL+`/b/theatre-links/events"`, `hreflang="ja" href="`+w.PublicURL+
			`/b/theatre-links/events?lang=ja"`, `"@type":"Event"`)
	for _, hidden := range []string{"Private", "Past"} {
		if strings.Contains(list.text, hidden) {
			t.Errorf("%s is listed", hidden)
		}
	}
	address, event := w.to(t, list, "/b/theatre-links/events/")
	event.want(t, "event", http.StatusOK, "Gala", "20:00 – 00:30", "Dinner &amp; music.", "€71.00", "€115.00", "Free",
		"1 left",
		`"startDate":"2027-04-03T20:00:00+01:00"`, `"endDate":"2027-04-04T00:30:00+01:00"`,
		`"price":71.00,"priceCurrency":"EUR"`, `"availability":"https://schema.org/LimitedAvailability"`)
	wanted := url.Values{event.tier(t, "Stalls"): {"2"}, event.tier(t, "Circle"): {"1"}}
	w.browse(t, address+"/details", nil).want(t, "none chosen", http.StatusUnprocessableEntity, "at least one ticket")
	at := address + "/details?" + wanted.Encode()
	details := w.browse(t, at, nil)
	details.want(t, "details", http.StatusOK, "2 × Stalls", "€142.00", "1 × Circle", "€115.00", "€257.00",
		"You pay on site.")
	wrong := details.filled(t, typed)
	wrong.Set("email", "zoe")
	again := w.browse(t, at, wrong)
	again.want(t, "a wrong address", http.StatusUnprocessableEntity, "such as name@example.com",
		`value="Zoë &lt;b&gt;"`, `value="zoe"`, "2 × Stalls")
	bought := w.browse(t, at, again.filled(t, typed))
	if bought.status != http.StatusSeeOther || !strings.HasPrefix(bought.location, w.PublicURL+"/m/") {
		t.Fatalf("bought: %d to %q: %s", bought.status, bought.location, bought.text)
	}
	w.browse(t, bought.location, nil).want(t, "the customer's page", http.StatusOK, "Your tickets", "Gala",
		"2 × Stalls", "1 × Circle", `data-told="booked"`, "€257.00")
	if n := w.sold(t, "theatre-links", 12); n != 3 {
		t.Errorf("%d tickets are sold, want 3", n)
	}
}

// However often one form is sent, it buys once, and what the page did not show, or no person sent, buys nothing.
func TestAFormBuysTicketsOnceAndOnlyAsItWasShown(t *testing.T) {
	t.Parallel()
	w := shared(t)
	w.publish(t, "theatre-once", theatre("theatre-once", 12, 10, 10, 1))
	address, event := w.to(t, w.browse(t, w.PublicURL+"/b/theatre-once/events", nil), "/b/theatre-once/events/")
	at := address + "/details?" + url.Values{event.tier(t, "Stalls"): {"2"}}.Encode()
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
		form := page.filled(t, typed)
		change(form)
		if answer := w.browse(t, at, form); answer.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, answer.status)
		}
	}
	cheaper := page.filled(t, typed)
	cheaper.Set("total", "1.00")
	w.browse(t, at, cheaper).want(t, "another price", http.StatusConflict, "The price is now €142.00")
	w.browse(t, at, page.filled(t, typed), "Sec-Fetch-Site", "cross-site").want(t, "another site", http.StatusForbidden)
	if n := w.sold(t, "theatre-once", 12); n != 0 {
		t.Errorf("%d tickets were sold", n)
	}
	form := page.filled(t, typed)
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
	if n := w.sold(t, "theatre-once", 12); n != 2 {
		t.Errorf("%d tickets are sold, want 2", n)
	}
}

// What was sold, changed, paused or taken back meanwhile is said where it belongs, and nothing that was typed is lost.
func TestWhatHappensToTicketsMeanwhileIsSaidWithEverythingKept(t *testing.T) {
	t.Parallel()
	w := shared(t)
	manifest := theatre("theatre", 12, 3, 10, 1)
	w.publish(t, "theatre", manifest)
	address, event := w.to(t, w.browse(t, w.PublicURL+"/b/theatre/events", nil), "/b/theatre/events/")
	stalls := event.tier(t, "Stalls")
	at := address + "/details?" + url.Values{stalls: {"3"}}.Encode()
	form := w.browse(t, at, nil).filled(t, typed)
	other := address + "/details?" + url.Values{stalls: {"2"}}.Encode()
	if bought := w.browse(t, other, w.browse(t, other, nil).filled(t, typed)); bought.status != http.StatusSeeOther {
		t.Fatalf("another customer: %d %s", bought.status, bought.text)
	}
	w.browse(t, at, nil).want(t, "an old link", http.StatusConflict, "Fewer tickets are left", "1 left")
	fewer := w.browse(t, at, form)
	fewer.want(t, "sold meanwhile", http.StatusConflict, "Fewer tickets are left", "1 left",
		`<option value="1" selected`)
	fewer.keepsCustomer(t)
	next := fewer.filled(t, typed)
	next.Set(stalls, "1")
	if bought := w.browse(t, at, next); bought.status != http.StatusSeeOther {
		t.Errorf("what is left: %d %s", bought.status, bought.text)
	}
	circle := address + "/details?" + url.Values{event.tier(t, "Circle"): {"1"}}.Encode()
	form = w.browse(t, circle, nil).filled(t, typed)
	w.publish(t, "theatre", strings.Replace(manifest, "price: 100.00", "price: 110.00", 1))
	w.shows(t, circle, "€126.00")
	dearer := w.browse(t, circle, form)
	dearer.want(t, "price changed", http.StatusConflict, "The price is now €126.00")
	dearer.keepsCustomer(t)
	w.publish(t, "theatre", manifest+"bookings: {paused_until: 2027-03-08}\n")
	if paused := w.browse(t, circle, form); !strings.Contains(paused.text, "paused until") {
		t.Errorf("paused: %d %s", paused.status, paused.text)
	}
	w.publish(t, "theatre", strings.Replace(manifest, "key: gala", "key: opera", 1))
	w.shows(t, circle, "no longer offered")
	if gone := w.browse(t, circle, form); gone.status == http.StatusSeeOther || !strings.Contains(gone.text,
		"no longer offered") {
		t.Errorf("gone: %d %s", gone.status, gone.text)
	}
	if n := w.sold(t, "theatre", 12); n != 0 {
		t.Errorf("%d tickets of the other event are sold", n)
	}
}

// What is sold out, cannot be told, or must be paid in a way that the page has not, is said as such, and nothing is
// offered that would be refused.
func TestAnEventSaysWhyItsTicketsAreNotSold(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.publish(t, "full", theatre("full", 1, 1, 1, 1))
	address, event := w.to(t, w.browse(t, w.PublicURL+"/b/full/events", nil), "/b/full/events/")
	at := address + "/details?" + url.Values{event.tier(t, "Stalls"): {"1"}}.Encode()
	form := w.browse(t, at, nil).filled(t, typed)
	if bought := w.browse(t, at, form); bought.status != http.StatusSeeOther {
		t.Fatalf("the last: %d %s", bought.status, bought.text)
	}
	w.browse(t, w.PublicURL+"/b/full/events", nil).want(t, "the list", http.StatusOK, "Sold out")
	over := w.browse(t, address, nil)
	over.want(t, "sold out", http.StatusOK, "Sold out", `"availability":"https://schema.org/SoldOut"`)
	if strings.Contains(over.text, "<form") {
		t.Error("tickets are offered that there are not")
	}
	prepaid := strings.Replace(theatre("prepaid", 9, 9, 9, 9), "modules:",
		"payments: {providers: [stripe], modes: {events: online}}\nmodules:", 1)
	w.publish(t, "prepaid", prepaid)
	_, event = w.to(t, w.browse(t, w.PublicURL+"/b/prepaid/events", nil), "/b/prepaid/events/")
	event.want(t, "to be paid online", http.StatusOK, "€71.00", "arrange it with the business")
	if strings.Contains(event.text, "<form") {
		t.Error("tickets are offered that would be refused")
	}
	if err := w.StopService("booking"); err != nil {
		t.Fatal(err)
	}
	unknown := w.browse(t, address, nil)
	unknown.want(t, "booking away", http.StatusOK, "cannot be checked right now")
	if strings.Contains(unknown.text, "Sold out") {
		t.Error("what cannot be told is said to be sold out")
	}
	lost := w.browse(t, at, w.browse(t, at, nil).filled(t, typed))
	lost.want(t, "an order then", http.StatusServiceUnavailable, "try again in a moment")
	lost.keepsCustomer(t)
}

// evenings are the ways in which people come to buy tickets.
func (p *pages) evenings(t *testing.T) {
	t.Parallel()
	for name, as := range map[string]visitor.As{
		"phone": {Locale: "en-GB"}, "desk-dark": {Locale: "en-GB", Width: 1280, Dark: true},
		"plain": {Locale: "en-GB", NoScript: true},
		"ar":    {Locale: "ar"}, "ja": {Locale: "ja", Width: 1280}, "slow": {Locale: "en-GB", Slow: true},
		"slow-desk": {Locale: "ar", Width: 1280, Slow: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := "gala-" + name
			p.publish(t, slug, theatre(slug, 40, 20, 20, 1))
			v := p.visit(t, as)
			seen := func(step, selector string) {
				v.Finds(selector)
				v.Check()
				v.Keep(name + "-event-" + step)
			}
			v.Go(p.PublicURL + "/b/" + slug)
			seen("1-list", "main .card")
			v.PressThe("main .cover")
			seen("2-event", "main .tiers select")
			v.Choose(".tiers li:nth-child(1) select", 2)
			v.Choose(".tiers li:nth-child(2) select", 1)
			v.PressThe("main button[type=submit]")
			seen("3-details", "input[name=email]")
			v.FillThe("input[name=name]", "Zoë Example")
			v.FillThe("input[name=email]", "zoe@example.com")
			v.PressThe("main button[type=submit]")
			seen("4-done", "main .facts")
			if !strings.Contains(v.Address(), "/m/") {
				t.Errorf("it ends at %s:\n%s", v.Address(), v.Text())
			}
			if n := p.sold(t, slug, 40); n != 3 {
				t.Errorf("%d tickets are sold, want 3", n)
			}
		})
	}
}

// lastTickets are wanted by two at once: the second is told beside the tickets, and takes another kind with all that
// was typed.
func (p *pages) lastTickets(t *testing.T) {
	t.Parallel()
	p.publish(t, "last", theatre("last", 40, 2, 20, 1))
	first, second := p.visit(t, visitor.As{Locale: "en-GB"}), p.visit(t, visitor.As{Locale: "en-GB"})
	for _, v := range []*visitor.Visitor{first, second} {
		v.Go(p.PublicURL + "/b/last/events")
		v.Press("Gala")
		v.Finds(".tiers select")
		v.Choose(".tiers li:nth-child(1) select", 2)
		v.Press("Continue")
		v.Sees("Your details")
		v.FillThe("input[name=name]", "Zoë Example")
		v.FillThe("input[name=email]", "zoe@example.com")
	}
	first.Press("Book now")
	first.Sees("Your tickets", "2 × Stalls")
	second.Press("Book now")
	second.Sees("Fewer tickets are left", "Sold out")
	second.Check()
	second.Keep("tickets-gone")
	if kept := second.Filled("E-mail"); kept != "zoe@example.com" {
		t.Errorf("the e-mail is %q", kept)
	}
	second.Choose(".tiers li:nth-child(2) select", 1)
	second.Press("Book now") // at a price that was not shown yet
	second.Sees("The price is now €115.00")
	second.Press("Book now")
	second.Sees("Your tickets", "1 × Circle")
}

// charging has the theatre's tickets paid online, in this mode.
func charging(slug, mode string) string {
	return strings.Replace(theatre(slug, 40, 20, 20, 1), "modules:",
		"payments: {providers: [stripe], accounts: {stripe: acct_"+slug+"}, modes: {events: "+mode+"}}\n"+
			"self_service: {cancel_until_hours: 0}\ncancellation_policy:\n  - {hours_before: 24, refund_percent: 100}\nmodules:", 1)
}

// Where the business wants it, or the customer does, the form leads to the provider's page; free tickets are bought
// without.
func TestTicketsArePaidWhereTheBusinessOrTheCustomerWants(t *testing.T) {
	t.Parallel()
	w := shared(t)
	provider := startStripe(t).URL + "/"
	for _, c := range []struct{ slug, mode, tier, pay, leads string }{
		{"tickets-online", "online", "Stalls", "", provider}, {"tickets-free", "online", "Box", "", "/m/"},
		{"tickets-choice", "customer_choice", "Stalls", "online", provider},
		{"tickets-door", "customer_choice", "Stalls", "at_door", "/m/"}, {"tickets-later", "at_door", "Stalls", "", "/m/"},
	} {
		w.publish(t, c.slug, charging(c.slug, c.mode))
		address, event := w.to(t, w.browse(t, w.PublicURL+"/b/"+c.slug+"/events", nil), "/b/"+c.slug+"/events/")
		at := address + "/details?" + url.Values{event.tier(t, c.tier): {"1"}}.Encode()
		page := w.browse(t, at, nil)
		if asks := strings.Contains(page.text, `name="pay"`); asks != (c.pay != "") {
			t.Errorf("%s: the form asks how it is paid: %v", c.slug, asks)
		}
		form := page.filled(t, typed)
		form.Set("pay", c.pay)
		if bought := w.browse(t, at, form); bought.status != http.StatusSeeOther ||
			!strings.HasPrefix(strings.TrimPrefix(bought.location, w.PublicURL), c.leads) {
			t.Errorf("%s: %d to %q: %s", c.slug, bought.status, bought.location, bought.text)
		}
	}
}

// payTickets gives up paying, pays by the link, and gives the tickets back for what was paid.
func (p *pages) payTickets(t *testing.T) {
	t.Parallel()
	p.publish(t, "paid-gala", charging("paid-gala", "online"))
	v := p.visit(t, visitor.As{Locale: "en-GB"})
	v.Go(p.PublicURL + "/b/paid-gala/events")
	v.Press("Gala")
	v.Finds(".tiers select")
	v.Choose(".tiers li:nth-child(1) select", 2)
	v.Press("Continue")
	v.Sees("Your details", "Pay €142.00")
	v.Check()
	v.FillThe("input[name=name]", "Zoë Example")
	v.FillThe("input[name=email]", "zoe@example.com")
	v.PressThe("main button[type=submit]")
	v.Sees("The provider's page")
	v.Press("Give up")
	v.Sees("Please pay online to keep your tickets", "2 × Stalls")
	link, _, _ := strings.Cut(v.Address(), "?")
	later := p.visit(t, visitor.As{Locale: "en-GB", NoScript: true})
	later.Go(link)
	later.Sees("Payment needed", "Please pay online to keep your tickets", "To pay now €142.00")
	later.Check()
	later.Keep("tickets-to-be-paid")
	later.Press("Pay €142.00 now")
	later.Sees("The provider's page")
	later.Press("Pay")
	later.Sees("Your tickets", "Cancel tickets")
	later.SeesNot("To pay now")
	last := p.visit(t, visitor.As{Locale: "en-GB"})
	last.Go(link + "/cancel")
	last.Sees("Cancel these tickets?", "2 × Stalls", "Refund €142.00")
	last.Check()
	last.Keep("tickets-cancel")
	last.PressTwice("Cancel tickets")
	last.Sees("Tickets cancelled", "Your refund goes back the way you paid")
	last.SeesNot("Cancel tickets", "Add to calendar")
	last.Check()
	if n := p.sold(t, "paid-gala", 40); n != 0 {
		t.Errorf("%d tickets are still sold", n)
	}
}
