package offer

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/plan"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// findAddressChanges returns the places that have another address in the manifest `after` than in `before`. A place
// without an address in one of the two is not included, because the message needs both addresses.
func findAddressChanges(businessID uuid.UUID, before, after *manifest.Manifest) []booking.AddressChange {
	former := make(map[uuid.UUID]postal.Address, len(before.Locations))
	for i := range before.Locations {
		former[before.Locations[i].ObjectID(businessID)] = addressOf(&before.Locations[i])
	}
	var places []booking.AddressChange
	firstPlace := slices.IndexFunc(after.Locations, func(l manifest.Location) bool { return l.Kind == catalog.KindPlace })
	for i := range after.Locations {
		id := after.Locations[i].ObjectID(businessID)
		was, is := former[id], addressOf(&after.Locations[i])
		if was.OneLine("") != "" && is.OneLine("") != "" && was != is {
			places = append(places, booking.AddressChange{LocationID: id, IsDefault: i == firstPlace, FormerAddress: was.OneLine("")})
		}
	}
	return places
}

// addressOf returns the address of a location, which is empty unless customers come there.
func addressOf(l *manifest.Location) postal.Address {
	a := l.Address
	if a == nil || l.Kind != catalog.KindPlace {
		return postal.Address{}
	}
	return postal.Address{Street: strings.TrimSpace(string(a.Street)), PostalCode: string(a.PostalCode),
		City: strings.TrimSpace(string(a.City)), Country: string(a.Country)}
}

// countRelocated counts the customers with future bookings at places whose address the manifest changes.
func (o *UseCases) countRelocated(ctx context.Context, business *catalog.Snapshot, text []byte, p *plan.Plan) error {
	before, err := o.loadManifest(ctx, business.Slug, business.Version)
	if err != nil {
		return err
	}
	after, err := parseManifest(ctx, business.Slug, text)
	if err != nil {
		return err
	}
	if places := findAddressChanges(business.ID, before, after); len(places) > 0 {
		p.Relocated, err = o.Bookings.CountRelocated(ctx, business.ID, booking.AddressChanges{Places: places})
	}
	return err
}

// loadManifest reads a published version of the manifest.
func (o *UseCases) loadManifest(ctx context.Context, slug string, version int64) (*manifest.Manifest, error) {
	got, err := o.Businesses.Get(ctx, slug, version, catalog.MediaJSON)
	if err != nil {
		return nil, err
	}
	return parseManifest(ctx, slug, got.Text)
}

// notifyCustomers requests a message to each customer with a future booking at a place whose address the published
// version has changed. A repeated call for the same version sends no second message. Fault: outcome_unknown if the
// messages cannot be requested. The version is published nevertheless.
func (o *UseCases) notifyCustomers(ctx context.Context, by peers.Principal, published *catalog.Published) error {
	if published.Created {
		return nil
	}
	places, err := o.loadAddressChanges(ctx, published)
	if err == nil && len(places) > 0 {
		err = o.Bookings.StoreAddressChanges(ctx, published.ID,
			booking.AddressChanges{Version: published.Version, Places: places})
	}
	if err != nil {
		return fault.Wrap(fault.OutcomeUnknown, err, "The version is published, but customers may get no message about the "+
			"new address; repeat the request with the same Idempotency-Key, or inform the customers.")
	}
	if len(places) > 0 {
		o.LogChange(ctx, by, "notify customers of new addresses", published.Slug,
			slog.Int64("version", published.Version), slog.Int("places", len(places)))
	}
	return nil
}

// loadAddressChanges compares the published version with the version before.
func (o *UseCases) loadAddressChanges(ctx context.Context, published *catalog.Published) ([]booking.AddressChange, error) {
	before, err := o.loadManifest(ctx, published.Slug, published.Version-1)
	if err != nil {
		return nil, err
	}
	after, err := o.loadManifest(ctx, published.Slug, published.Version)
	if err != nil {
		return nil, err
	}
	return findAddressChanges(published.ID, before, after), nil
}
