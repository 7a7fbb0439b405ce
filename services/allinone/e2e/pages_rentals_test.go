package e2e

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// buildShed returns the manifest of a business that rents kayaks by the hour and a bike by the day, for two to five
// days. A kayak requires a vest and can have a dry bag.
func buildShed(slug string) string {
	return `apiVersion: slotmesh/v1
kind: Business
slug: ` + slug + `
name: Boat Shed
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en, ar, ja]
modules: {services: true, events: true, rentals: true}
bookings: {advance_days: 365}
self_service: {cancel_until_hours: 0}
hours: {mon: ["10:00-18:00"], tue: ["10:00-18:00"]}
rentals:
  - key: kayak
    name: Kayak
    description_html: "<p>Single-seat &amp; steady.</p>"
    category: Water
    price: 12.00
    price_type: hourly
    quantity: 6
    units_count: 2
    min_rental_hours: 1
    max_rental_hours: 8
    outside_hours: true
    order: 1
    upsells: [{rental: vest, required: true}, {rental: bag}]
    translations: {ar: {name: كاياك}, ja: {name: カヤック}}
  - {key: vest, name: Life vest, price: 2.00, price_type: daily, quantity: 10, units_count: 10, add_on: true}
  - {key: bag, name: Dry bag, price: 1.00, price_type: daily, quantity: 1, units_count: 1, add_on: true}
  - {key: bike, name: Bike, category: Land, price: 18.00, price_type: daily, quantity: 1, units_count: 1, min_rental_days: 2, max_rental_days: 5, outside_hours: true, order: 2}
  - {key: hidden, name: Hidden, price: 5.00, price_type: daily, units_count: 3, order: 3}
`
}

// openRentalPage returns the address of the page of a rental, and the page.
func (w *platform) openRentalPage(t *testing.T, slug, key string) (string, pageAnswer) {
	t.Helper()
	at := w.PublicURL + "/b/" + slug + "/rentals/" + w.idsByName(t, slug, "rentals")[key]
	return at, w.browse(t, at, nil)
}

// TestRentalPageReservesWithoutScripts follows every link and form from the list of rentals to the customer's page,
// without scripts. The list has metadata for search engines.
func TestRentalPageReservesWithoutScripts(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "shed-links", buildShed("shed-links"))
	list := w.browse(t, w.PublicURL+"/b/shed-links/rentals", nil)
	list.checkPage(t, "list", http.StatusOK, "Water", "Kayak", "€12.00 per hour", "Bike", "€18.00 per day",
		`<link rel="canonical" href="`+w.PublicURL+`/b/shed-links/rentals"`, `hreflang="ar"`, `"@type":"Product"`,
		`"unitCode":"HUR"`)
	for _, hidden := range []string{"Life vest", "Hidden"} {
		if strings.Contains(list.text, hidden) {
			t.Errorf("%s is listed", hidden)
		}
	}
	at, kayak := w.openRentalPage(t, "shed-links", "Kayak")
	kayak.checkPage(t, "kayak", http.StatusOK, "Single-seat &amp; steady.", "March 2027", "Life vest", "required",
		"Dry bag",
		"Times in Lisbon", `value="10:00" selected`)
	// the vest is required, so that only the bag can be chosen
	bags := regexp.MustCompile(`name="extra" value="([^"]*)">`).FindAllStringSubmatch(kayak.text, -1)
	if len(bags) != 1 {
		t.Fatalf("%d extras can be chosen: %s", len(bags), kayak.text)
	}
	bag := bags[0][1]
	wanted := at + "/details?" + url.Values{"from": {"2027-03-02"}, "start": {"10:00"}, "for": {"2"}, "units": {"2"},
		"extra": {bag}}.Encode()
	w.browse(t, wanted, nil).checkPage(t, "two bags, of which there is one", http.StatusConflict,
		"Dry bag: Only 1 unit is available at that time.")
	wanted = strings.Replace(wanted, "&extra="+bag, "", 1)
	wanted = strings.Replace(wanted, "extra="+bag+"&", "", 1)
	details := w.browse(t, wanted, nil)
	details.checkPage(t, "details", http.StatusOK, "Tue 2 Mar, 10:00 – 12:00", "2 × Kayak", "€48.00",
		"2 × Life vest", "€4.00", "€52.00", "Pay when you arrive")
	wrong := details.fillForm(t, contactForm)
	wrong.Set("email", "zoe")
	second := w.browse(t, wanted, wrong)
	second.checkPage(t, "a wrong address", http.StatusUnprocessableEntity, "like name@example.com",
		`value="Zoë &lt;b&gt;"`, `value="zoe"`)
	form := second.fillForm(t, contactForm)
	var wg sync.WaitGroup
	links := make([]string, 6)
	for i := range links {
		wg.Go(func() { links[i] = w.browse(t, wanted, form).location })
	}
	wg.Wait()
	for _, link := range links {
		if link != links[0] || !strings.HasPrefix(link, w.PublicURL+"/m/") {
			t.Fatalf("the clicks lead to %q", links)
		}
	}
	w.browse(t, links[0], nil).checkPage(t, "the customer's page", http.StatusOK, "You’re set: ", "2 × Kayak",
		"2 × Life vest", "€52.00", "10:00 – 12:00", `data-told="booked"`)
	late := at + "/details?from=2027-03-03&start=23:00&for=1"
	night := w.browse(t, late, w.browse(t, late, nil).fillForm(t, contactForm))
	w.browse(t, night.location, nil).checkPage(t, "until midnight", http.StatusOK,
		"Wednesday, 3 March 2027, 23:00 – Thursday, 4 March 2027, 00:00")
	if why := w.listAvailability(t, "shed-links", "rentalId="+w.idsByName(t, "shed-links", "rentals")["Kayak"]+
		"&startDate=2027-03-02&endDate=2027-03-02&startTime=11:00&endTime=12:00"); why != "nothing_available" {
		t.Errorf("another kayak at the same time: %q", why)
	}
}

// TestDailyRentalPageOffersFreeDays chooses a first day and a number of days. The page offers numbers of days up to
// the next occupied day.
func TestDailyRentalPageOffersFreeDays(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "shed-days", buildShed("shed-days"))
	bike := w.idsByName(t, "shed-days", "rentals")["Bike"]
	w.mustReserve(t, "shed-days", bike, "2027-03-05", "2027-03-06", 1)
	at, page := w.openRentalPage(t, "shed-days", "Bike")
	page.checkPage(t, "bike", http.StatusOK, "1 Mar 2027 – 2 Mar 2027 (2 days)", "1 Mar 2027 – 4 Mar 2027 (4 days)")
	for _, no := range []string{">1 day<", "(5 days)", "from=2027-03-05"} {
		if strings.Contains(page.text, no) {
			t.Errorf("the page offers %s", no)
		}
	}
	w.browse(t, at+"?from=2027-03-04", nil).checkPage(t, "one day before another's", http.StatusOK,
		"Thursday, 4 March 2027",
		"Fully booked")
	wanted := at + "/details?from=2027-03-02&for=3"
	form := w.browse(t, wanted, nil).fillForm(t, contactForm)
	w.mustReserve(t, "shed-days", bike, "2027-03-03", "2027-03-03", 1)
	taken := w.browse(t, wanted, form)
	taken.checkPage(t, "taken meanwhile", http.StatusConflict, "Nothing is available at that time.", `name="from"`,
		`value="2027-03-02"`, `name="for"`)
	taken.checkCustomerKept(t)
	next := taken.fillForm(t, contactForm)
	next.Set("from", "2027-03-07")
	next.Set("for", "3")
	if booked := w.browse(t, wanted, next); booked.status != http.StatusSeeOther {
		t.Errorf("other days: %d %s", booked.status, booked.text)
	}
	w.browse(t, at+"/details?from=2027-03-20&for=1", nil).checkPage(t, "too short", http.StatusConflict, "shorter than")
	w.browse(t, at+"/details?from=2027-02-20&for=2", nil).checkPage(t, "in the past", http.StatusConflict,
		"in the past")
	w.browse(t, at+"/details?from=2027-02-30&for=x&units=900", nil).checkPage(t, "no dates", http.StatusOK, "Choose a time")
}

// TestHourlyRentalPageOffersFreeHours checks the starts and durations that the page offers: those for which the
// requested quantity is free.
func TestHourlyRentalPageOffersFreeHours(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "shed-hours", buildShed("shed-hours"))
	kayak := w.idsByName(t, "shed-hours", "rentals")["Kayak"]
	w.mustReserve(t, "shed-hours", kayak, "2027-03-02", "2027-03-02", 1, "12:00", "14:30")
	at, _ := w.openRentalPage(t, "shed-hours", "Kayak")
	options := func(units string) string {
		page := w.browse(t, at+"?from=2027-03-02&units="+units, nil)
		page.checkPage(t, units, http.StatusOK, "Tuesday, 2 March 2027", "Start", "Duration")
		return page.text
	}
	one, two := options("1"), options("2")
	for _, free := range []string{`value="10:00" selected>10:00<`, `value="12:00">12:00<`, `value="14:00">14:00<`} {
		if !strings.Contains(one, free) {
			t.Errorf("one kayak: %s is missing in %s", free, one)
		}
	}
	for _, free := range []string{`value="09:00">09:00 (≤ 3 h)<`, `value="11:00">11:00 (≤ 1 h)<`,
		`value="14:30">14:30<`} {
		if !strings.Contains(two, free) {
			t.Errorf("two kayaks: %s is missing in %s", free, two)
		}
	}
	for _, taken := range []string{`value="11:30"`, `value="12:00"`, `value="14:00"`} {
		if strings.Contains(two, taken) {
			t.Errorf("two kayaks are offered from %s on", taken)
		}
	}
	if chosen := w.browse(t, at+"?from=2027-03-02&units=2&start=10:00", nil).text; !strings.Contains(chosen, ">2 h<") ||
		strings.Contains(chosen, ">3 h<") {
		t.Errorf("two kayaks from 10:00 on are not offered for one or two hours: %s", chosen)
	}
	w.browse(t, at+"/details?from=2027-03-02&units=2&start=10:00&for=2", nil).checkPage(t, "until the other begins",
		http.StatusOK, "2 × Kayak")
	w.mustReserve(t, "shed-hours", kayak, "2027-03-03", "2027-03-03", 2)
	none := w.browse(t, at+"?from=2027-03-03", nil)
	none.checkPage(t, "taken all day", http.StatusOK, "Fully booked")
	if strings.Contains(none.text, "Continue") || strings.Contains(none.text, "be checked right now") {
		t.Errorf("a day on which all are out: %s", none.text)
	}
}

// TestRentalPageExplainsRefusals checks the page of a rental with a changed price, with a required payment, that is
// removed, or whose availability is unknown. The page offers no form that would be refused.
func TestRentalPageExplainsRefusals(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	w.publish(t, "shed", buildShed("shed"))
	at, _ := w.openRentalPage(t, "shed", "Kayak")
	wanted := at + "/details?from=2027-03-02&start=10:00&for=2"
	page := w.browse(t, wanted, nil)
	form := page.fillForm(t, contactForm)
	for name, change := range map[string]func(url.Values){
		"no token": func(f url.Values) {
			f.Del("token")
		}, "the trap": func(f url.Values) {
			f.Set("website", "x")
		}, "no address": func(f url.Values) { f.Set("email", "") },
	} {
		changed := page.fillForm(t, contactForm)
		change(changed)
		if answer := w.browse(t, wanted, changed); answer.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, answer.status)
		}
	}
	w.publish(t, "shed", strings.Replace(buildShed("shed"), "price: 12.00", "price: 14.00", 1))
	w.awaitWords(t, wanted, "€30.00")
	dearer := w.browse(t, wanted, form)
	dearer.checkPage(t, "price changed", http.StatusConflict, "The price is now €30.00")
	dearer.checkCustomerKept(t)
	prepaid := strings.NewReplacer("modules:", "payments: {providers: [stripe], modes: {rentals: online}}\nmodules:",
		"price_type: hourly",
		"price_type: hourly\n    payment_requirement: deposit_percent\n    deposit_value: 20").Replace(buildShed("prepaid"))
	w.publish(t, "prepaid", prepaid)
	_, kayak := w.openRentalPage(t, "prepaid", "Kayak")
	kayak.checkPage(t, "to be paid online", http.StatusOK, "€12.00 per hour", "Deposit", "20 %",
		"must be paid in advance")
	if strings.Contains(kayak.text, "<form") {
		t.Error("a rental is offered that would be refused")
	}
	if removed := w.browse(t, w.PublicURL+"/b/shed/rentals/8f14e45f-ceea-467f-a2b6-1d1f7e0f5a98",
		nil); removed.status != http.StatusNotFound || !strings.Contains(removed.text, "no longer available") {
		t.Errorf("a removed rental: %d %s", removed.status, removed.text)
	}
	if err := w.StopService("rental"); err != nil {
		t.Fatal(err)
	}
	w.browse(t, at, nil).checkPage(t, "rental away", http.StatusOK, "be checked right now", "Try again")
	w.browse(t, wanted, nil).checkPage(t, "details then", http.StatusServiceUnavailable, "be checked right now")
	lost := w.browse(t, wanted, dearer.fillForm(t, contactForm))
	lost.checkPage(t, "a reservation then", http.StatusServiceUnavailable, "try again in a moment")
	lost.checkCustomerKept(t)
}

// reserveRentals reserves a kayak for two hours with its vest on each kind of device, cancels it, and checks every
// page.
func (p *pages) reserveRentals(t *testing.T) {
	t.Parallel()
	for name, profile := range map[string]visitor.Profile{
		"phone": {Locale: "en-GB"}, "desk-dark": {Locale: "en-GB", Width: 1280, Dark: true},
		"plain": {Locale: "en-GB", NoScript: true},
		"ar":    {Locale: "ar"}, "ja": {Locale: "ja", Width: 1280}, "slow": {Locale: "en-GB", Slow: true},
		"slow-desk": {Locale: "ar", Width: 1280, Slow: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := "shed-" + name
			p.publish(t, slug, buildShed(slug))
			v := p.openVisitor(t, profile)
			checkStep := func(step, selector string) {
				v.ExpectElement(selector)
				v.Check()
				v.SaveScreenshot(name + "-rental-" + step)
			}
			v.Go(p.PublicURL + "/b/" + slug)
			checkStep("1-list", "main .card")
			v.PressElement("main .cover")
			checkStep("2-rental", "main select[name=start]")
			v.PressElement(`.day[href*="from=2027-03-02"]`)
			v.Await("the day is chosen", `!!document.querySelector("input[name=from][value='2027-03-02']")`)
			v.Choose("select[name=for]", 1)
			v.PressElement("main button[type=submit]")
			checkStep("3-details", "input[name=email]")
			v.FillElement("input[name=name]", "Zoë Example")
			v.FillElement("input[name=email]", "zoe@example.com")
			v.PressElement("main button[type=submit]")
			checkStep("4-done", "main .facts")
			if !strings.Contains(v.Address(), "/m/") || !strings.Contains(v.Text(), "Life vest") {
				t.Errorf("the visit ends at %s:\n%s", v.Address(), v.Text())
			}
			v.PressElement(`main a[href*="/cancel"]`)
			checkStep("5-cancel", "main .danger")
			v.PressElement("main .danger")
			checkStep("6-cancelled", `main .button[href*="/rentals"]`)
		})
	}
}

// reserveLastKayaks reserves the last kayaks in two windows. The second window reports that they are occupied, keeps
// the contact data, and reserves another time.
func (p *pages) reserveLastKayaks(t *testing.T) {
	t.Parallel()
	p.publish(t, "last-kayaks", buildShed("last-kayaks"))
	first, second := p.openVisitor(t, visitor.Profile{Locale: "en-GB"}),
		p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	for _, v := range []*visitor.Visitor{first, second} {
		v.Go(p.PublicURL + "/b/last-kayaks/rentals")
		v.Press("Kayak")
		v.ExpectElement("select[name=units]")
		v.Choose("select[name=units]", 1)
		v.Press("Continue")
		v.ExpectText("Your details", "2 × Kayak")
		v.FillElement("input[name=name]", "Zoë Example")
		v.FillElement("input[name=email]", "zoe@example.com")
	}
	first.Press("Book with obligation to pay")
	first.ExpectText("You’re set: ")
	second.Press("Book with obligation to pay")
	second.ExpectText("Nothing is available at that time.")
	second.Check()
	second.SaveScreenshot("kayaks-gone")
	if stored := second.FieldValue("Email"); stored != "zoe@example.com" {
		t.Errorf("the e-mail is %q", stored)
	}
	second.Fill("Start", "16:00")
	second.Press("Book with obligation to pay")
	second.ExpectText("You’re set: ", "16:00")
}

// buildPaidShed returns the manifest of a shed whose kayaks are paid in advance, by the payment mode. Until an hour
// before the start, a cancellation refunds the whole price.
func buildPaidShed(slug, mode string) string {
	return strings.NewReplacer("modules:",
		"payments: {providers: [stripe], accounts: {stripe: acct_"+slug+"}, modes: {rentals: "+mode+
			"}}\ncancellation_policy:\n  - {hours_before: 1, refund_percent: 100}\nmodules:",
		"price_type: hourly", "price_type: hourly\n    payment_requirement: full").Replace(buildShed(slug))
}

// TestRentalFormFollowsPaymentMode reserves in each payment mode. The form leads to the provider's page if a payment
// is due online, and to the customer's page otherwise.
func TestRentalFormFollowsPaymentMode(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	provider := startStripe(t).URL + "/"
	kayak, bike := url.Values{"from": {"2027-03-02"}, "start": {"10:00"}, "for": {"2"}},
		url.Values{"from": {"2027-03-02"}, "for": {"2"}}
	for _, c := range []struct {
		slug, mode, rental string
		wanted             url.Values
		pay, leads         string
	}{
		{"rentals-online", "online", "Kayak", kayak, "", provider}, {"rentals-free", "online", "Bike", bike, "", "/m/"},
		{"rentals-choice", "customer_choice", "Kayak", kayak, "online", provider},
		{"rentals-door", "customer_choice", "Kayak", kayak, "at_door", "/m/"},
		{"rentals-later", "at_door", "Kayak", kayak, "", "/m/"},
	} {
		w.publish(t, c.slug, buildPaidShed(c.slug, c.mode))
		at, _ := w.openRentalPage(t, c.slug, c.rental)
		at += "/details?" + c.wanted.Encode()
		page := w.browse(t, at, nil)
		if asks := strings.Contains(page.text, `name="pay"`); asks != (c.pay != "") {
			t.Errorf("%s: the form asks how it is paid: %v", c.slug, asks)
		}
		form := page.fillForm(t, contactForm)
		form.Set("pay", c.pay)
		if created := w.browse(t, at, form); created.status != http.StatusSeeOther ||
			!strings.HasPrefix(strings.TrimPrefix(created.location, w.PublicURL), c.leads) {
			t.Errorf("%s: %d to %q: %s", c.slug, created.status, created.location, created.text)
		}
	}
}

// payRental leaves the payment page of a kayak with its vest, pays later by the link, and cancels for a full refund.
func (p *pages) payRental(t *testing.T) {
	t.Parallel()
	p.publish(t, "paid-kayak", buildPaidShed("paid-kayak", "online"))
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	v.Go(p.PublicURL + "/b/paid-kayak/rentals")
	v.Press("Kayak")
	v.ExpectElement("main select[name=start]")
	v.PressElement(`.day[href*="from=2027-03-02"]`)
	v.Await("the day is chosen", `!!document.querySelector("input[name=from][value='2027-03-02']")`)
	v.Choose("select[name=for]", 1)
	v.PressElement("main button[type=submit]")
	v.ExpectText("Your details", "Total €26.00", "Due now €24.00", "Due on arrival €2.00")
	v.FillElement("input[name=name]", "Zoë Example")
	v.FillElement("input[name=email]", "zoe@example.com")
	v.Check()
	v.PressElement("main button[type=submit]")
	v.ExpectText("The provider's page")
	v.Press("Give up")
	v.ExpectText("Please pay online to keep your reservation", "Kayak", "Life vest")
	v.ExpectNoText("You’re set: ")
	link, _, _ := strings.Cut(v.Address(), "?")
	later := p.openVisitor(t, visitor.Profile{Locale: "en-GB", NoScript: true})
	later.Go(link)
	later.ExpectText("Payment needed", "Please pay online to keep your reservation", "Total €26.00",
		"Due now €24.00")
	later.Check()
	later.SaveScreenshot("rental-to-be-paid")
	for name, profile := range map[string]visitor.Profile{"ar": {Locale: "ar", Dark: true},
		"ja": {Locale: "ja", Width: 1280}} {
		reader := p.openVisitor(t, profile)
		reader.Go(link + "?lang=" + name)
		reader.ExpectText("24.00")
		reader.Check()
		reader.SaveScreenshot("rental-to-be-paid-" + name)
	}
	later.Press("Pay €24.00")
	later.ExpectText("The provider's page")
	later.Press("Pay")
	later.ExpectText("You’re set: ", "Cancel reservation")
	later.ExpectNoText("Due now")
	last := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	last.Go(link + "/cancel")
	last.ExpectText("Cancel this reservation?", "Life vest", "Refund €24.00")
	last.Check()
	last.SaveScreenshot("rental-cancel-paid")
	last.PressTwice("Cancel reservation")
	last.ExpectText("Reservation cancelled", "Your refund goes back the way you paid")
	last.ExpectNoText("Cancel reservation", "Add to calendar")
	last.Check()
}
