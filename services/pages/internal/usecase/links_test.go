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

// TestLocationsNeedPhoneOfBooking shows that a location at which the business calls is offered only if the booking has a
// telephone number, or is there already.
func TestLocationsNeedPhoneOfBooking(t *testing.T) {
	t.Parallel()
	service, place, call, home := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	o := &catalog.Snapshot{Timezone: "UTC", Currency: "EUR", Locations: []catalog.Location{
		{ID: place, Kind: catalog.KindPlace}, {ID: call, Kind: catalog.KindPhone, Calls: catalog.CallsBusiness},
		{ID: home, Kind: catalog.KindCustomerAddress},
	}, Services: []catalog.Service{{ID: service, Active: true, LocationIDs: []uuid.UUID{place, call, home}}}}
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		at       uuid.UUID
		hasPhone bool
		want     int
	}{"no number": {place, false, 1}, "a number": {place, true, 2}, "a call without a number": {call, false, 2}} {
		m := &CustomerView{Business: &Business{Snapshot: o}, Booking: &booking.CustomerBooking{
			Services: []booking.BookedService{{ID: service}}, Location: &booking.BookedLocation{ID: c.at},
			HasPhone: c.hasPhone}}
		if got := m.Locations(); len(got) != c.want {
			t.Errorf("%s: %d locations, want %d", name, len(got), c.want)
		}
	}
}
