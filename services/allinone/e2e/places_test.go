package e2e

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
)

// The addresses of the places of [buildPlaces], as customers read them on one line.
const (
	harbourAddress = "Rua do Cais 1, 1100-001 Lisboa, Portugal"
	stationAddress = "Avenida da Linha 2, 4000-002 Porto, Portugal"
)

// buildPlaces returns the manifest of a salon with two places and a video call. Anna works at the harbour on Monday and
// at the station on Friday. On Tuesday she works at both, and needs 20 minutes to change the place.
func buildPlaces(slug string) string {
	return fmt.Sprintf(`apiVersion: slotmesh/v1
kind: Business
slug: %s
name: Salon
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en]
modules: {services: true, events: true, rentals: true}
bookings: {slot_interval_minutes: 15, min_notice_minutes: 0, advance_days: 365, location_change_minutes: 20}
self_service: {cancel_until_hours: 0, reschedule_until_hours: 0}
locations:
  - {key: harbour, kind: place, name: Harbour, geo: {lat: 38.71, lon: -9.13},
     address: {street: Rua do Cais 1, postal_code: 1100-001, city: Lisboa, country: PT}}
  - {key: station, kind: place, name: Station,
     address: {street: Avenida da Linha 2, postal_code: 4000-002, city: Porto, country: PT}}
  - {key: video, kind: link, name: Video call, link: "https://meet.example.org/{code}"}
hours: {mon: ["09:00-17:00"], tue: ["09:00-17:00"], wed: ["09:00-17:00"], fri: ["09:00-17:00"]}
staff:
  - key: anna
    name: Anna
    at:
      harbour: {mon: ["09:00-17:00"], tue: ["09:00-13:00"]}
      station: {tue: ["10:00-15:00"], fri: ["09:00-17:00"]}
      video: {wed: ["09:00-17:00"]}
services:
  - {key: cut, name: Cut, duration_minutes: 45, price: 40.00, staff: [anna], locations: [harbour, station, video]}
  - {key: wash, name: Wash, duration_minutes: 30, buffer_after_minutes: 30, price: 10.00, staff: [anna],
     locations: [harbour, station]}
`, slug)
}

// placesSalon is a published business of [buildPlaces].
type placesSalon struct {
	*platform
	slug, key string
	services  map[string]string // ids by name
	locations map[string]string // ids by name
}

func publishPlaces(t *testing.T, slug string) *placesSalon {
	t.Helper()
	w := sharePlatform(t)
	w.publish(t, slug, buildPlaces(slug))
	s := &placesSalon{platform: w, slug: slug, key: w.createKey(t, slug, "write"),
		services: w.idsByName(t, slug, "services"), locations: map[string]string{}}
	var info struct{ Locations []struct{ ID, Name string } }
	w.get(t, slug+"/info").decode(t, http.StatusOK, &info)
	for _, l := range info.Locations {
		s.locations[l.Name] = l.ID
	}
	if len(s.locations) != 3 {
		t.Fatalf("info lists %v", info)
	}
	return s
}

// placedBooking is the answer of POST /book.
type placedBooking struct {
	ManageURL string `json:"manage_url"`
	Booking   struct {
		ID       string
		Location struct{ ID, Kind, Name string }
	}
}

// bookAt books a Cut. The argument `at` is the name of the location, or "" for any.
func (s *placesSalon) bookAt(t *testing.T, at, date, clock, email string) placedBooking {
	t.Helper()
	o := newOrder(s.services["Cut"], date, clock).withField("customer_email", email)
	if at != "" {
		o["location_id"] = s.locations[at]
	}
	var booked placedBooking
	s.book(t, s.slug, s.key, o).decode(t, http.StatusCreated, &booked)
	return booked
}

// change makes a transition or a relocation of a booking.
func (s *placesSalon) change(t *testing.T, id, action string, body any) reply {
	t.Helper()
	return s.callAdmin(t, http.MethodPost, "businesses/"+s.slug+"/bookings/"+id+"/"+action, encodeJSON(t, body))
}

// listAt returns the starts of a service on a date at a location, or at any location if `at` is "".
func (s *placesSalon) listAt(t *testing.T, service, at, date string) []string {
	t.Helper()
	query := "service_id=" + s.services[service]
	if at != "" {
		query += "&location_id=" + s.locations[at]
	}
	return s.listTimes(t, s.slug, date, query)
}

// mailText returns the decoded text and calendar parts of a mail.
func mailText(t *testing.T, m mailbox.Mail) string {
	t.Helper()
	read, err := mail.ReadMessage(strings.NewReader(string(m.Raw)))
	if err != nil {
		t.Fatal(err)
	}
	return readParts(t, read.Header.Get("Content-Type"), read.Header.Get("Content-Transfer-Encoding"), read.Body)
}

// readParts returns the decoded text of a part of a mail and of all parts inside it.
func readParts(t *testing.T, contentType, encoding string, body io.Reader) string {
	t.Helper()
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatal(err)
	}
	switch strings.ToLower(encoding) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	if !strings.HasPrefix(kind, "multipart/") {
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var all strings.Builder
	for parts := multipart.NewReader(body, parameters["boundary"]); ; {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(readParts(t, part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part))
	}
}

func TestMemberWorksAtTwoPlacesOnDifferentDays(t *testing.T) {
	t.Parallel()
	s := publishPlaces(t, "two-places")
	const harbourMonday, stationFriday = "2027-03-08", "2027-03-12"
	for date, want := range map[string]string{harbourMonday: "Harbour", stationFriday: "Station"} {
		for name := range s.locations {
			if listed := s.listAt(t, "Cut", name, date); (len(listed) > 0) != (name == want) {
				t.Errorf("%s at %s: %v", date, name, listed)
			}
		}
		if any := s.listAt(t, "Cut", "", date); !slices.Equal(any, s.listAt(t, "Cut", want, date)) {
			t.Errorf("%s without a location: %v", date, any)
		}
	}
	monday, friday := s.bookAt(t, "", harbourMonday, "10:00", "places-mon@example.com"),
		s.bookAt(t, "Station", stationFriday, "10:00", "places-fri@example.com")
	s.checkAddress(t, monday, "places-mon@example.com", "Harbour", harbourAddress, stationAddress)
	s.checkAddress(t, friday, "places-fri@example.com", "Station", stationAddress, harbourAddress)

	// A relocation changes the address everywhere, and the calendar entry.
	s.change(t, friday.Booking.ID, "relocate", map[string]any{"location_id": s.locations["Harbour"]}).
		checkStatus(t, http.StatusConflict, "closed")
	s.change(t, friday.Booking.ID, "relocate", map[string]any{"location_id": unknownID}).
		checkStatus(t, http.StatusNotFound, "location_not_found")
	tuesday := s.bookAt(t, "Harbour", "2027-03-09", "10:00", "places-tue@example.com")
	s.checkAddress(t, tuesday, "places-tue@example.com", "Harbour", harbourAddress, stationAddress)
	s.change(t, tuesday.Booking.ID, "relocate", map[string]any{"location_id": s.locations["Station"]}).
		checkStatus(t, http.StatusOK, "")
	mails := s.inbox.await(t, "places-tue@example.com", 2)
	if text := mailText(t, mails[1]); !strings.Contains(text, stationAddress) || strings.Contains(text, harbourAddress) {
		t.Errorf("the mail about the relocation reads %s", text)
	}
	moved := s.browse(t, tuesday.ManageURL+"/calendar.ics", nil).text
	if !strings.Contains(unfold(moved), escapeCalendar(stationAddress)) || !strings.Contains(moved, "SEQUENCE:2") {
		t.Errorf("the calendar entry after the relocation: %s", moved)
	}
	s.browse(t, tuesday.ManageURL, nil).checkPage(t, "relocated", http.StatusOK, "Avenida da Linha 2")
}

// unfold joins the folded lines of a calendar.
func unfold(calendar string) string { return strings.ReplaceAll(calendar, "\r\n ", "") }

// escapeCalendar returns a text as calendars contain it.
func escapeCalendar(text string) string { return strings.ReplaceAll(text, ",", `\,`) }

// checkAddress checks that the answer, the mail, its calendar entry, the calendar file and the page of the customer
// name the same address, and not the other one.
func (s *placesSalon) checkAddress(t *testing.T, b placedBooking, email, name, address, other string) {
	t.Helper()
	if b.Booking.Location.ID != s.locations[name] || b.Booking.Location.Name != name {
		t.Errorf("booked at %+v, want %s", b.Booking.Location, name)
	}
	text := mailText(t, s.inbox.await(t, email, 1)[0])
	ics := s.browse(t, b.ManageURL+"/calendar.ics", nil).text
	street, _, _ := strings.Cut(address, ",")
	otherStreet, _, _ := strings.Cut(other, ",")
	for where, content := range map[string]string{"mail": text, "calendar": unfold(ics),
		"page": s.browse(t, b.ManageURL, nil).text} {
		if !strings.Contains(content, street) || strings.Contains(content, otherStreet) {
			t.Errorf("the %s of the booking at %s names another address: %s", where, name, content)
		}
	}
	for where, content := range map[string]string{"mail": unfold(text), "calendar": unfold(ics)} {
		if !strings.Contains(content, "LOCATION:"+escapeCalendar(address)) {
			t.Errorf("the calendar entry in the %s has another location: %s", where, content)
		}
	}
}

// TestStartsOfTwoPlacesEqualAcceptedStarts tries every quarter of an hour of a day on which Anna works at two places
// and has bookings at both. POST /book accepts exactly the listed starts, with a location and without.
func TestStartsOfTwoPlacesEqualAcceptedStarts(t *testing.T) {
	t.Parallel()
	s := publishPlaces(t, "place-starts")
	const tuesday = "2027-03-09"
	s.bookAt(t, "Harbour", tuesday, "09:30", "places-starts@example.com")
	s.bookAt(t, "Station", tuesday, "12:15", "places-starts@example.com")
	for _, service := range []string{"Cut", "Wash"} {
		for _, at := range []string{"", "Harbour", "Station"} {
			listed, key := s.listAt(t, service, at, tuesday), s.createKey(t, s.slug, "write")
			var accepted []string
			for minute := 8 * 60; minute < 17*60; minute += 15 {
				o := newOrder(s.services[service], tuesday, fmt.Sprintf("%02d:%02d", minute/60, minute%60))
				if at != "" {
					o["location_id"] = s.locations[at]
				}
				a := s.book(t, s.slug, key, o)
				if a.status == http.StatusConflict {
					continue
				}
				var booked placedBooking
				a.decode(t, http.StatusCreated, &booked)
				accepted = append(accepted, o["time"].(string))
				s.change(t, booked.Booking.ID, "cancel", map[string]any{}).checkStatus(t, http.StatusOK, "")
			}
			if !slices.Equal(listed, accepted) || len(listed) == 0 {
				t.Errorf("%s at %q: listed %v, accepted %v", service, at, listed, accepted)
			}
		}
	}
	// The wash has a buffer after it, which is longer than the time to change the place.
	if listed := s.listAt(t, "Cut", "Station", tuesday); !slices.Contains(listed, "11:00") ||
		slices.Contains(listed, "10:30") {
		t.Errorf("after the booking at the harbour until 10:15, the station lists %v", listed)
	}
}

func TestConcurrentBookingsAtTwoPlacesMakeOne(t *testing.T) {
	t.Parallel()
	s := publishPlaces(t, "place-race")
	for round, date := range []string{"2027-03-09", "2027-03-16", "2027-03-23"} {
		var orders []order
		for i := range 40 {
			// The two starts are 15 minutes apart without the duration, which is less than the time to change the place.
			at, clock := "Harbour", "11:00"
			if i%2 == 1 {
				at, clock = "Station", "12:00"
			}
			orders = append(orders, newOrder(s.services["Cut"], date, clock).withField("location_id", s.locations[at]))
		}
		if counts := s.bookConcurrently(t, s.slug, orders); counts[http.StatusCreated] != 1 {
			t.Errorf("%s: got %v, want 1 created", date, counts)
		}
		if live := s.countBookings(t, s.slug); live != round+1 {
			t.Errorf("%s: %d bookings in the owner's list", date, live)
		}
	}
}

func TestMeetingLinkIsShownWhileConfirmed(t *testing.T) {
	t.Parallel()
	s := publishPlaces(t, "place-link")
	const host, email = "https://meet.example.org/", "places-video@example.com"
	booked := s.bookAt(t, "Video call", "2027-03-10", "10:00", email)
	read := func() []string {
		t.Helper()
		page, ics := s.browse(t, booked.ManageURL, nil).text, unfold(s.browse(t, booked.ManageURL+"/calendar.ics", nil).text)
		return []string{findRoom(page), findRoom(ics)}
	}
	if got := read(); got[0]+got[1] != "" {
		t.Errorf("pending: %q", got)
	}
	if text := mailText(t, s.inbox.await(t, email, 1)[0]); strings.Contains(text, host) {
		t.Errorf("the mail about the pending booking shows the link: %s", text)
	}
	var admin struct{ Location struct{ Link string } }
	s.change(t, booked.Booking.ID, "confirm", map[string]any{}).decode(t, http.StatusOK, &admin)
	link := admin.Location.Link
	if got := read(); len(link) != len(host)+26 || got[0] != link || got[1] != link {
		t.Errorf("confirmed: the owner sees %q, the customer %q", link, got)
	}
	if text := mailText(t, s.inbox.await(t, email, 2)[1]); findRoom(text) != link ||
		!strings.Contains(unfold(text), "CONFERENCE") {
		t.Errorf("the mail about the confirmed booking lacks the link %s: %s", link, text)
	}
	other := s.bookAt(t, "Video call", "2027-03-10", "11:00", email)
	s.change(t, other.Booking.ID, "confirm", map[string]any{}).decode(t, http.StatusOK, &admin)
	if admin.Location.Link == link {
		t.Errorf("two bookings have the link %s", link)
	}
	s.change(t, booked.Booking.ID, "cancel", map[string]any{}).checkStatus(t, http.StatusOK, "")
	if got := read(); got[0]+got[1] != "" {
		t.Errorf("cancelled: %q", got)
	}
}

// findRoom returns the first meeting link in a text, or "".
func findRoom(text string) string {
	const host = "https://meet.example.org/"
	_, rest, ok := strings.Cut(text, host)
	if !ok {
		return ""
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '2' || r > '7') })
	if end < 0 {
		end = len(rest)
	}
	return host + rest[:end]
}

func TestUnknownLocationIsRejected(t *testing.T) {
	t.Parallel()
	s := publishPlaces(t, "place-unknown")
	cut, wash := s.services["Cut"], s.services["Wash"]
	for _, c := range []struct{ service, location string }{{cut, unknownID}, {wash, s.locations["Video call"]}} {
		query := "service_id=" + c.service + "&location_id=" + c.location
		s.get(t, s.slug+"/slots?date=2027-03-09&"+query).checkStatus(t, http.StatusNotFound, "location_not_found")
		s.get(t, s.slug+"/available-dates?start=2027-03-09&end=2027-03-10&"+query).
			checkStatus(t, http.StatusNotFound, "location_not_found")
		s.book(t, s.slug, s.key, newOrder(c.service, "2027-03-09", "10:00").withField("location_id", c.location)).
			checkStatus(t, http.StatusNotFound, "location_not_found")
	}
	s.book(t, s.slug, s.key, newOrder(cut, "2027-03-09", "10:00").withField("location_id", "x")).
		checkStatus(t, http.StatusBadRequest, "invalid_parameter")
	if n := s.countBookings(t, s.slug); n != 0 {
		t.Errorf("%d bookings were made", n)
	}
}

// TestBusinessComesToCustomer books at a customer's address by POST /book and by the form of the booking page. The page,
// the mail and the calendar entry show the address. The time of the way is kept free. An erasure removes the address.
func TestBusinessComesToCustomer(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	const slug, street = "comes-home", "Filbert Lane 7"
	manifest := strings.NewReplacer("bookings: {", `locations:
  - {key: home, kind: customer_address, name: At your place, countries: [PT], postal_codes: ["11*"], travel_minutes: 30}
bookings: {`, "name: Salon", "name: Mobile salon").Replace(buildSalon(slug, 1))
	w.publish(t, slug, manifest)
	cut, key := w.idsByName(t, slug, "services")["Cut"], w.createKey(t, slug, "write")
	address := func(code string) map[string]any {
		return map[string]any{"street": street, "postal_code": code, "city": "Lisboa", "country": "PT", "note": "left bell"}
	}
	o := newOrder(cut, "2027-03-02", "10:00").withField("customer_email", "home@example.com")
	w.book(t, slug, key, o).checkStatus(t, http.StatusBadRequest, "invalid_parameter")
	w.book(t, slug, key, o.withField("customer_address", address("4000-001"))).checkStatus(t, http.StatusConflict,
		"outside_area")
	var booked placedBooking
	w.book(t, slug, key, o.withField("customer_address", address("1100-001"))).decode(t, http.StatusCreated, &booked)
	if kind := booked.Booking.Location.Kind; kind != "customer_address" {
		t.Errorf("booked at a %s", kind)
	}
	listed := w.listTimes(t, slug, "2027-03-02", "service_id="+cut)
	if slices.Contains(listed, "11:00") || !slices.Contains(listed, "11:45") {
		t.Errorf("from 10:00 to 10:45 and the way before and after, the times are %v", listed)
	}
	read := func() map[string]string {
		return map[string]string{
			"page": w.browse(t, booked.ManageURL, nil).text, "mail": mailText(t, w.inbox.await(t, "home@example.com", 1)[0]),
			"calendar": unfold(w.browse(t, booked.ManageURL+"/calendar.ics", nil).text),
		}
	}
	for where, text := range read() {
		if !strings.Contains(text, street) || !strings.Contains(text, "left bell") {
			t.Errorf("the %s lacks the address: %s", where, text)
		}
	}
	var owners struct {
		CustomerAddress struct{ Street string } `json:"customer_address"`
	}
	at := "businesses/" + slug + "/bookings/" + booked.Booking.ID
	w.callAdmin(t, http.MethodGet, at, nil).decode(t, http.StatusOK, &owners)
	if owners.CustomerAddress.Street != street {
		t.Errorf("the owner sees %+v", owners)
	}
	w.callAdmin(t, http.MethodPost, "businesses/"+slug+"/customers/erase",
		[]byte(`{"email":"home@example.com","force":true}`)).checkStatus(t, http.StatusOK, "")
	if a := w.callAdmin(t, http.MethodGet, at, nil); strings.Contains(string(a.body), "Filbert") {
		t.Errorf("after the erasure: %s", a.body)
	}
	w.bookAtHomeByForm(t, slug, cut, street)
}

// bookAtHomeByForm books by the form of the booking page, which asks for the address and keeps what was typed.
func (w *platform) bookAtHomeByForm(t *testing.T, slug, cut, street string) {
	t.Helper()
	form := w.PublicURL + "/b/" + slug + "/details?service=" + cut + "&date=2027-03-03&time=10:00"
	details := map[string][]string{"name": {"Zoe"}, "email": {"zoe-home@example.com"}, "street": {street},
		"postal_code": {"4000-001"}, "city": {"Lisboa"}, "note": {"left bell"}}
	page := w.browse(t, form, nil)
	page.checkPage(t, "the form", http.StatusOK, `name="street"`, `name="postal_code"`, `name="city"`, `name="note"`)
	refused := w.browse(t, form, page.fillForm(t, details))
	refused.checkPage(t, "outside the area", http.StatusUnprocessableEntity, "We do not come to this address.", street)
	details["postal_code"] = []string{"1150-300"}
	done := w.browse(t, form, refused.fillForm(t, details))
	if done.status != http.StatusSeeOther {
		t.Fatalf("%d %s", done.status, done.text)
	}
	w.browse(t, w.PublicURL+strings.TrimPrefix(done.location, w.PublicURL), nil).checkPage(t, "booked", http.StatusOK, street)
}

// TestCustomerReschedulesToAnotherPlace follows the links of the page on which a customer chooses another time.
func TestCustomerReschedulesToAnotherPlace(t *testing.T) {
	t.Parallel()
	s := publishPlaces(t, "place-moves")
	booked := s.bookAt(t, "Harbour", "2027-03-09", "10:00", "places-moves@example.com")
	page := s.browse(t, booked.ManageURL+"/move?at="+s.locations["Station"], nil)
	page.checkPage(t, "the times at the station", http.StatusOK, "Station", "Harbour")
	starts := page.listOfferedStarts(t, "2027-03-09")
	if starts["14:00"] == "" || !strings.Contains(starts["14:00"], "at="+s.locations["Station"]) {
		t.Fatalf("the page offers %v", starts)
	}
	if moved := s.browse(t, booked.ManageURL+"/move", url.Values{"to": {starts["14:00"]}}); moved.status !=
		http.StatusSeeOther {
		t.Fatalf("%d %s", moved.status, moved.text)
	}
	s.browse(t, booked.ManageURL, nil).checkPage(t, "moved", http.StatusOK, "Avenida da Linha 2", "14:00")
}

// TestDiffListsBookingsAtRemovedLocation requests the effects of a manifest without the station. The answer lists the
// booking at the station, and not the booking at the harbour.
func TestDiffListsBookingsAtRemovedLocation(t *testing.T) {
	t.Parallel()
	s := publishPlaces(t, "place-removed")
	s.bookAt(t, "Harbour", "2027-03-09", "10:00", "places-removed@example.com")
	booked := s.bookAt(t, "Station", "2027-03-12", "10:00", "places-removed@example.com")
	manifest := buildPlaces("place-removed")
	from, to := strings.Index(manifest, "  - {key: station"), strings.Index(manifest, "  - {key: video")
	manifest = strings.NewReplacer("harbour, station, video", "harbour, video", "harbour, station", "harbour",
		`      station: {tue: ["10:00-15:00"], fri: ["09:00-17:00"]}`+"\n", "").Replace(manifest[:from] + manifest[to:])
	var plan struct {
		Outside struct {
			Count    int
			Bookings []struct {
				Booking struct{ ID string }
				Reason  struct{ Rule, Message string }
			}
		}
	}
	header := http.Header{"Authorization": {"Bearer " + s.AdminToken}, "Content-Type": {"application/yaml"}}
	s.do(t, http.MethodPost, s.AdminURL+"/admin/businesses/place-removed/diff", []byte(manifest), header).
		decode(t, http.StatusOK, &plan)
	if plan.Outside.Count != 1 || plan.Outside.Bookings[0].Booking.ID != booked.Booking.ID ||
		plan.Outside.Bookings[0].Reason.Rule != "removed" {
		t.Errorf("without the station: %+v", plan.Outside)
	}
}

// TestNewAddressReachesCustomersOnce publishes a new address of the harbour three times: without messages, with
// messages, and again under the same key. The customer at the harbour gets one message with both addresses, the customer
// at the station none.
func TestNewAddressReachesCustomersOnce(t *testing.T) {
	t.Parallel()
	s := publishPlaces(t, "place-address")
	booked := s.bookAt(t, "Harbour", "2027-03-09", "10:00", "places-address@example.com")
	s.bookAt(t, "Station", "2027-03-12", "10:00", "places-other@example.com")
	s.inbox.await(t, "places-address@example.com", 1)
	header := http.Header{"Authorization": {"Bearer " + s.AdminToken}, "Content-Type": {"application/yaml"}}
	publish := func(query, street string) {
		t.Helper()
		text := strings.Replace(buildPlaces(s.slug), "Rua do Cais 1", street, 1)
		s.do(t, http.MethodPut, s.AdminURL+"/admin/businesses/"+s.slug+query, []byte(text), header).
			checkStatus(t, http.StatusOK, "")
	}
	publish("", "Rua Nova 7")
	header.Set("Idempotency-Key", "place-address")
	publish("?notify_customers=true", "Rua Nova 9")
	publish("?notify_customers=true", "Rua Nova 9")
	text := mailText(t, s.inbox.await(t, "places-address@example.com", 2)[1])
	for _, part := range []string{"Rua Nova 9, 1100-001 Lisboa, Portugal", "Rua Nova 7, 1100-001 Lisboa"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in the mail: %s", part, text)
		}
	}
	if ics := s.browse(t, booked.ManageURL+"/calendar.ics", nil).text; !strings.Contains(ics, "SEQUENCE:2") {
		t.Errorf("the calendar entry: %s", ics)
	}
	// A message after another change shows that no second message about the address came before it.
	s.change(t, booked.Booking.ID, "cancel", map[string]any{}).checkStatus(t, http.StatusOK, "")
	if text := mailText(t, s.inbox.await(t, "places-address@example.com", 3)[2]); strings.Contains(text, "Rua Nova 7") {
		t.Errorf("a second message about the address: %s", text)
	}
	if n := len(s.inbox.await(t, "places-other@example.com", 1)); n != 1 {
		t.Errorf("%d mails at the station, want 1", n)
	}
}
