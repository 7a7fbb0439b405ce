package usecase

import (
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// TestLocationsServeAddressOfBooking shows that a location that comes to the customer is offered only if it serves the
// address of the booking.
func TestLocationsServeAddressOfBooking(t *testing.T) {
	t.Parallel()
	cut, place, near, far := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	snapshot := &catalog.Snapshot{Services: []catalog.Service{{ID: cut, Active: true}}, Locations: []catalog.Location{
		{ID: near, Kind: catalog.KindCustomerAddress, PostalCodes: []string{"1100*"}},
		{ID: far, Kind: catalog.KindCustomerAddress, PostalCodes: []string{"4000*"}},
	}, Slug: "studio", Timezone: "UTC", Currency: "EUR", DefaultLanguage: "en", Languages: []string{"en"}}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	m := &CustomerView{Business: &Business{Snapshot: snapshot}, Booking: &booking.CustomerBooking{
		Services: []booking.BookedService{{ID: cut}}, Location: &booking.BookedLocation{ID: place},
		CustomerAddress: &booking.CustomerAddress{Address: postal.Address{PostalCode: "1100-001"}}}}
	if got := m.Locations(); len(got) != 1 || got[0].ID != near {
		t.Errorf("%+v", got)
	}
	m.Booking.CustomerAddress = nil
	if got := m.Locations(); len(got) != 0 {
		t.Errorf("without an address: %+v", got)
	}
}
