package console_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// startAddresses starts a business with a place in Lisboa. Two customers have bookings there.
func startAddresses(t *testing.T) (*consoletest.Fixture, uuid.UUID, string, booking.AddressChange) {
	t.Helper()
	w, id, mia := startLocations(t, twoLocations)
	m, _ := manifest.Parse([]byte(twoLocations))
	place := booking.AddressChange{LocationID: m.Locations[0].ObjectID(id), IsDefault: true, FormerAddress: "Lisboa"}
	for i, status := range []string{"confirmed", "confirmed", "pending", "cancelled"} {
		b := newBookingTomorrow(status)
		b.CustomerEmail = "guest" + strconv.Itoa(max(i, 1)) + "@example.com"
		if i > 0 {
			b.Location = &booking.BookedLocation{ID: place.LocationID, Kind: "place", Name: "Quay"}
		}
		w.Booking.Add(id, b)
	}
	return w, id, mia, place
}

// checkAddressChanges checks which requests for messages about new addresses the booking service got since the last
// call.
func checkAddressChanges(t *testing.T, w *consoletest.Fixture, want ...booking.AddressChanges) {
	t.Helper()
	if diff := cmp.Diff(want, w.Booking.TakeAddressChanges()); diff != "" {
		t.Errorf("requests for messages (-want +got):\n%s", diff)
	}
}

// TestNewAddressAsksToNotifyCustomers saves a new address by the form of the location. The page asks, counts the
// customers and has a checkbox that is not checked. Only if it is checked, customers get a message.
func TestNewAddressAsksToNotifyCustomers(t *testing.T) {
	t.Parallel()
	w, _, mia, place := startAddresses(t)
	form := url.Values{"base": {"1"}, "name": {"Quay"}, "address.city": {"Porto"}}
	asked := postForm(t, w, locationsPath+"/quay", mia, form)
	for _, text := range []string{"Customers with upcoming bookings at the changed address: 2", "Email them the new address",
		`<input type="checkbox" name="notify_customers" value="yes" id="notify-customers">`} {
		if !strings.Contains(asked.Body, text) || asked.Status != 409 {
			t.Errorf("%d, and %q is not in %s", asked.Status, text, asked.Body)
		}
	}
	form.Set("agreed", "1")
	if got := postForm(t, w, locationsPath+"/quay", mia, form); got.Status != 303 {
		t.Fatalf("saved without a message: %d %s", got.Status, got.Body)
	}
	checkAddressChanges(t, w)
	form = url.Values{"base": {"2"}, "name": {"Quay"}, "address.city": {"Faro"}, "agreed": {"2"}, "notify_customers": {"yes"}}
	if got := postForm(t, w, locationsPath+"/quay", mia, form); got.Status != 303 {
		t.Fatalf("saved with a message: %d %s", got.Status, got.Body)
	}
	place.FormerAddress = "Porto"
	checkAddressChanges(t, w, booking.AddressChanges{Version: 3, Places: []booking.AddressChange{place}})
	undo := url.Values{"version": {"3"}, "section": {"locations"}}
	if got := postForm(t, w, "/business/harbor/offer/undo", mia, undo); got.Status != 409 ||
		!strings.Contains(got.Body, `name="notify_customers"`) {
		t.Errorf("undone without a question: %d %s", got.Status, got.Body)
	}
	versions := postForm(t, w, "/business/harbor/offer/versions/1", mia,
		url.Values{"over": {"3"}, "agreed": {"3"}, "notify_customers": {"yes"}})
	if versions.Status != 303 {
		t.Fatalf("%d %s", versions.Status, versions.Body)
	}
	place.FormerAddress = "Faro"
	checkAddressChanges(t, w, booking.AddressChanges{Version: 4, Places: []booking.AddressChange{place}})
}

// TestPublishNotifiesCustomersIfAsked publishes and rolls back by the admin API, with and without the parameter.
func TestPublishNotifiesCustomersIfAsked(t *testing.T) {
	t.Parallel()
	w, id, _, place := startAddresses(t)
	owner, _ := addTokenAs(t, w, id, access.Owner)
	porto := strings.Replace(twoLocations, "city: Lisboa", "city: Porto", 1)
	if p := planManifest(t, w, owner, porto); p.Relocated != 2 {
		t.Errorf("%d customers in the plan, want 2", p.Relocated)
	}
	if p := planManifest(t, w, owner, strings.Replace(twoLocations, "name: Quay", "name: Pier", 1)); p.Relocated != 0 {
		t.Errorf("%d customers in the plan of a new name, want 0", p.Relocated)
	}
	put := func(query, text string, status int) {
		t.Helper()
		if got := w.CallAs(t, owner, "PUT", harb+query, text, "Content-Type", yaml); got.Status != status {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	put("", porto, 200)
	put("?notify_customers=false", twoLocations, 200)
	put("?notify_customers=perhaps", porto, 400)
	checkAddressChanges(t, w)
	put("?notify_customers=true", porto, 200)
	put("?notify_customers=true", strings.Replace(porto, "name: Quay", "name: Pier", 1), 200)
	checkAddressChanges(t, w, booking.AddressChanges{Version: 4, Places: []booking.AddressChange{place}})
	for _, query := range []string{"", "?notify_customers=true"} {
		for _, version := range []string{"4", "1"} {
			if got := w.CallAs(t, owner, "POST", harb+"/rollback"+query, `{"version": `+version+`}`); got.Status != 200 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
		}
	}
	back := place
	back.FormerAddress = "Porto"
	checkAddressChanges(t, w, booking.AddressChanges{Version: 8, Places: []booking.AddressChange{place}},
		booking.AddressChanges{Version: 9, Places: []booking.AddressChange{back}})
}
