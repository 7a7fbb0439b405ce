package e2e

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// pageAnswer is the answer to a request for a page.
type pageAnswer struct {
	status   int
	location string
	text     string
	header   http.Header
}

// browse requests a page like a browser without scripts, from a new client address. It reads the page if `form` is nil,
// and posts the form otherwise. The pairs in `header` are names and values of headers.
func (w *platform) browse(t *testing.T, address string, form url.Values, header ...string) pageAnswer {
	t.Helper()
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Forwarded-For", newAddress())
	request.Header.Set("Accept-Language", "en-GB")
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", w.PublicURL)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	browser := http.Client{
		Timeout: 3 * time.Minute, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return pageAnswer{response.StatusCode, response.Header.Get("Location"), string(text), response.Header}
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([\w-]+)" value="([^"]*)"`)
	pickField   = regexp.MustCompile(`name="pick" value="([^"]*)"`)
	contactForm = url.Values{"name": {"Zoë <b>"}, "email": {"zoe@example.com"}, "phone": {"+351 210 000 001"}, "people": {"1"}}
)

// fillForm returns the form of a page: its hidden fields and the values in `details`.
func (s pageAnswer) fillForm(t *testing.T, details url.Values) url.Values {
	t.Helper()
	form := url.Values{}
	for name, values := range details {
		form[name] = values
	}
	for _, found := range hiddenField.FindAllStringSubmatch(s.text, -1) {
		form.Set(found[1], html.UnescapeString(found[2]))
	}
	if form.Get("token") == "" || form.Get("total") == "" {
		t.Fatalf("the page has no form: %d %s", s.status, s.text)
	}
	return form
}

// checkInputKept checks that the form still contains all contact data that the customer entered.
func (s pageAnswer) checkInputKept(t *testing.T) {
	t.Helper()
	s.checkCustomerKept(t)
	s.checkContains(t, `value="+351 210 000 001"`)
}

// checkCustomerKept checks that the form still contains the customer's name and email address.
func (s pageAnswer) checkCustomerKept(t *testing.T) {
	t.Helper()
	s.checkContains(t, `value="Zoë &lt;b&gt;"`, `value="zoe@example.com"`)
}

func (s pageAnswer) checkContains(t *testing.T, values ...string) {
	t.Helper()
	for _, value := range values {
		if !strings.Contains(s.text, value) {
			t.Errorf("%d: the form has lost %s", s.status, value)
		}
	}
}

func (s pageAnswer) checkPage(t *testing.T, name string, status int, words ...string) {
	t.Helper()
	if s.status != status {
		t.Errorf("%s: %d, want %d", name, s.status, status)
	}
	for _, word := range words {
		if !strings.Contains(s.text, word) {
			t.Errorf("%s: the page does not say %q", name, word)
		}
	}
}

// buildDetailsAddress returns the address of the form for a service of [fair] on 2027-03-02 at a time.
func (w *platform) buildDetailsAddress(t *testing.T, slug, service, at string) string {
	t.Helper()
	id := w.idsByName(t, slug, "services")[service]
	return w.PublicURL + "/b/" + slug + "/details?" + url.Values{"service": {id}, "staff": {"any"},
		"date": {"2027-03-02"},
		"time": {at}}.Encode()
}

// TestBookingPageBooksWithoutScripts follows every link and form from the first page to the customer's page, without
// scripts.
func TestBookingPageBooksWithoutScripts(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "form-links", buildFair("form-links"))
	follow := func(page pageAnswer, link string) pageAnswer {
		found := regexp.MustCompile(`href="(` + link + `[^"]*)"`).FindStringSubmatch(page.text)
		if found == nil {
			t.Fatalf("%d: no link %s in %s", page.status, link, page.text)
		}
		next := w.browse(t, w.PublicURL+html.UnescapeString(found[1]), nil)
		for next.status == http.StatusSeeOther {
			next = w.browse(t, w.PublicURL+next.location, nil)
		}
		return next
	}
	first := w.browse(t, w.PublicURL+"/b/form-links", nil)
	first.checkPage(t, "first page", http.StatusOK, "Fair", "plain", "€40.00")
	when := follow(first, `/b/form-links/when\?service=`+w.idsByName(t, "form-links", "services")["plain"])
	when.checkPage(t, "when", http.StatusOK, "March 2027", "Morning", "Afternoon", "Lisbon")
	if !strings.Contains(when.text, ">09:00</time>") {
		t.Errorf("a British reader is not shown 09:00: %s", when.text)
	}
	details := follow(when, "/b/form-links/details")
	details.checkPage(t, "details", http.StatusOK, "Total", "€40.00", "Pay when you arrive")
	at := w.buildDetailsAddress(t, "form-links", "plain", "09:00")
	wrong := details.fillForm(t, contactForm)
	wrong.Set("email", "zoe")
	second := w.browse(t, at, wrong)
	second.checkPage(t, "a wrong address", http.StatusUnprocessableEntity, "like name@example.com", "Please check: Email.",
		`aria-invalid="true"`,
		`value="Zoë &lt;b&gt;"`, `value="zoe"`)
	booked := w.browse(t, at, second.fillForm(t, contactForm))
	if booked.status != http.StatusSeeOther || !strings.HasPrefix(booked.location, w.PublicURL+"/m/") {
		t.Fatalf("booked: %d to %q: %s", booked.status, booked.location, booked.text)
	}
	w.browse(t, booked.location, nil).checkPage(t, "the customer's page", http.StatusOK, "plain", "€40.00")
	var list struct {
		Bookings []struct{ Source, Locale string }
	}
	w.callAdmin(t, http.MethodGet, "businesses/form-links/bookings", nil).decode(t, http.StatusOK, &list)
	if len(list.Bookings) != 1 || list.Bookings[0].Source != "page" {
		t.Errorf("the owner sees %+v", list)
	}
}

func TestBookingFormBooksOncePerToken(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "form-once", buildFair("form-once"))
	at := w.buildDetailsAddress(t, "form-once", "plain", "10:00")
	form := w.browse(t, at, nil).fillForm(t, contactForm)
	var wg sync.WaitGroup
	links := make([]string, 8)
	for i := range links {
		wg.Go(func() { links[i] = w.browse(t, at, form).location })
	}
	wg.Wait()
	slices.Sort(links)
	if links = slices.Compact(links); len(links) != 1 || !strings.HasPrefix(links[0], w.PublicURL+"/m/") {
		t.Errorf("the clicks lead to %q", links)
	}
	if n := w.countBookings(t, "form-once"); n != 1 {
		t.Errorf("%d bookings were made", n)
	}
	other := w.browse(t, w.buildDetailsAddress(t, "form-once", "plain", "11:00"), form)
	other.checkPage(t, "the same form for another time", http.StatusUnprocessableEntity, "This page was open for a while")
	other.checkInputKept(t)
	if n := w.countBookings(t, "form-once"); n != 1 {
		t.Errorf("%d bookings after the same form for another time", n)
	}
}

func TestBookingFormOffersNearestStartsWhenSlotIsTaken(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "form-taken", buildFair("form-taken"))
	at := w.buildDetailsAddress(t, "form-taken", "plain", "10:00")
	form := w.browse(t, at, nil).fillForm(t, contactForm)
	w.book(t, "form-taken", w.createKey(t, "form-taken", "write"),
		newOrder(w.idsByName(t, "form-taken", "services")["plain"], "2027-03-02",
			"10:00")).checkStatus(t, http.StatusCreated, "")
	taken := w.browse(t, at, form)
	taken.checkPage(t, "taken", http.StatusConflict, "Someone just took 10:00. Pick another time")
	taken.checkInputKept(t)
	offered := pickField.FindAllStringSubmatch(taken.text, -1)
	if len(offered) != 6 {
		t.Fatalf("%d times are offered: %s", len(offered), taken.text)
	}
	var times []string
	for _, o := range offered {
		q, err := url.ParseQuery(html.UnescapeString(o[1]))
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, q.Get("time"))
	}
	if want := []string{"09:00", "09:15", "09:30", "10:30", "10:45", "11:00"}; !slices.Equal(times, want) {
		t.Errorf("offered %v, want %v", times, want)
	}
	form.Set("pick", html.UnescapeString(offered[3][1]))
	next := w.browse(t, at, form)
	next.checkPage(t, "another time", http.StatusOK, "10:30")
	next.checkInputKept(t)
	if booked := w.browse(t, w.buildDetailsAddress(t, "form-taken", "plain", "10:30"),
		next.fillForm(t, contactForm)); booked.status != http.StatusSeeOther {
		t.Errorf("the other time: %d %s", booked.status, booked.text)
	}
}

// TestBookingFormRejectsForgedRequests shows that a request books nothing if it has an invalid token, no name, another
// price, or another origin. It also books nothing if it fills in the field that only programs see.
func TestBookingFormRejectsForgedRequests(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "form-forged", buildFair("form-forged"))
	w.publish(t, "form-other", buildFair("form-other"))
	at := w.buildDetailsAddress(t, "form-forged", "plain", "10:00")
	page := w.browse(t, at, nil)
	others := w.browse(t, w.PublicURL+"/b/form-other/details?"+url.Values{
		"service": {w.idsByName(t, "form-other", "services")["plain"]}, "staff": {"any"}, "date": {"2027-03-02"},
		"time": {"10:00"},
	}.Encode(), nil)
	for name, change := range map[string]func(url.Values){
		"no token":           func(f url.Values) { f.Del("token") },
		"a made up token":    func(f url.Values) { f.Set("token", f.Get("token")+"A") },
		"another business's": func(f url.Values) { f.Set("token", others.fillForm(t, nil).Get("token")) },
		"the trap":           func(f url.Values) { f.Set("website", "https://spam.example") },
		"no name":            func(f url.Values) { f.Set("name", " ") },
	} {
		form := page.fillForm(t, contactForm)
		change(form)
		if answer := w.browse(t, at, form); answer.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, answer.status)
		}
	}
	cheaper := page.fillForm(t, contactForm)
	cheaper.Set("total", "1.00")
	w.browse(t, at, cheaper).checkPage(t, "another price", http.StatusConflict, "The price is now €40.00")
	for name, header := range map[string][]string{
		"another origin": {"Origin", "https://evil.example"}, "no origin of a page": {"Origin", "null"},
		"another site":             {"Sec-Fetch-Site", "cross-site"},
		"another host of the site": {"Sec-Fetch-Site", "same-site"},
	} {
		w.browse(t, at, page.fillForm(t, contactForm), header...).checkPage(t, name, http.StatusForbidden)
	}
	w.browse(t, at, page.fillForm(t, contactForm), "Content-Type", "text/plain").checkPage(t, "plain text",
		http.StatusUnsupportedMediaType)
	if n := w.countBookings(t, "form-forged"); n != 0 {
		t.Errorf("%d bookings were made", n)
	}
	policy := page.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'self'") || strings.Contains(policy, "unsafe") ||
		page.header.Get("Referrer-Policy") != "same-origin" {
		t.Errorf("the page is sent with %v", page.header)
	}
}

// TestBookingPageExplainsClosedBusinesses shows that the page of a business without online bookings explains this in
// the reader's language. An unknown business also has a page.
func TestBookingPageExplainsClosedBusinesses(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	for slug, change := range map[string]string{
		"form-paused": "bookings: {paused_until: 2027-03-08, ",
		"form-left":   "account: {removal_on: 2027-04-01}\nbookings: {",
		"form-unpaid": "account: {subscription: inactive}\nbookings: {",
	} {
		w.publish(t, slug, strings.Replace(buildFair(slug), "bookings: {", change, 1))
	}
	w.browse(t, w.PublicURL+"/b/form-paused", nil).checkPage(t, "form-paused", http.StatusOK,
		"paused until Monday, 8 March 2027")
	w.browse(t, w.PublicURL+"/b/form-left", nil).checkPage(t, "leaving", http.StatusOK, "Online booking is closed for now.")
	w.browse(t, w.PublicURL+"/b/form-unpaid", nil, "Accept-Language", "de").checkPage(t, "inactive", http.StatusOK,
		`lang="de"`,
		"derzeit nicht möglich")
	w.browse(t, w.PublicURL+"/b/form-unpaid", nil, "Accept-Language", "ar").checkPage(t, "in Arabic", http.StatusOK,
		`dir="rtl"`)
	w.browse(t, w.PublicURL+"/b/nobody", nil).checkPage(t, "unknown", http.StatusNotFound, "Page not found")
	w.browse(t, w.PublicURL+"/b/nobody/x/y", nil).checkPage(t, "unknown page", http.StatusNotFound,
		"Page not found")
	at := w.PublicURL + "/b/form-paused/when?service=" + w.idsByName(t, "form-paused", "services")["plain"]
	w.browse(t, at, nil).checkPage(t, "a step of a paused one", http.StatusOK, "paused until")
}

// TestBookingFormRedirectsToPaymentPage shows that the form leads to the provider's page if the business or the
// customer chooses online payment. The customer's link leads to the provider's page again.
func TestBookingFormRedirectsToPaymentPage(t *testing.T) {
	t.Parallel()
	mock := testkit.StartStripeMock(t)
	w := startPlatform(t, connectStripe(mock.URL))
	w.publish(t, "online", buildPaidSalon("online"))
	w.publish(t, "choice", strings.Replace(buildPaidSalon("choice"), "modes: {services: online}",
		"modes: {services: customer_choice}", 1))
	at := func(slug, clock string) string {
		id := w.idsByName(t, slug, "services")["Cut"]
		return w.PublicURL + "/b/" + slug + "/details?" + url.Values{"service": {id}, "staff": {"any"},
			"date": {"2027-03-02"}, "time": {clock}}.Encode()
	}
	page := w.browse(t, at("online", "10:00"), nil)
	page.checkPage(t, "online", http.StatusOK, "Total", "€36.00", "Due now", "Pay €9.00", "Due at the appointment",
		"€27.00")
	deposit := page.fillForm(t, contactForm)
	deposit.Set("now", "5.00")
	w.browse(t, at("online", "10:00"), deposit).checkPage(t, "another deposit than was shown", http.StatusConflict,
		"Pay €9.00")
	if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy,
		"form-action 'self' https://checkout.stripe.com;") {
		t.Errorf("the form may lead to: %s", policy)
	}
	const provider = "https://checkout.stripe.com/"
	if paid := w.browse(t, at("online", "10:00"), page.fillForm(t, contactForm)); paid.status != http.StatusSeeOther ||
		!strings.HasPrefix(paid.location, provider) {
		t.Errorf("online: %d to %q: %s", paid.status, paid.location, paid.text)
	}
	framed := w.browse(t, at("online", "13:00"), w.browse(t, at("online", "13:00"), nil).fillForm(t, contactForm),
		"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Site", "same-origin")
	link, _, _ := strings.Cut(framed.location, "?")
	if framed.status != http.StatusSeeOther || !strings.HasPrefix(link, w.PublicURL+"/m/") {
		t.Fatalf("in a frame: %d to %q", framed.status, framed.location)
	}
	w.browse(t, link, nil).checkPage(t, "the customer's page", http.StatusOK,
		`action="`+strings.TrimPrefix(link, w.PublicURL)+`/pay" target="_top"`)
	if later := w.browse(t, link+"/pay", url.Values{}); later.status != http.StatusSeeOther ||
		!strings.HasPrefix(later.location, provider) {
		t.Errorf("later: %d to %q", later.status, later.location)
	}
	if evil := w.browse(t, link+"/pay", url.Values{}, "Origin",
		"https://evil.example"); evil.status != http.StatusForbidden {
		t.Errorf("by another site: %d", evil.status)
	}
	for pay, want := range map[string]string{"at_door": w.PublicURL + "/m/", "online": provider} {
		clock := map[string]string{"at_door": "11:00", "online": "12:00"}[pay]
		asked := w.browse(t, at("choice", clock), nil)
		asked.checkPage(t, "choice", http.StatusOK, `name="pay"`, "Pay €9.00", "Pay when you arrive", "Book with obligation to pay")
		form := asked.fillForm(t, contactForm)
		form.Set("pay", pay)
		if booked := w.browse(t, at("choice", clock), form); booked.status != http.StatusSeeOther ||
			!strings.HasPrefix(booked.location, want) {
			t.Errorf("%s: %d to %q: %s", pay, booked.status, booked.location, booked.text)
		}
	}
}

// TestBookingPageReportsUnknownAvailability stops the service availability. The page reports that availability is
// unknown, not that the day is full, and keeps the customer's input.
func TestBookingPageReportsUnknownAvailability(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	w.publish(t, "fair", buildFair("fair"))
	id := w.idsByName(t, "fair", "services")["plain"]
	when := w.PublicURL + "/b/fair/when?staff=any&service=" + id
	form := w.browse(t, w.buildDetailsAddress(t, "fair", "plain", "10:00"), nil).fillForm(t, contactForm)
	w.browse(t, when+"&service=8f14e45f-ceea-467f-a2b6-1d1f7e0f5a98", nil).checkPage(t, "a service that is gone",
		http.StatusOK, "no longer available", "plain")
	w.browse(t, when+"&date=2027-02-30", nil).checkPage(t, "no date", http.StatusBadRequest, "go back to the page")
	if err := w.StopService("availability"); err != nil {
		t.Fatal(err)
	}
	unknown := w.browse(t, when, nil)
	unknown.checkPage(t, "availability away", http.StatusOK, "be checked right now", "Try again")
	if strings.Contains(unknown.text, "Fully booked") {
		t.Error("the page says that the day is fully booked")
	}
	refused := w.browse(t, w.buildDetailsAddress(t, "fair", "plain", "10:00"), form)
	refused.checkPage(t, "a booking then", http.StatusServiceUnavailable, "try again in a moment")
	refused.checkInputKept(t)
	if refused.fillForm(t, nil).Get("token") != form.Get("token") {
		t.Error("trying again would book twice")
	}
	if n := w.countBookings(t, "fair"); n != 0 {
		t.Errorf("%d bookings were made", n)
	}
}

// TestBookingFormSetsMessageLanguage shows that messages have the language of the page, unless the customer chooses
// another language of the business.
func TestBookingFormSetsMessageLanguage(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "form-language", strings.Replace(buildFair("form-language"), "languages: [en]",
		"languages: [en, pt, ja]",
		1))
	w.publish(t, "form-english", buildFair("form-english"))
	id := w.idsByName(t, "form-english", "services")["plain"]
	only := w.PublicURL + "/b/form-english/details?" + url.Values{"service": {id}, "staff": {"any"},
		"date": {"2027-03-02"},
		"time": {"09:00"}}.Encode()
	if page := w.browse(t, only, nil); strings.Contains(page.text, `name="language"`) {
		t.Error("a business with one language asks for the language")
	}
	for clock, c := range map[string]struct{ reader, preset, chosen, want string }{
		"09:00": {"en-GB", "en", "en", "en"}, "10:00": {"en-GB", "en", "ja", "ja"},
		"11:00": {"pt-BR", "pt", "pt", "pt"},
		"12:00": {"fr", "en", "pt", "pt"}, "13:00": {"ja", "ja", "<b>", "ja"}, "14:00": {"ja", "ja", "de", "ja"},
	} {
		at := w.buildDetailsAddress(t, "form-language", "plain", clock)
		set := func(language string) string { return `<option value="` + language + `" selected>` }
		page := w.browse(t, at, nil, "Accept-Language", c.reader)
		page.checkPage(t, c.reader, http.StatusOK, set(c.preset))
		wrong := page.fillForm(t, url.Values{"name": {""}, "language": {c.chosen}})
		w.browse(t, at, wrong, "Accept-Language", c.reader).checkPage(t, "what "+c.reader+" chose is kept",
			http.StatusUnprocessableEntity, set(c.want))
		form := page.fillForm(t, contactForm)
		form.Set("language", c.chosen)
		w.browse(t, at, form, "Accept-Language", c.reader)
		var list struct {
			Bookings []struct {
				StartTime string `json:"start_time"`
				Locale    string
			}
		}
		w.callAdmin(t, http.MethodGet, "businesses/form-language/bookings", nil).decode(t, http.StatusOK, &list)
		for _, b := range list.Bookings {
			if b.StartTime == clock+":00" && b.Locale != c.want {
				t.Errorf("%s chose %s: messages in %s, want %s", c.reader, c.chosen, b.Locale, c.want)
			}
		}
	}
	if n := w.countBookings(t, "form-language"); n != 6 {
		t.Errorf("%d bookings", n)
	}
}

// TestBookingPageShowsNextFreeStarts opens the page of a past day, and of a month without free starts after the chosen
// day. The page leads to the next free starts.
func TestBookingPageShowsNextFreeStarts(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t) // today is Monday, 2027-03-01, and the business is open from Monday to Wednesday
	w.publish(t, "form-late", buildSalon("form-late", 1))
	chosen := w.PublicURL + "/b/form-late/when?staff=any&service=" + w.idsByName(t, "form-late", "services")["Cut"]
	for _, over := range []string{"&date=2027-02-28", "&month=2027-02", "&month=1999-01"} {
		w.browse(t, chosen+over, nil).checkPage(t, over, http.StatusOK, "March 2027", "Monday, 1 March 2027",
			"time=09%3A00")
	}
	for date, next := range map[string]string{"2027-02-28": "date=2027-03-01", "2027-04-30": "date=2027-05-03"} {
		at := strings.Replace(chosen, "/when?", "/details?date="+date+"&time=10:00&", 1)
		sent := w.browse(t, at, w.browse(t, at, nil).fillForm(t, contactForm))
		sent.checkPage(t, date, http.StatusConflict, "Pick another time", `name="pick"`, next)
		sent.checkCustomerKept(t)
	}
}
