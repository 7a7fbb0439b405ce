package view

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
)

// TestNewBookingAsksForPlace shows that the form has a choice of the location if the business has several, and the
// inputs for the customer's address if the business comes to customers.
func TestNewBookingAsksForPlace(t *testing.T) {
	t.Parallel()
	all, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	quay := catalog.Location{ID: uuid.New(), Kind: catalog.KindPlace, Name: catalog.Label{Text: "Quay"},
		Address: postal.Address{City: "Porto", Country: "PT"}}
	pier := quay
	pier.ID = uuid.New()
	home := catalog.Location{ID: uuid.New(), Kind: catalog.KindCustomerAddress, Name: catalog.Label{Text: "At your place"}}
	for name, c := range map[string]struct {
		locations             []catalog.Location
		hasChoice, hasAddress bool
	}{
		"one place": {[]catalog.Location{quay}, false, false}, "two places": {[]catalog.Location{quay, pier}, true, false},
		"one at the customer": {[]catalog.Location{home}, false, true}, "both": {[]catalog.Location{quay, home}, true, true},
	} {
		offer := &catalog.Snapshot{Slug: "harbor", Name: "Harbor", Currency: "EUR", Timezone: "Europe/Lisbon",
			Locations: c.locations, Services: []catalog.Service{{ID: uuid.New(), Name: "Haircut", Active: true}}}
		offer.Modules.Services = true
		if err := offer.Prepare(); err != nil {
			t.Fatal(err)
		}
		p := &Page{Words: words.In(all, "en"), Business: offer, May: func(access.Action) bool { return true },
			MayUse: func(uuid.UUID) bool { return true }}
		var out strings.Builder
		if err := NewBooking(p, BookingForm{}).Body.Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		for input, want := range map[string]bool{"location": c.hasChoice, "street": c.hasAddress, "city": c.hasAddress,
			"postal_code": c.hasAddress, "country": c.hasAddress, "note": c.hasAddress} {
			if strings.Contains(out.String(), `name="`+input+`"`) != want {
				t.Errorf("%s: the input %s: want %v", name, input, want)
			}
		}
		b := booking.Booking{StartTime: "10:00:00", StartsAt: time.Now(), Services: []booking.BookedService{
			{ID: offer.Services[0].ID, Name: "Haircut"}}}
		if len(c.locations) > 1 {
			b.Location = &booking.BookedLocation{ID: c.locations[1].ID, Name: c.locations[1].Name.Text}
			offer.Services[0].LocationIDs = []uuid.UUID{c.locations[0].ID, c.locations[1].ID}
		}
		var moving strings.Builder
		if err := Reschedule(p, RescheduleForm{Booking: b, Location: "x"}).Body.Render(t.Context(), &moving); err != nil {
			t.Fatal(err)
		}
		for input, want := range map[string]bool{"location": c.hasChoice, "street": c.hasAddress} {
			if strings.Contains(moving.String(), `name="`+input+`"`) != want {
				t.Errorf("reschedule, %s: the input %s: want %v", name, input, want)
			}
		}
		b.ClassScheduleID = new(uuid.New())
		if options := p.newLocationOptions(b); len(options) > 1 {
			t.Errorf("%s: a class has the options %v", name, options)
		}
		if hasCountry := strings.Contains(out.String(), `value="PT" selected`); hasCountry != (name == "both") {
			t.Errorf("%s: the country of the business is preselected: %v", name, hasCountry)
		}
	}
}
