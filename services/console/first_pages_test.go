package console_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/template"
)

func init() {
	permissionTable["create businesses"] = "o"
	rowOfPage["GET /business"], rowOfPage["POST /business"] = "create businesses", "create businesses"
	rowOfPage["GET /business/:slug/first"], rowOfPage["GET /business/:slug/first/done"] = "change all of the offer",
		"change all of the offer"
	for _, step := range firstForms {
		rowOfPage["GET /business/:slug/first/"+step], rowOfPage["POST /business/:slug/first/"+step] = "change all of the offer", "change all of the offer"
	}
}

var firstForms = []string{"business", "hours", "team", "services", "policies"}

// newFirstForm returns the fields of the first form for a trade.
func newFirstForm(trade string) url.Values {
	return url.Values{
		"trade": {trade}, "name": {"Ínês & Tomás " + trade}, "slug": {trade}, "currency": {"eur"},
		"timezone": {"Europe/Lisbon"}, "default_language": {"pt"}, "key": {trade},
	}
}

// addOperatorSession returns the session of an operator.
func addOperatorSession(t *testing.T, w *consoletest.Fixture) string {
	t.Helper()
	return w.AddSession(t, "olga@example.com", access.Member{Role: access.Operator})
}

var baseOf = regexp.MustCompile(`name="base" value="(\d+)"`)

// submitStep reads a form of the first visit, sends it with the values in `fields`, and returns the path of the next
// page.
func submitStep(t *testing.T, w *consoletest.Fixture, session, at string, fields url.Values) string {
	t.Helper()
	page := getPage(t, w, at, session)
	base := baseOf.FindStringSubmatch(page.Body)
	if page.Status != 200 || base == nil || strings.Contains(strings.ToLower(page.Body), "manifest") {
		t.Fatalf("%s: %d %s", at, page.Status, page.Body)
	}
	sent := url.Values{"base": {base[1]}}
	for name, values := range fields {
		sent[name] = values
	}
	got := postForm(t, w, at, session, sent)
	if got.Status != 303 {
		t.Fatalf("%s is not saved: %d %s", at, got.Status, got.Body)
	}
	next, _, _ := strings.Cut(got.Header.Get("Location"), "?")
	return next
}

// listBookable returns the keys of the active services, events and rentals, or nothing if the business is not open.
func listBookable(t *testing.T, w *consoletest.Fixture, slug string) []string {
	t.Helper()
	m, problems := manifest.Parse([]byte(w.Call(t, "GET", "/admin/businesses/"+slug, "", "Accept", yaml).Body))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if !m.IsOpen() {
		return nil
	}
	var keys []string
	for i := range m.Services {
		if m.Services[i].IsActive() {
			keys = append(keys, string(m.Services[i].Key))
		}
	}
	for i := range m.Events {
		if m.Events[i].IsActive() {
			keys = append(keys, string(m.Events[i].Key))
		}
	}
	for i := range m.Rentals {
		if m.Rentals[i].IsActive() {
			keys = append(keys, string(m.Rentals[i].Key))
		}
	}
	return keys
}

// bookableKeys has, for each trade, the keys of the services, events and rentals that customers can book after the
// first visit.
var bookableKeys = map[string][]string{
	"clinic": {"consultation", "check-up", "physio"}, "rental": {"repair", "kayak", "bike"}, "salon": {"cut", "colour"},
	"studio": {"yoga", "lesson"},
	"venue":  {"viewing", "opening-night"},
}

// TestFirstVisitCreatesBookableBusinessPerTrade shows that five forms create a bookable business for each trade.
// Nothing can be booked before the last form.
func TestFirstVisitCreatesBookableBusinessPerTrade(t *testing.T) {
	t.Parallel()
	for _, trade := range template.ListTrades() {
		t.Run(trade, func(t *testing.T) {
			t.Parallel()
			w := consoletest.Start(t)
			olga, form := addOperatorSession(t, w), newFirstForm(trade)
			form.Set("slug", "harbor")
			if got := getPage(t, w, "/", olga); got.Status != 200 || !strings.Contains(got.Body, `href="/business"`) {
				t.Errorf("an empty installation does not say what to do: %d %s", got.Status, got.Body)
			}
			if got := getPage(t, w, "/business", olga); got.Status != 200 || !strings.Contains(got.Body,
				`value="`+trade+`"`) {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			first := postForm(t, w, "/business", olga, form)
			submitEachForm(t, w, olga, first.Header.Get("Location"))
			if keys := listBookable(t, w, "harbor"); !slices.Equal(keys, bookableKeys[trade]) {
				t.Errorf("what can be booked is %v, want %v", keys, bookableKeys[trade])
			}
		})
	}
}

// submitEachForm sends each form unchanged. It checks that customers can book only after the last form.
func submitEachForm(t *testing.T, w *consoletest.Fixture, session, at string) {
	t.Helper()
	for _, step := range firstForms[1:] {
		if want := "/business/harbor/first/" + step; at != want {
			t.Fatalf("led to %q, want %s", at, want)
		}
		today := getPage(t, w, "/business/harbor/today?lang=en", session)
		if keys := listBookable(t, w, "harbor"); len(keys) > 0 || !strings.Contains(today.Body,
			"Customers can’t book yet") {
			t.Errorf("%v can be booked before it is opened\n%s", keys, today.Body)
		}
		at = submitStep(t, w, session, at, nil)
	}
	done := getPage(t, w, at, session)
	if at != "/business/harbor/first/done" || !strings.Contains(done.Body, "/b/harbor") {
		t.Errorf("%s: %s", at, done.Body)
	}
	if back := getPage(t, w, "/business/harbor/first/hours", session); back.Header.Get("Location") != at {
		t.Errorf("an opened business shows the setup again: %d %s", back.Status, back.Body)
	}
	if today := getPage(t, w, "/business/harbor/today?lang=en", session); strings.Contains(today.Body,
		"Customers can’t book yet") {
		t.Errorf("%s", today.Body)
	}
}

// TestFirstVisitPublishesTypedValues shows that the first visit publishes exactly the values in its forms. A removed
// member performs no service, and no hidden part of the example remains.
func TestFirstVisitPublishesTypedValues(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	olga := addOperatorSession(t, w)
	postForm(t, w, "/business", olga, newFirstForm("salon"))
	at := "/business/salon/first/"
	submitStep(t, w, olga, at+"hours", url.Values{"hours.mon.n": {"1"}, "hours.mon.0.from": {"10:00"},
		"hours.mon.0.to": {"19:00"}})
	submitStep(t, w, olga, at+"team", url.Values{
		"staff.n": {"3"}, "staff.0.name": {"Inês"}, "staff.1.name": {"Ben"}, "staff.1.remove": {"yes"},
		"staff.2.name": {"Tomás"},
	})
	wrong := url.Values{"base": {"3"}, "services.n": {"1"}, "services.0.name": {"Corte"},
		"services.0.duration_minutes": {"0"}, "services.0.price": {"25,50"}}
	if got := postForm(t, w, at+"services", olga, wrong); got.Status != 422 || !strings.Contains(got.Body,
		"field-error") ||
		!strings.Contains(got.Body, `value="25,50"`) {
		t.Errorf("no time at all: %d %s", got.Status, got.Body)
	}
	submitStep(t, w, olga, at+"services", url.Values{
		"services.n": {"2"}, "services.0.name": {"Corte"}, "services.0.duration_minutes": {"30"},
		"services.0.price": {"25,50"},
		"services.0.staff": {"anna", "tomas"}, "services.1.remove": {"yes"},
	})
	submitStep(t, w, olga, at+"policies", url.Values{"bookings.confirm": {"manual"}})
	text := w.Call(t, "GET", "/admin/businesses/salon", "", "Accept", yaml).Body
	for _, want := range []string{`name: Corte`, "25.50", "10:00-19:00", "Inês", "Tomás", "default_language: pt",
		"languages: [pt]", "Ínês & Tomás salon"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, unseen := range []string{"Ben", "ben", "Long hair", "Wash", "Colour", "active:", "# Europe"} {
		if strings.Contains(text, unseen) {
			t.Errorf("%q, which the owner neither entered nor saw, is in\n%s", unseen, text)
		}
	}
}

// TestFirstVisitOpensServicesTogether shows that a service from the fourth form can be booked only after the
// last form, together with the other services.
func TestFirstVisitOpensServicesTogether(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	olga := addOperatorSession(t, w)
	postForm(t, w, "/business", olga, newFirstForm("salon"))
	const at = "/business/salon/first/"
	next := submitStep(t, w, olga, at+"services", url.Values{
		"services.n": {"3"}, "services.2.name": {"Shave"}, "services.2.duration_minutes": {"20"},
		"services.2.price": {"12"},
	})
	if keys := listBookable(t, w, "salon"); next != at+"policies" || len(keys) > 0 {
		t.Errorf("led to %s, and %v can be booked", next, keys)
	}
	submitStep(t, w, olga, at+"policies", nil)
	if keys := listBookable(t, w, "salon"); !slices.Equal(keys, []string{"cut", "colour", "shave"}) {
		t.Errorf("what can be booked is %v", keys)
	}
}

// TestAddingServiceDoesNotOpenBusiness shows that a service that is added outside the first visit does not open the
// business. A business without active services stays open.
func TestAddingServiceDoesNotOpenBusiness(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	olga := addOperatorSession(t, w)
	postForm(t, w, "/business", olga, newFirstForm("salon"))
	got := postForm(t, w, "/business/salon/offer/services/new", olga, url.Values{
		"base": {"1"}, "name": {"Shave"}, "duration_minutes": {"20"}, "price": {"12"}, "active": {"yes"},
	})
	if keys := listBookable(t, w, "salon"); got.Status != 303 || len(keys) > 0 {
		t.Errorf("%d; %v can be booked before it is opened", got.Status, keys)
	}
	page := getPage(t, w, got.Header.Get("Location"), olga)
	if strings.Contains(page.Body, "Customers see it now") || !strings.Contains(page.Body, "/business/salon/first") {
		t.Errorf("the notice says that customers see it: %s", page.Body)
	}
	submitStep(t, w, olga, "/business/salon/first/policies", nil)
	if keys := listBookable(t, w, "salon"); !slices.Contains(keys, "shave") {
		t.Errorf("what can be booked is %v", keys)
	}
	text := w.Call(t, "GET", "/admin/businesses/salon", "", "Accept", yaml).Body
	w.Call(t, "PUT", "/admin/businesses/salon", strings.ReplaceAll(text, "duration_minutes:",
		"active: false\n    duration_minutes:"), "Content-Type", yaml)
	if today := getPage(t, w, "/business/salon/today?lang=en", olga); strings.Contains(today.Body,
		"Customers can’t book yet") {
		t.Errorf("a business without active objects is shown as not opened: %s", today.Body)
	}
}

// TestFirstVisitNotifiesCreatorOfBookings shows that the creator of a business is notified of its bookings. The form of
// notifications can change the recipients.
func TestFirstVisitNotifiesCreatorOfBookings(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	olga := addOperatorSession(t, w)
	postForm(t, w, "/business", olga, newFirstForm("salon"))
	const at = "/business/salon/offer/notifications"
	page := getPage(t, w, at, olga)
	if page.Status != 200 || !strings.Contains(page.Body, "olga@example.com") {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	got := postForm(t, w, at, olga, url.Values{
		"base": {"1"}, "notifications.owner_emails": {"desk@example.com\r\nboss@example.com"},
		"notifications.reply_to":               {"hello@example.com"},
		"notifications.reminders_hours_before": {"48, 2"},
	})
	m, _ := manifest.Parse([]byte(w.Call(t, "GET", "/admin/businesses/salon", "", "Accept", yaml).Body))
	n := m.NotificationSettings()
	if got.Status != 303 || !slices.Equal(n.OwnerEmails, []manifest.Email{"desk@example.com", "boss@example.com"}) ||
		n.ReplyTo != "hello@example.com" ||
		!slices.Equal(n.RemindersHoursBefore, []int{48, 2}) {
		t.Errorf("%d %s: %+v", got.Status, got.Body, n)
	}
}

// TestFirstFormReportsFieldErrors shows that the first form never overwrites an existing business. Errors stand beside
// their fields, and the form keeps its values.
func TestFirstFormReportsFieldErrors(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	olga := addOperatorSession(t, w)
	postForm(t, w, "/business", olga, newFirstForm("salon"))
	for field, c := range map[string]struct {
		value, says string
		status      int
	}{
		"slug":     {"Salon", "This address is taken", 409},
		"timezone": {"Europe/Lisboa", "f-timezone-error", 422},
		"currency": {"EURO", "f-currency-error", 422},
		"trade":    {"bakery", "field-error", 422},
		"name":     {"", "f-name-error", 422},
	} {
		form := newFirstForm("clinic")
		form.Set(field, c.value)
		got := postForm(t, w, "/business", olga, form)
		if got.Status != c.status || !strings.Contains(got.Body, c.says) || field != "name" &&
			!strings.Contains(got.Body, "Tomás clinic") {
			t.Errorf("%s %q: %d %s", field, c.value, got.Status, got.Body)
		}
	}
	if got := w.Call(t, "GET", "/admin/businesses/clinic", ""); got.Status != 404 {
		t.Errorf("a business of a form that was refused: %s", got.Body)
	}
	if n := strings.Count(w.Call(t, "GET", "/admin/businesses/salon/versions", "").Body, `"version"`); n != 1 {
		t.Errorf("the business that was there has %d versions", n)
	}
}

// TestFirstFormParsesNamesAndSymbols shows that the first form accepts names and symbols of time zones and currencies
// and turns them into codes.
func TestFirstFormParsesNamesAndSymbols(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	olga := addOperatorSession(t, w)
	for slug, c := range map[string]struct{ zone, currency, wantZone, wantCurrency string }{
		"codes":   {"europe/lisbon", "eur", "Europe/Lisbon", "EUR"},
		"symbols": {"Lisbon", "€", "Europe/Lisbon", "EUR"},
		"words":   {"sao paulo", "brl", "America/Sao_Paulo", "BRL"},
	} {
		form := newFirstForm("clinic")
		form.Set("slug", slug)
		form.Set("key", slug)
		form.Set("timezone", c.zone)
		form.Set("currency", c.currency)
		got := postForm(t, w, "/business", olga, form)
		text := w.Call(t, "GET", "/admin/businesses/"+slug, "", "Accept", yaml).Body
		if got.Status != 303 || !strings.Contains(text, "timezone: "+c.wantZone) ||
			!strings.Contains(text, "currency: "+c.wantCurrency) {
			t.Errorf("%s: %d %s\n%s", slug, got.Status, got.Body, text)
		}
	}
}

// TestFirstFormFillsCodesFromCountry shows that the country decides the time zone and the currency that a person leaves
// empty. A country with several time zones needs one. The typed address becomes the place of the business.
func TestFirstFormFillsCodesFromCountry(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	olga := addOperatorSession(t, w)
	form := newFirstForm("clinic")
	for name, value := range map[string]string{"timezone": "", "currency": "", "country": "JP", "street": "1-2 Ginza",
		"city": "Tokyo"} {
		form.Set(name, value)
	}
	if got := postForm(t, w, "/business", olga, form); got.Status != 303 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	text := w.Call(t, "GET", "/admin/businesses/clinic", "", "Accept", yaml).Body
	for _, want := range []string{"timezone: Asia/Tokyo", "currency: JPY", "street: 1-2 Ginza", "city: Tokyo",
		"country: JP"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	form.Set("slug", "us")
	form.Set("country", "US")
	got := postForm(t, w, "/business", olga, form)
	if got.Status != 422 || !strings.Contains(got.Body, "f-timezone-error") || !strings.Contains(got.Body,
		`value="1-2 Ginza"`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	submitStep(t, w, olga, "/business/clinic/first/business", url.Values{"name": {"Ginza"}, "timezone": {"Tokyo"},
		"currency": {"jpy"}, "default_language": {"ja"}, "locations.0.address.city": {"Kyoto"}})
	text = w.Call(t, "GET", "/admin/businesses/clinic", "", "Accept", yaml).Body
	if !strings.Contains(text, "city: Kyoto") || !strings.Contains(text, "timezone: Asia/Tokyo") {
		t.Errorf("the changed form is not in\n%s", text)
	}
}

// TestFormsOfferListsOfCodes shows that the first visit and the forms of the business offer lists of time zones,
// currencies and languages.
func TestFormsOfferListsOfCodes(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	olga := addOperatorSession(t, w)
	postForm(t, w, "/business", olga, newFirstForm("clinic"))
	for _, at := range []string{"/business", "/business/clinic/first/business", "/business/clinic/offer/business"} {
		page := getPage(t, w, at, olga).Body
		languages := page
		if strings.Contains(at, "/offer/") {
			languages = getPage(t, w, "/business/clinic/offer/languages", olga).Body
		}
		for name, value := range map[string]string{"timezone": "Asia/Tokyo", "currency": "JPY"} {
			list := regexp.MustCompile(`<input[^>]* name="` + name + `"[^>]*>`).FindString(page)
			id := regexp.MustCompile(` list="([^"]+)"`).FindStringSubmatch(list)
			if id == nil || !strings.Contains(page, `<datalist id="`+id[1]+`">`) ||
				!strings.Contains(page, `<option value="`+value+`"`) {
				t.Errorf("%s: %s has no list: %s", at, name, list)
			}
		}
		if !strings.Contains(languages, `<option value="ja">日本語</option>`) {
			t.Errorf("%s: languages are not chosen by name", at)
		}
	}
}

// TestLastFormShowsRecipientsAndDeadlines shows that the last form has the recipients of notifications and the
// deadlines of customers. The recipients are hidden from a manager, who may not change them.
func TestLastFormShowsRecipientsAndDeadlines(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	olga := addOperatorSession(t, w)
	harbor := publishText(
		t,
		w,
		consoletest.BuildManifest(
			"harbor",
			"Harbor",
		)+"open: false\nhours: {mon: [\"09:00-17:00\"]}\nnotifications: {owner_emails: [olga@example.com]}\n",
	)
	const at = "/business/harbor/first/policies"
	owned := getPage(t, w, at, olga).Body
	for _, want := range []string{"olga@example.com", `name="self_service.cancel_until_hours"`,
		`name="self_service.reschedule_until_hours"`} {
		if !strings.Contains(owned, want) {
			t.Errorf("%q is not in %s", want, owned)
		}
	}
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: harbor, Role: access.Manager})
	if managed := getPage(t, w, at, mia).Body; strings.Contains(managed, "owner_emails") {
		t.Errorf("the page asks a manager for the recipients of notices: %s", managed)
	}
	submitStep(t, w, mia, at, url.Values{"bookings.confirm": {"auto"}})
}

// TestOpeningNeedsSomethingToBook shows that a business opens only if customers can book something. Otherwise the owner
// reads what is missing.
func TestOpeningNeedsSomethingToBook(t *testing.T) {
	t.Parallel()
	class := "services: [{key: yoga, name: Yoga, duration_minutes: 60, classes: [{key: mon, weekday: mon, time: \"18:00\", capacity: 5}]}]\n"
	cut := "services: [{key: cut, name: Cut, duration_minutes: 30}]\n"
	kayak := "rentals: [{key: kayak, name: Kayak, price_type: daily, quantity: 1, units_count: 1, outside_hours: %s}]\n"
	for name, c := range map[string]struct{ offer, says string }{
		"nothing":               {"hours: {mon: [\"09:00-17:00\"]}\n", "No services yet."},
		"nothing active":        {strings.Replace(class, "name:", "active: false, name:", 1), "No services yet."},
		"no hours":              {cut, "No opening hours yet."},
		"empty hours":           {cut + "hours: {mon: []}\n", "No opening hours yet."},
		"hours":                 {cut + "hours: {mon: [\"09:00-17:00\"]}\n", ""},
		"a single date":         {cut + "overrides: [{date: 2030-01-01, hours: [\"09:00-17:00\"]}]\n", ""},
		"hours of a member":     {cut + "staff: [{key: anna, name: Anna, hours: {mon: [\"09:00-17:00\"]}}]\n", ""},
		"a class":               {class, ""},
		"a rental within hours": {strings.Replace(kayak, "%s", "false", 1), "No opening hours yet."},
		"a rental at any time":  {strings.Replace(kayak, "%s", "true", 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := consoletest.Start(t)
			publishText(
				t,
				w,
				"apiVersion: slotmesh/v1\nkind: Business\nslug: harbor\nname: Harbor\ncurrency: EUR\ntimezone: Europe/Lisbon\n"+
					"default_language: en\nopen: false\n"+c.offer,
			)
			got := postForm(
				t,
				w,
				"/business/harbor/first/policies?lang=en",
				addOperatorSession(t, w),
				url.Values{"base": {"1"}, "bookings.confirm": {"auto"}},
			)
			if want := map[bool]int{true: 303, false: 422}[c.says == ""]; got.Status != want ||
				!strings.Contains(got.Body, c.says) {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	}
}

// TestFirstVisitKeepsOrderOfForm shows that members and services of the first visit follow the existing ones, in
// the order of the form.
func TestFirstVisitKeepsOrderOfForm(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	olga := addOperatorSession(t, w)
	postForm(t, w, "/business", olga, newFirstForm("clinic"))
	const at = "/business/clinic/first/"
	submitStep(t, w, olga, at+"team", url.Values{"staff.n": {"4"}, "staff.2.name": {"Zoe"}, "staff.3.name": {"Ada"}})
	submitStep(t, w, olga, at+"services", url.Values{
		"services.n": {
			"5",
		}, "services.3.name": {"Yoga"}, "services.3.duration_minutes": {"20"}, "services.4.name": {"Advice"},
		"services.4.duration_minutes": {"20"},
	})
	m, _ := manifest.Parse([]byte(w.Call(t, "GET", "/admin/businesses/clinic", "", "Accept", yaml).Body))
	orders := map[string]int{}
	for i := range m.Staff {
		orders[string(m.Staff[i].Name)] = m.Staff[i].Order
	}
	for i := range m.Services {
		orders[string(m.Services[i].Name)] = m.Services[i].Order
		if m.Services[i].BufferAfterMinutes != 0 {
			t.Errorf("%s keeps time free that the first visit does not show", m.Services[i].Name)
		}
	}
	if orders["Zoe"] != 3 || orders["Ada"] != 4 || orders["Yoga"] != 4 || orders["Advice"] != 5 {
		t.Errorf("the order is %v", orders)
	}
	if value := getPage(t, w, "/business/clinic/offer/services/new", olga).Body; !strings.Contains(value,
		`value="6"`) ||
		strings.Count(value, `name="staff" value=`) != 4 || strings.Count(value, " checked") != 5 {
		t.Errorf("the form of a new service does not suggest the last position and all staff members: %s", value)
	}
}

// TestAddedRowHasFocus shows that the button that adds a row puts the cursor into the new row.
func TestAddedRowHasFocus(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	olga := addOperatorSession(t, w)
	postForm(t, w, "/business", olga, newFirstForm("clinic"))
	value := postForm(
		t,
		w,
		"/business/clinic/first/services",
		olga,
		url.Values{"base": {"1"}, "services.n": {"4"}, "more": {"services"}},
	).Body
	focused := regexp.MustCompile(`<input[^>]* autofocus[^>]*>`).FindAllString(value, -1)
	if len(focused) != 1 || !strings.Contains(focused[0], `name="services.4.name"`) {
		t.Errorf("the cursor is in %q", focused)
	}
}
