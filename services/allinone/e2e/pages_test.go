package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// pages is a Slotmesh whose pages people visit, each from an address of their own.
type pages struct {
	*world
	chromium *visitor.Chromium
	key, cut string
	listed   string // a site that may embed the page
	stranger string // one that may not
}

// visit is one more visitor.
func (p *pages) visit(t *testing.T, as visitor.As) *visitor.Visitor {
	t.Helper()
	as.Headers = map[string]string{"X-Forwarded-For": client()}
	return p.chromium.Visit(t, as)
}

// parlour is a business whose customers may move and cancel until the start, in three languages; half is refunded
// within a day of it.
func parlour(slug string) string {
	manifest := strings.Replace(paidSalon(slug), "languages: [en]", "languages: [en, ar, ja]", 1)
	manifest = strings.Replace(manifest, "modes: {services: online}", "modes: {services: customer_choice}", 1)
	return manifest +
		"self_service: {cancel_until_hours: 0, reschedule_until_hours: 0}\ncancellation_policy:\n  - {hours_before: 48, refund_percent: 100}\n  - {hours_before: 0, refund_percent: 50}\n"
}

// managed books and gives the address of the customer's link.
func (p *pages) managed(t *testing.T, slug string, o order) string {
	t.Helper()
	var booked struct {
		ManageURL string `json:"manage_url"`
		Payment   struct{ Reference string }
	}
	p.book(t, slug, p.key, o).into(t, http.StatusCreated, &booked)
	if booked.Payment.Reference != "" {
		event := succeeded(slug, booked.Payment.Reference)
		p.notify(t, event, signed(event)).want(t, http.StatusOK, "")
	}
	return booked.ManageURL
}

// All visitors of this test come at the same time.
func TestPeopleUsePagesInABrowser(t *testing.T) {
	t.Parallel()
	chromium := visitor.Open(t)
	w := shared(t)
	startStripe(t)
	listed, stranger := embedding(t, &w.PublicURL)
	w.publish(t, "parlour", parlour("parlour")+"page: {embed_origins: ["+listed+"]}\n")
	p := &pages{world: w, chromium: chromium, listed: listed, stranger: stranger,
		key: w.key(t, "parlour", "write"), cut: w.named(t, "parlour", "services")["Cut"]}
	for name, do := range map[string]func(*testing.T){
		"book in every way": p.everyWay, "impatient": p.impatient, "two tabs": p.twoTabs, "changing offer": p.changing,
		"keyboard alone": p.byKeyboard, "month by keys": p.monthGrid, "several at once": p.together,
		"a package with a price": p.packaged, "gone meanwhile": p.gone, "from elsewhere": p.elsewhere,
		"late from the payment": p.late,
		"within another site":   p.embedded, "strangers": p.strangers, "paid online": p.payOnline,
		"tickets in every way": p.evenings, "the last tickets": p.lastTickets, "tickets paid online": p.payTickets,
		"rentals in every way": p.outings, "tickets and rentals by keys": p.keysAlone,
		"rentals paid online": p.payRental, "the last kayaks": p.lastKayaks,
	} {
		t.Run(name, do)
	}
	t.Run("a booking is seen, moved and cancelled by its link", p.moveAndCancel)
	t.Run("another site embeds the page", p.embed)
	for name, as := range map[string]visitor.As{"without JavaScript": {NoScript: true},
		"in Arabic": {Locale: "ar", Dark: true}, "on a desk in Japanese": {Locale: "ja", Width: 1280}} {
		t.Run("by link "+name, func(t *testing.T) { p.cancelPaid(t, as) })
	}
}

func (p *pages) moveAndCancel(t *testing.T) {
	t.Parallel()
	link := p.managed(t, "parlour", appointment(p.cut, "2027-03-02", "10:00"))
	v := p.visit(t, visitor.As{Locale: "en-GB"})
	v.Go(link)
	v.Sees("Booking confirmed", "Cut", "10:00 – 10:45", "Europe/Lisbon", "Member 0", "You can cancel until")
	v.Check()
	v.Keep("manage-390")
	v.Press("Choose another time")
	v.Sees("10:00 – 10:45")
	v.Check()
	v.Keep("move-390")
	v.Press("Wednesday, 3 March")
	v.Until("its times are shown", `document.querySelector("#times h2").innerText.startsWith("Wednesday")`)
	p.book(t, "parlour", p.key, appointment(p.cut, "2027-03-03", "11:00")).want(t, http.StatusCreated, "")
	v.Press("11:00") // which somebody has just taken
	v.Sees("This time is no longer free")
	v.Check()
	v.Press("12:00")
	v.Sees("Your booking has a new time", "12:00 – 12:45")
	v.Check()
	v.Press("Cancel booking")
	v.Sees("Cancel this booking?")
	v.Check()
	v.Keep("cancel-390")
	v.PressTwice("Cancel booking")
	v.Sees("Booking cancelled", "Book again")
	v.SeesNot("Choose another time", "Add to calendar")
	v.Check()
	v.Back()
	v.Go(link + "/cancel") // of what is cancelled there is nothing to ask
	v.Sees("Booking cancelled")
}

// cancelPaid cancels within two days of the start what was paid online: the visitor is told the half before, and gets
// it.
func (p *pages) cancelPaid(t *testing.T, as visitor.As) {
	t.Parallel()
	o := appointment(p.cut, "2027-03-01", map[string]string{"": "13:00", "ar": "14:00",
		"ja": "15:00"}[as.Locale]).with("payment_choice", "online")
	link := p.managed(t, "parlour", o.with("locale", map[string]string{"": "en"}[as.Locale]+as.Locale))
	v := p.visit(t, as)
	words := map[string][]string{
		"":   {"Booking confirmed", "Cancel booking", "Refund", "€5.00", "Booking cancelled"},
		"ar": {"تم تأكيد الحجز", "إلغاء الحجز", "المسترد", "5.00", "تم إلغاء الحجز"},
		"ja": {"予約が確定しました", "予約をキャンセルする", "返金", "5.00", "ご予約がキャンセルされました"},
	}[as.Locale]
	name := "paid-" + as.Locale
	v.Go(link)
	v.Sees(words[0])
	v.Check()
	v.Keep(name)
	v.Press(words[1])
	v.Sees(words[3])
	v.Check()
	v.Keep(name + "-cancel")
	v.Press(words[1])
	v.Sees(words[4])
	v.Check()
	v.Keep(name + "-cancelled")
}

// A link that leads nowhere has one page, whatever it once was, and a form that another site makes a browser send does
// nothing.
func TestALinkAnswersItsHolderAlone(t *testing.T) {
	t.Parallel()
	w := shared(t)
	w.publish(t, "link-holder", salon("link-holder", 1)+"self_service: {cancel_until_hours: 0, reschedule_until_hours: 0}\n")
	p := &pages{world: w, key: w.key(t, "link-holder", "write"), cut: w.named(t, "link-holder", "services")["Cut"]}
	link := p.managed(t, "link-holder", appointment(p.cut, "2027-03-02", "10:00"))
	read := func(path string) answer {
		return w.do(t, http.MethodGet, path, nil, http.Header{"X-Forwarded-For": {client()}})
	}
	good := read(link)
	if good.status != http.StatusOK || good.header.Get("Cache-Control") != "no-store" ||
		good.header.Get("Referrer-Policy") != "same-origin" {
		t.Errorf("the page: %d %v", good.status, good.header)
	}
	erased := p.managed(t, "link-holder", appointment(p.cut, "2027-03-02", "12:00").with("customer_email", "gone@example.com"))
	w.admin(t, http.MethodPost, "businesses/link-holder/customers/erase",
		[]byte(`{"email":"gone@example.com","force":true}`)).want(t, http.StatusOK, "")
	one := read(erased)
	if one.status != http.StatusNotFound || !strings.HasPrefix(one.header.Get("Content-Type"), "text/html") {
		t.Fatalf("an erased link: %d %s", one.status, one.body)
	}
	for _, path := range []string{"/m/AAAAAAAAAAAAAAAAAAAAAA", "/m/short", "/m/AAAAAAAAAAAAAAAAAAAAAA/calendar.ics",
		"/m/AAAAAAAAAAAAAAAAAAAAAA/move", "/m/short/cancel",
		strings.TrimPrefix(erased, w.PublicURL) + "/cancel", "/calendar/AAAAAAAAAAAAAAAAAAAAAA.ics",
		"/calendar/short"} {
		if got := read(w.PublicURL + path); got.status != one.status || string(got.body) != string(one.body) {
			t.Errorf("%s: %d, not the answer of all that lead nowhere: %s", path, got.status, got.body)
		}
	}
	post := func(address string, header http.Header) answer {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
		header.Set("X-Forwarded-For", client())
		return w.do(t, http.MethodPost, address, []byte("refund=0&to=date%3D2027-03-02%26time%3D13:00"), header)
	}
	for _, address := range []string{w.PublicURL + "/m/AAAAAAAAAAAAAAAAAAAAAA", w.PublicURL + "/m/short", erased} {
		expectNothingDone(t, address, one, post)
	}
	for name, header := range map[string]http.Header{
		"another site": {"Sec-Fetch-Site": {"cross-site"}}, "a sister": {"Sec-Fetch-Site": {"same-site"}},
		"an old browser": {"Origin": {"https://evil.example"}},
	} {
		if a := post(link+"/cancel", header); a.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	if statuses := w.statuses(t, "link-holder"); strings.Contains(strings.Join(statuses, " "), "cancelled") {
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
	var made booking.Calendar
	w.admin(t, http.MethodPost, "businesses/link-holder/calendars", []byte(`{"shows":"times"}`)).into(t, http.StatusCreated,
		&made)
	feed := read(made.URL)
	if feed.status != http.StatusOK || !strings.Contains(string(feed.body), "BEGIN:VEVENT") ||
		feed.header.Get("ETag") == "" {
		t.Errorf("the feed at %s: %d %v %s", made.URL, feed.status, feed.header, feed.body)
	}
	again := w.do(t, http.MethodGet, made.URL, nil, http.Header{"If-None-Match": {feed.header.Get("ETag")}})
	if again.status != http.StatusNotModified || len(again.body) > 0 {
		t.Errorf("the feed with its tag: %d", again.status)
	}
}

// expectNothingDone sends every form of a link that leads nowhere.
func expectNothingDone(t *testing.T, address string, want answer, post func(string, http.Header) answer) {
	t.Helper()
	for _, act := range []string{"/cancel", "/move", "/pay"} {
		if got := post(address+act, http.Header{}); got.status != want.status || string(got.body) != string(want.body) {
			t.Errorf("POST %s: %d, not the answer of all that lead nowhere: %s", act, got.status, got.body)
		}
	}
}
