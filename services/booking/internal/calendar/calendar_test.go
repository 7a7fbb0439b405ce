package calendar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/booking/internal/calendar"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// newTwoPlaces returns a business with a place in Porto and a place in Lisbon, and an event at the second.
func newTwoPlaces(t *testing.T) *catalog.Snapshot {
	t.Helper()
	o := &catalog.Snapshot{Name: "Harbor", Timezone: "UTC", Currency: "EUR", DefaultLanguage: "en",
		Locations: []catalog.Location{
			{ID: uuid.New(), Kind: catalog.KindPlace, Address: postal.Address{City: "Porto"}},
			{ID: uuid.New(), Kind: catalog.KindPlace, Address: postal.Address{City: "Lisboa"}},
		}}
	o.Events = []catalog.Event{{ID: uuid.New(), LocationID: &o.Locations[1].ID}}
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	return o
}

// expectLines reports lines that the calendar `text` does not contain.
func expectLines(t *testing.T, text []byte, err error, lines ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if !strings.Contains(string(text), "\r\n"+line+"\r\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
}

func TestRenderTicketNamesLocationOfEvent(t *testing.T) {
	t.Parallel()
	o, begin := newTwoPlaces(t), time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	ticket := store.Ticket{ID: uuid.New(), EventID: o.Events[0].ID, EventName: "Gala", StartsAt: begin,
		EndsAt: begin.Add(time.Hour), CreatedAt: begin}
	text, err := calendar.RenderTicket(o, ticket)
	expectLines(t, text, err, "SUMMARY:Gala", "LOCATION:Lisboa")
	ticket.EventID = uuid.New()
	text, err = calendar.RenderTicket(o, ticket)
	expectLines(t, text, err, "LOCATION:Harbor") // the event is no longer offered
}

// TestRenderBookingHasSummaryOfMessages shows that the summary is the text of the entries in messages to the customer,
// and that an entry without a place has the name of the business as its location.
func TestRenderBookingHasSummaryOfMessages(t *testing.T) {
	t.Parallel()
	o, begin := newTwoPlaces(t), time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	o.Locations = nil
	b := store.Booking{UpdatedAt: begin, Details: store.Details{
		ID: uuid.New(), StartsAt: begin, EndsAt: begin.Add(time.Hour),
		Services: []store.SoldService{{Name: "Cut", VariantName: "long", PackageName: "Spa day"}, {Name: "Wash"}}}}
	text, err := calendar.RenderBooking(o, b, "")
	expectLines(t, text, err, `SUMMARY:Spa day\, Cut\, long\, Wash`, "LOCATION:Harbor")
}

func TestFeedHasLocationsOfBookings(t *testing.T) {
	t.Parallel()
	o, begin, session := newTwoPlaces(t), time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC), uuid.New()
	at := &store.Location{ID: o.Locations[1].ID, Kind: catalog.KindPlace}
	newEntry := func(session *uuid.UUID) store.FeedEntry {
		return store.FeedEntry{ID: uuid.New(), Status: state.Confirmed, StartsAt: begin, EndsAt: begin.Add(time.Hour),
			Services: []store.SoldService{{Name: "Cut"}}, PartySize: 1, UpdatedAt: begin, SessionID: session, Location: at}
	}
	for name, entry := range map[string]store.FeedEntry{"appointment": newEntry(nil), "class": newEntry(&session)} {
		feed := calendar.Feed{Name: "Harbor", ShowsNames: true, Refresh: time.Minute, Offer: o}
		text, err := calendar.Render(feed, []store.FeedEntry{entry})
		expectLines(t, text, err, "LOCATION:Lisboa")
		feed.ShowsNames = false
		if text, err := calendar.Render(feed, []store.FeedEntry{entry}); err != nil ||
			strings.Contains(string(text), "LOCATION") {
			t.Errorf("%s: a feed of times names the location: %v\n%s", name, err, text)
		}
	}
}

func TestFeedHasAddressOfCustomer(t *testing.T) {
	t.Parallel()
	o, begin := newTwoPlaces(t), time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	o.Locations[1] = catalog.Location{ID: uuid.New(), Kind: catalog.KindCustomerAddress,
		Name: catalog.Label{Text: "At your place"}}
	entry := store.FeedEntry{ID: uuid.New(), Status: state.Confirmed, StartsAt: begin, EndsAt: begin.Add(time.Hour),
		Services: []store.SoldService{{Name: "Cut"}}, PartySize: 1, UpdatedAt: begin,
		Location: &store.Location{ID: o.Locations[1].ID, Kind: catalog.KindCustomerAddress},
		Address:  &booking.CustomerAddress{Address: postal.Address{Street: "Rua 1", City: "Braga"}}}
	feed := calendar.Feed{Name: "Harbor", ShowsNames: true, Refresh: time.Minute, Offer: o}
	text, err := calendar.Render(feed, []store.FeedEntry{entry})
	expectLines(t, text, err, `LOCATION:Rua 1\, Braga`)
	feed.ShowsNames = false
	if text, err := calendar.Render(feed, []store.FeedEntry{entry}); err != nil || strings.Contains(string(text), "Rua") {
		t.Errorf("a feed of times has the address: %v\n%s", err, text)
	}
}
