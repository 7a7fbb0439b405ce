package view

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

func newPlacePage(t *testing.T) *Page {
	t.Helper()
	return newPage(t, &catalog.Snapshot{
		Locations: []catalog.Location{{Kind: catalog.KindPlace, Geo: &catalog.Geo{Lat: 38.71, Lon: -9.13},
			Address: postal.Address{Street: "Rua 1", PostalCode: "1100-001", City: "Lisboa", Country: "PT"}}},
		Contact: catalog.Contact{Phone: "+351 21 000 00 00", Email: "hello@harbor.example",
			Website: "https://www.harbor.example/"},
		Legal: catalog.Legal{Imprint: catalog.Label{Text: "https://harbor.example/imprint"},
			Terms: catalog.Label{Text: "Be kind.\nBe on time."}},
	})
}

func TestFrontPageShowsPlaceAndContact(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newPlacePage(t)
	if err := Document(p, p.newFront("", p.title("services"), emptyTab(p))).Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<title>Harbor, Lisboa</title>", "<h1>Harbor</h1>", "Rua 1, 1100-001 Lisboa</a>", `href="tel:+351210000000"`,
		`href="geo:38.71,-9.13?q=38.71%2C-9.13%28Harbor%29"`, `href="mailto:hello@harbor.example"`, ">harbor.example<",
		`href="https://harbor.example/imprint"`, `href="/b/harbor/legal/terms"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "legal/privacy") {
		t.Error("the page links to a text that does not exist")
	}
}

func TestLegalPageShowsOwnTextsOnly(t *testing.T) {
	t.Parallel()
	p := newPlacePage(t)
	for part, want := range map[string]bool{"terms": true, "imprint": false, "privacy": false, "other": false} {
		if _, ok := LegalPage(p, part); ok != want {
			t.Errorf("%s: %v", part, ok)
		}
	}
}

func TestCountryOfAddressDecidesWordsOfButton(t *testing.T) {
	t.Parallel()
	p := newPlacePage(t)
	if p.Business.Snapshot.Timezone = "America/New_York"; !p.Business.IsInEU() {
		t.Error("a business with an address in Portugal is not in the European Union")
	}
	p.Business.Snapshot.Locations[0].Address.Country = "CH"
	if p.Business.Snapshot.Timezone = "Europe/Lisbon"; p.Business.IsInEU() {
		t.Error("a business with an address in Switzerland is in the European Union")
	}
}

// The front page shows the buttons of the business in its order, its links to social networks, and hours that search
// engines can read.
func TestFrontPageShowsLinksOfBusiness(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newPlacePage(t)
	p.Business.Snapshot.Hours = catalog.WeekHours{
		time.Tuesday: {{From: 9 * 60, To: 12*60 + 30}, {From: 20 * 60, To: 26 * 60}}, // 1 December 2026 is a Tuesday
	}
	p.Business.Info = &publicapi.BusinessInfo{
		SocialLinks: map[string]string{"youtube": "https://video.example/harbor",
			"instagram": "https://photos.example/harbor"},
		ActionButtons: []publicapi.ActionButton{{Type: "link", Label: "Menu", Content: "https://harbor.example/menu"},
			{Type: "other", Label: "Dance"}},
	}
	if err := p.newFront("", p.title("services"), emptyTab(p)).Body.Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`href="https://harbor.example/menu" rel="noopener"><bdi>Menu</bdi>`,
		`href="https://photos.example/harbor" rel="noopener"><bdi>Instagram</bdi>`,
		`href="https://video.example/harbor" rel="noopener"><bdi>YouTube</bdi>`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "Dance") {
		t.Error("a button without an address is shown")
	}
	data := encodeData(p.describeBusiness(nil))
	for _, want := range []string{`"sameAs":["https://photos.example/harbor","https://video.example/harbor"]`,
		`"dayOfWeek":"https://schema.org/Tuesday","opens":"09:00","closes":"12:30","validFrom":"2026-12-01"`,
		`"opens":"20:00","closes":"02:00"`} {
		if !strings.Contains(data, want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
}

func TestCustomerViewShowsLocationOfBooking(t *testing.T) {
	t.Parallel()
	place, video, call := uuid.New(), uuid.New(), uuid.New()
	newBookedPage := func() *Page {
		return newPage(t, &catalog.Snapshot{Locations: []catalog.Location{
			{ID: uuid.New(), Kind: catalog.KindPlace, Address: postal.Address{City: "Porto"}},
			{ID: place, Kind: catalog.KindPlace, Name: catalog.Label{Text: "Station"}, Address: postal.Address{City: "Lisboa"},
				DirectionsHTML: catalog.Label{Text: "<p>Second door.</p>"}},
			{ID: video, Kind: catalog.KindLink, Name: catalog.Label{Text: "Video call"}},
			{ID: call, Kind: catalog.KindPhone, Name: catalog.Label{Text: "Call us"}, Calls: catalog.CallsCustomer, Phone: "+351 21"},
		}})
	}
	for name, c := range map[string]struct {
		status         string
		at             *booking.BookedLocation
		want, mustMiss []string
	}{
		"no location": {booking.StatusConfirmed, nil, []string{"Porto"}, []string{"Lisboa"}},
		"place": {booking.StatusConfirmed, &booking.BookedLocation{ID: place},
			[]string{"Station", "Lisboa", "<p>Second door.</p>", `href="geo:0,0?q=Lisboa"`}, []string{"Porto"}},
		"meeting": {booking.StatusConfirmed, &booking.BookedLocation{ID: video, Kind: catalog.KindLink, Link: "https://m.example/1"},
			[]string{"Video call", `href="https://m.example/1"`}, []string{"Porto", "comes with the confirmation"}},
		"pending meeting": {booking.StatusPending, &booking.BookedLocation{ID: video, Kind: catalog.KindLink},
			[]string{"Video call", "The link comes with the confirmation."}, []string{"m.example"}},
		"call":    {booking.StatusConfirmed, &booking.BookedLocation{ID: call}, []string{"Call us", `href="tel:+35121"`}, []string{"Porto"}},
		"removed": {booking.StatusConfirmed, &booking.BookedLocation{ID: uuid.New(), Name: "Old salon"}, []string{"Old salon"}, []string{"Porto"}},
	} {
		var out strings.Builder
		m := &usecase.CustomerView{Booking: &booking.CustomerBooking{Status: c.status, Location: c.at}}
		if err := CustomerView(newBookedPage(), m, "").Body.Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		for _, text := range c.want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: no %s in %s", name, text, out.String())
			}
		}
		for _, text := range c.mustMiss {
			if strings.Contains(out.String(), text) {
				t.Errorf("%s: %s in %s", name, text, out.String())
			}
		}
	}
}

// newSoldPage returns a page of a business with two places and a video call. The event and the rental with the
// returned id are at the location with the index `at`.
func newSoldPage(t *testing.T, at int) (*Page, uuid.UUID) {
	t.Helper()
	locations := []catalog.Location{
		{ID: uuid.New(), Kind: catalog.KindPlace, Name: catalog.Label{Text: "Quay"}, Address: postal.Address{City: "Porto"}},
		{ID: uuid.New(), Kind: catalog.KindPlace, Name: catalog.Label{Text: "Station"},
			Address: postal.Address{City: "Lisboa"}},
		{ID: uuid.New(), Kind: catalog.KindLink, Name: catalog.Label{Text: "Video call"}},
	}
	id := uuid.New()
	return newPage(t, &catalog.Snapshot{Locations: locations,
		Events:  []catalog.Event{{ID: id, LocationID: &locations[at].ID}},
		Rentals: []catalog.Rental{{ID: id, LocationID: &locations[at].ID}}}), id
}

func TestSalesShowTheirOwnLocation(t *testing.T) {
	t.Parallel()
	p, id := newSoldPage(t, 1)
	rented := &usecase.Rental{Rental: publicapi.Rental{ID: id, Price: "1"}}
	times := RentalTimes{Calendar: &usecase.Calendar{}}
	shown := &usecase.Event{Event: publicapi.Event{ID: id}}
	ticket := &usecase.CustomerView{Ticket: &booking.CustomerTicket{EventID: id}}
	reservation := &usecase.CustomerView{Reservation: &rental.CustomerReservation{RentalID: id}}
	for name, c := range map[string]templ.Component{
		"event":                   Event(p, usecase.ReadBasket(shown, nil)).Body,
		"ticket":                  CustomerView(p, ticket, "").Body,
		"cancelled ticket":        Cancel(p, ticket, false).Body,
		"reservation":             CustomerView(p, reservation, "").Body,
		"cancelled reservation":   Cancel(p, reservation, false).Body,
		"rental":                  Rental(p, &usecase.Reservation{Rental: rented}, times).Body,
		"reservation in the form": rentalPlace(p, id),
	} {
		var out strings.Builder
		if err := c.Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "Station") || !strings.Contains(out.String(), "Lisboa") ||
			strings.Contains(out.String(), "Porto") {
			t.Errorf("%s does not name its place alone:\n%s", name, out.String())
		}
	}
}

// TestRemovedSalesShowNoOtherLocation shows that the page of a ticket names no place of the business if the business
// no longer offers the event and has several places.
func TestRemovedSalesShowNoOtherLocation(t *testing.T) {
	t.Parallel()
	p, _ := newSoldPage(t, 1)
	var out strings.Builder
	ticket := &usecase.CustomerView{Ticket: &booking.CustomerTicket{EventID: uuid.New()}}
	if err := CustomerView(p, ticket, "").Body.Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "Porto") || strings.Contains(out.String(), "Lisboa") {
		t.Errorf("the page names a place of the business:\n%s", out.String())
	}
}

func TestDescribeEventHasOwnLocation(t *testing.T) {
	t.Parallel()
	for at, want := range []string{
		`Offline* "location":{"@type":"Place","name":"Quay"*"addressLocality":"Porto"`,
		`Offline* "location":{"@type":"Place","name":"Station"*"addressLocality":"Lisboa"`,
		`Online* "location":{"@type":"VirtualLocation","name":"Video call","url":"/b/harbor/events/*"}`,
	} {
		p, id := newSoldPage(t, at)
		data := encodeData(p.describeEvent(&usecase.Event{Event: publicapi.Event{ID: id}}))
		rest := data
		for _, part := range strings.Split(strings.ReplaceAll(want, "* ", "*"), "*") {
			_, after, isFound := strings.Cut(rest, part)
			if rest = after; !isFound {
				t.Errorf("%d: no %s in %s", at, part, data)
			}
		}
	}
}

func TestCalendarLinksNameTheLocation(t *testing.T) {
	t.Parallel()
	start := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	p, id := newSoldPage(t, 1)
	p.setPlace(&usecase.CustomerView{Ticket: &booking.CustomerTicket{EventID: id}})
	for want, link := range map[string]string{"Lisboa": "", "https://m.example/1": "https://m.example/1"} {
		p.MeetingLink = link
		for _, u := range []templ.SafeURL{p.googleURL("Gala", start, start), p.outlookURL("Gala", start, start)} {
			if parsed, err := url.Parse(string(u)); err != nil || parsed.Query().Get("location") != want {
				t.Errorf("%s has no location %s: %v", u, want, err)
			}
		}
	}
}

func TestMonthURLKeepsLocation(t *testing.T) {
	t.Parallel()
	p, _ := newSoldPage(t, 0)
	at := p.Business.Snapshot.Locations[1].ID
	a := &usecase.Appointment{Selection: usecase.Selection{Location: &at}}
	u := string(p.monthURL(a, timespan.NewDate(2027, 1, 1)))
	if !strings.Contains(u, "at="+at.String()) || !strings.Contains(u, "month=2027-01") {
		t.Error(u)
	}
}

// TestFullTextFollowsHoursOfLocation shows that a date is closed if the location of the sale is closed.
func TestFullTextFollowsHoursOfLocation(t *testing.T) {
	t.Parallel()
	p, tuesday := newPlacePage(t), timespan.NewDate(2026, 12, 1)
	p.Business.Snapshot.Hours[time.Tuesday] = []timespan.Window{{From: 9 * 60, To: 17 * 60}}
	open := p.fullText(tuesday)
	p.At = &catalog.Location{Hours: &catalog.WeekHours{}}
	if closed := p.fullText(tuesday); closed != p.Words.Say("closed_day") || closed == open {
		t.Errorf("open: %s; closed: %s", open, closed)
	}
}

// TestRescheduleStatesHoursOfListedLocation shows that a date without starts is closed if the location whose dates the
// page lists is closed, whatever the hours of the booking's own location are. The page states the given problem.
func TestRescheduleStatesHoursOfListedLocation(t *testing.T) {
	t.Parallel()
	p, _ := newSoldPage(t, 0)
	tuesday, places := timespan.NewDate(2026, 12, 1), p.Business.Snapshot.Locations
	places[0].Hours = &catalog.WeekHours{time.Tuesday: {{From: 9 * 60, To: 17 * 60}}}
	places[1].Hours = &catalog.WeekHours{}
	m := &usecase.CustomerView{Business: p.Business,
		Booking: &booking.CustomerBooking{Location: &booking.BookedLocation{ID: places[0].ID}}}
	c := &usecase.Calendar{IsKnown: true, First: tuesday, Last: tuesday, Month: tuesday, Day: &tuesday}
	for at, want := range map[*uuid.UUID]string{&places[0].ID: "none_day", &places[1].ID: "closed_day", nil: "none_day"} {
		var out strings.Builder
		if err := Reschedule(p, m, c, at, "outside_area").Body.Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{p.Words.Say(want), p.Words.Say("outside_area")} {
			if !strings.Contains(out.String(), text) {
				t.Errorf("no %s in %s", text, out.String())
			}
		}
	}
}

// TestCountryFieldPreselectsBusinessCountryOnly shows that no other country is chosen before the customer chooses one,
// and that the page names the missing country.
func TestCountryFieldPreselectsBusinessCountryOnly(t *testing.T) {
	t.Parallel()
	p := newPlacePage(t)
	for _, c := range []struct {
		value string
		codes []string
		first string
	}{{"PT", []string{"ES", "PT"}, "PT"}, {"PT", []string{"DE", "AT"}, ""}, {"", nil, ""}, {"PT", nil, "AF"}} {
		f := Form{Details: usecase.Details{AddressAt: &catalog.Location{Countries: c.codes},
			Address: booking.CustomerAddress{Address: postal.Address{Country: c.value}}}}
		field := p.countryField(f)
		if first := field.Options[0].Value; (first == "") != (c.first == "") || !field.Required {
			t.Errorf("%+v: the first option is %q", c, first)
		}
		f.Errors = usecase.FieldErrors{"country": catalog.FieldMissing}
		if notice := p.ErrorNotice(f); !strings.Contains(notice, p.Words.Say("country")) {
			t.Error(notice)
		}
	}
}

func TestClassFactsNameLocation(t *testing.T) {
	t.Parallel()
	p, _ := newSoldPage(t, 0)
	class := &usecase.Service{DurationMinutes: 60}
	got := p.classFacts(usecase.ClassStart{Service: class, Location: &p.Business.Snapshot.Locations[1]})
	if !strings.HasSuffix(got, " · Station") {
		t.Error(got)
	}
}

func TestFrontPageListsAllPlaces(t *testing.T) {
	t.Parallel()
	p, _ := newSoldPage(t, 0)
	hours := &catalog.WeekHours{time.Friday: {{From: 10 * 60, To: 20 * 60}}}
	p.Business.Snapshot.Locations[1].Hours = hours
	var out strings.Builder
	if err := p.newFront("", p.title("services"), emptyTab(p)).Body.Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<a href="#places">Quay</a>`, `<a href="#places">Station</a>`,
		"<h3><bdi>Quay</bdi></h3> <p> Porto",
		"<h3><bdi>Station</bdi></h3> <p> Lisboa", "10:00 – 20:00"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "Video call") {
		t.Error("the page lists a meeting among the places")
	}
}
