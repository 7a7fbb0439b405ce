package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// pages is a platform whose pages visitors open in a browser, each visitor with its own client address.
type pages struct {
	*platform
	chromium     *visitor.Chromium
	key, cut     string
	listedSite   string // a site that may embed the page
	unlistedSite string // a site that may not embed the page
}

// openVisitor opens a window for another visitor.
func (p *pages) openVisitor(t *testing.T, profile visitor.Profile) *visitor.Visitor {
	t.Helper()
	profile.Headers = map[string]string{"X-Forwarded-For": newAddress()}
	return p.chromium.Visit(t, profile)
}

// buildSelfServiceSalon returns the manifest of a business in three languages. Its customers may reschedule and cancel
// until the start. A cancellation in the last 48 hours refunds half of the price.
func buildSelfServiceSalon(slug string) string {
	manifest := strings.Replace(buildPaidSalon(slug), "languages: [en]", "languages: [en, ar, ja]", 1)
	manifest = strings.Replace(manifest, "modes: {services: online}", "modes: {services: customer_choice}", 1)
	return manifest +
		"self_service: {cancel_until_hours: 0, reschedule_until_hours: 0}\ncancellation_policy:\n  - {hours_before: 48, refund_percent: 100}\n  - {hours_before: 0, refund_percent: 50}\n"
}

// bookForLink books, pays if a payment is required, and returns the address of the customer's link.
func (p *pages) bookForLink(t *testing.T, slug string, o order) string {
	t.Helper()
	var booked struct {
		ManageURL string `json:"manage_url"`
		Payment   struct{ Reference string }
	}
	p.book(t, slug, p.key, o).decode(t, http.StatusCreated, &booked)
	if booked.Payment.Reference != "" {
		event := newPaymentEvent(slug, booked.Payment.Reference)
		p.notifyStripe(t, event, signEvent(event)).checkStatus(t, http.StatusOK, "")
	}
	return booked.ManageURL
}

// TestCustomersUsePagesInABrowser runs many visitors at the same time. [visitor.Visitor.Check] checks each page.
func TestCustomersUsePagesInABrowser(t *testing.T) {
	t.Parallel()
	chromium := visitor.Open(t)
	w := sharePlatform(t)
	startStripe(t)
	listed, stranger := startEmbeddingSites(t, &w.PublicURL)
	w.publish(t, "parlour", buildSelfServiceSalon("parlour")+"page: {embed_origins: ["+listed+"]}\n")
	p := &pages{platform: w, chromium: chromium, listedSite: listed, unlistedSite: stranger,
		key: w.createKey(t, "parlour", "write"), cut: w.idsByName(t, "parlour", "services")["Cut"]}
	for name, do := range map[string]func(*testing.T){
		"book in every way": p.bookInEveryWay, "impatient": p.bookImpatiently, "two tabs": p.bookInTwoTabs,
		"changing offer": p.bookWhileOfferChanges,
		"keyboard alone": p.bookByKeyboard, "month by keys": p.useMonthGrid, "several at once": p.bookTogether,
		"a package with a price": p.bookPackage, "gone meanwhile": p.bookRemovedService,
		"from elsewhere":        p.bookFromOtherTimeZone,
		"late from the payment": p.payLate,
		"within another site":   p.bookEmbedded, "strangers": p.checkNoSecrets, "paid online": p.payOnline,
		"tickets in every way": p.buyTickets, "the last tickets": p.buyLastTickets, "tickets paid online": p.payTickets,
		"rentals in every way": p.reserveRentals, "tickets and rentals by keys": p.buyByKeyboard,
		"rentals paid online": p.payRental, "the last kayaks": p.reserveLastKayaks, "texts fit": p.fitTexts,
		"furnished": p.bookFurnished, "own bookings": p.showOwnBookings,
	} {
		t.Run(name, do)
	}
	t.Run("a booking is seen, moved and cancelled by its link", p.rescheduleAndCancel)
	t.Run("another site embeds the page", p.embedPage)
	for name, profile := range map[string]visitor.Profile{"without JavaScript": {NoScript: true},
		"in Arabic": {Locale: "ar", Dark: true}, "on a desk in Japanese": {Locale: "ja", Width: 1280}} {
		t.Run("by link "+name, func(t *testing.T) { p.cancelPaidBooking(t, profile) })
	}
}

func (p *pages) rescheduleAndCancel(t *testing.T) {
	t.Parallel()
	link := p.bookForLink(t, "parlour", newOrder(p.cut, "2027-03-02", "10:00"))
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	v.Go(link)
	v.ExpectText("Booking confirmed", "Cut", "10:00 – 10:45", "Member 0", "You can cancel until")
	v.Check()
	v.SaveScreenshot("manage-390")
	v.Press("Reschedule")
	v.ExpectText("10:00 – 10:45")
	v.Check()
	v.SaveScreenshot("move-390")
	v.Press("Wed 3")
	v.Await("its times are shown", `document.querySelector("#times h2").innerText.startsWith("Wednesday")`)
	p.book(t, "parlour", p.key, newOrder(p.cut, "2027-03-03", "11:00")).checkStatus(t, http.StatusCreated, "")
	v.Press("11:00") // another customer has just booked it
	v.ExpectText("Someone just took this time")
	v.Check()
	v.Press("12:00")
	v.ExpectText("Moved to ", "12:00 – 12:45")
	v.Check()
	v.Press("Cancel booking")
	v.ExpectText("Cancel this booking?")
	v.Check()
	v.SaveScreenshot("cancel-390")
	v.PressTwice("Cancel booking")
	v.ExpectText("Booking cancelled", "Book again")
	v.ExpectNoText("Reschedule", "Add to calendar")
	v.Check()
	v.Back()
	v.Go(link + "/cancel") // the page does not ask again
	v.ExpectText("Booking cancelled")
}

// cancelPaidBooking cancels a booking that was paid online, in the last 48 hours before its start. The page shows the
// refund of half the price before the customer confirms.
func (p *pages) cancelPaidBooking(t *testing.T, profile visitor.Profile) {
	t.Parallel()
	o := newOrder(p.cut, "2027-03-01", map[string]string{"": "13:00", "ar": "14:00",
		"ja": "15:00"}[profile.Locale]).withField("payment_choice", "online")
	link := p.bookForLink(t, "parlour",
		o.withField("locale", map[string]string{"": "en"}[profile.Locale]+profile.Locale))
	v := p.openVisitor(t, profile)
	words := map[string][]string{
		"":   {"Booking confirmed", "Cancel booking", "Refund", "€5.00", "Booking cancelled"},
		"ar": {"تم تأكيد الحجز", "إلغاء الحجز", "المسترد", "5.00", "تم إلغاء الحجز"},
		"ja": {"予約が確定しました", "予約をキャンセル", "返金", "5.00", "ご予約がキャンセルされました"},
	}[profile.Locale]
	name := "paid-" + profile.Locale
	v.Go(link)
	v.ExpectText(words[0])
	v.Check()
	v.SaveScreenshot(name)
	v.Press(words[1])
	v.ExpectText(words[3])
	v.Check()
	v.SaveScreenshot(name + "-cancel")
	v.Press(words[1])
	v.ExpectText(words[4])
	v.Check()
	v.SaveScreenshot(name + "-cancelled")
}

// TestCustomerLinkRejectsUnknownTokensAndForeignSites checks that all invalid links have the same page, also links of
// erased customers, and that forms from other sites change nothing.
func TestCustomerLinkRejectsUnknownTokensAndForeignSites(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "link-holder",
		buildSalon("link-holder", 1)+"self_service: {cancel_until_hours: 0, reschedule_until_hours: 0}\n")
	p := &pages{platform: w, key: w.createKey(t, "link-holder", "write"),
		cut: w.idsByName(t, "link-holder", "services")["Cut"]}
	link := p.bookForLink(t, "link-holder", newOrder(p.cut, "2027-03-02", "10:00"))
	read := func(path string) reply {
		return w.do(t, http.MethodGet, path, nil, http.Header{"X-Forwarded-For": {newAddress()}})
	}
	good := read(link)
	if good.status != http.StatusOK || good.header.Get("Cache-Control") != "no-store" ||
		good.header.Get("Referrer-Policy") != "same-origin" {
		t.Errorf("the page: %d %v", good.status, good.header)
	}
	erased := p.bookForLink(t, "link-holder", newOrder(p.cut, "2027-03-02", "12:00").withField("customer_email",
		"gone@example.com"))
	w.callAdmin(t, http.MethodPost, "businesses/link-holder/customers/erase",
		[]byte(`{"email":"gone@example.com","force":true}`)).checkStatus(t, http.StatusOK, "")
	one := read(erased)
	if one.status != http.StatusNotFound || !strings.HasPrefix(one.header.Get("Content-Type"), "text/html") {
		t.Fatalf("an erased link: %d %s", one.status, one.body)
	}
	for _, path := range []string{"/m/AAAAAAAAAAAAAAAAAAAAAA", "/m/short", "/m/AAAAAAAAAAAAAAAAAAAAAA/calendar.ics",
		"/m/AAAAAAAAAAAAAAAAAAAAAA/move", "/m/short/cancel",
		strings.TrimPrefix(erased, w.PublicURL) + "/cancel", "/calendar/AAAAAAAAAAAAAAAAAAAAAA.ics",
		"/calendar/short"} {
		if got := read(w.PublicURL + path); got.status != one.status || string(got.body) != string(one.body) {
			t.Errorf("%s: %d, not the answer of every unknown page: %s", path, got.status, got.body)
		}
	}
	post := func(address string, header http.Header) reply {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
		header.Set("X-Forwarded-For", newAddress())
		return w.do(t, http.MethodPost, address, []byte("refund=0&to=date%3D2027-03-02%26time%3D13:00"), header)
	}
	for _, address := range []string{w.PublicURL + "/m/AAAAAAAAAAAAAAAAAAAAAA", w.PublicURL + "/m/short", erased} {
		checkNothingDone(t, address, one, post)
	}
	for name, header := range map[string]http.Header{
		"another site": {"Sec-Fetch-Site": {"cross-site"}}, "a sister": {"Sec-Fetch-Site": {"same-site"}},
		"an old browser": {"Origin": {"https://evil.example"}},
	} {
		if a := post(link+"/cancel", header); a.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	if statuses := w.listBookingStatuses(t, "link-holder"); strings.Contains(strings.Join(statuses, " "), "cancelled") {
		t.Errorf("another site's form did something: %v", statuses)
	}
	if text := string(good.body); !strings.Contains(text, "dates=20270302T100000Z%2F20270302T104500Z") ||
		!strings.Contains(text, "startdt=2027-03-02T10%3A00%3A00Z") {
		t.Errorf("no way into other calendars: %s", text)
	}
	if ics := read(link + "/calendar.ics"); ics.status != http.StatusOK ||
		!strings.HasPrefix(ics.header.Get("Content-Type"), "text/calendar") || !strings.Contains(string(ics.body),
		"BEGIN:VEVENT") {
		t.Errorf("the calendar: %d %v", ics.status, ics.header)
	}
	var calendar booking.Calendar
	w.callAdmin(t, http.MethodPost, "businesses/link-holder/calendars", []byte(`{"shows":"times"}`)).decode(t,
		http.StatusCreated,
		&calendar)
	feed := read(calendar.URL)
	if feed.status != http.StatusOK || !strings.Contains(string(feed.body), "BEGIN:VEVENT") ||
		feed.header.Get("ETag") == "" {
		t.Errorf("the feed at %s: %d %v %s", calendar.URL, feed.status, feed.header, feed.body)
	}
	second := w.do(t, http.MethodGet, calendar.URL, nil, http.Header{"If-None-Match": {feed.header.Get("ETag")}})
	if second.status != http.StatusNotModified || len(second.body) > 0 {
		t.Errorf("the feed with its tag: %d", second.status)
	}
}

// checkNothingDone sends every form of an invalid link and compares the answers with the page of invalid links.
func checkNothingDone(t *testing.T, address string, want reply, post func(string, http.Header) reply) {
	t.Helper()
	for _, act := range []string{"/cancel", "/move", "/pay"} {
		if got := post(address+act, http.Header{}); got.status != want.status || string(got.body) != string(want.body) {
			t.Errorf("POST %s: %d, not the answer of every unknown link: %s", act, got.status, got.body)
		}
	}
}
