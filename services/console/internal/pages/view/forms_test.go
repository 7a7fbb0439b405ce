package view

import (
	"strings"
	"testing"

	"github.com/google/uuid"

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
	home := catalog.Location{ID: uuid.New(), Kind: catalog.KindCustomerAddress, Name: catalog.Label{Text: "At your place"}}
	for name, c := range map[string]struct {
		locations             []catalog.Location
		hasChoice, hasAddress bool
	}{
		"one place": {[]catalog.Location{quay}, false, false}, "two places": {[]catalog.Location{quay, quay}, true, false},
		"one at the customer": {[]catalog.Location{home}, false, true}, "both": {[]catalog.Location{quay, home}, true, true},
	} {
		offer := &catalog.Snapshot{Slug: "harbor", Name: "Harbor", Currency: "EUR", Timezone: "Europe/Lisbon",
			Locations: c.locations, Services: []catalog.Service{{ID: uuid.New(), Name: "Haircut", Active: true}}}
		offer.Modules.Services = true
		if err := offer.Prepare(); err != nil {
			t.Fatal(err)
		}
		p := &Page{Words: words.In(all, "en"), Business: offer, May: func(access.Action) bool { return true }}
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
		if hasCountry := strings.Contains(out.String(), `value="PT" selected`); hasCountry != (name == "both") {
			t.Errorf("%s: the country of the business is preselected: %v", name, hasCountry)
		}
	}
}
