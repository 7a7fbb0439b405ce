package usecase

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// pickUp changes the status of a reservation to picked_up, and chooses the units
// to hand out (docs/decisions/012). Faults: not_found, conflict, not_enough_units.
func (o *Owner) pickUp(ctx context.Context, offer *catalog.Snapshot, id uuid.UUID) (store.Reservation, error) {
	now := o.clock.Now()
	today := offer.Today(now)
	return o.reservations.PickUp(ctx, offer.ID, id, now,
		func(r store.Reservation, out map[uuid.UUID]store.HandedOut) ([]store.Unit, error) {
			return chooseUnits(offer, today, r, out)
		})
}

// chooseUnits chooses the units to hand out for a reservation and its extras, in the order in which the owner
// listed the units. A chosen unit is in service, is not handed out and is not under maintenance today. If the offer
// no longer contains a reserved rental, chooseUnits chooses no units of this rental. Fault: not_enough_units.
func chooseUnits(offer *catalog.Snapshot, today timespan.Date, r store.Reservation,
	out map[uuid.UUID]store.HandedOut) ([]store.Unit, error) {
	lines := append([]store.Extra{{RentalID: r.RentalID, Name: r.RentalName, Quantity: r.Quantity}}, r.Extras...)
	units := []store.Unit{}
	for _, l := range lines {
		item := offer.Rental(l.RentalID)
		if item == nil {
			continue
		}
		keys := listUnitsInStock(item, today, out[l.RentalID])
		keys = slices.DeleteFunc(keys, func(key string) bool {
			return slices.Contains(units, store.Unit{RentalID: l.RentalID, Key: key})
		})
		if len(keys) < l.Quantity {
			return nil, fault.Newf(fault.NotEnoughUnits, "Only %d of the %d units of %s are here; the others are out "+
				"or under maintenance. Take them back first.",
				len(keys), l.Quantity, l.Name)
		}
		for _, key := range keys[:l.Quantity] {
			units = append(units, store.Unit{RentalID: l.RentalID, Key: key})
		}
	}
	return units, nil
}

// listUnitsInStock returns the keys of the units of a rental that can be handed out today. Some
// handed-out units may have no known key ([store.HandedOut]). listUnitsInStock leaves out the
// same number of units, because any of the units without a known key can be with a customer.
func listUnitsInStock(item *catalog.Rental, today timespan.Date, out store.HandedOut) []string {
	var keys []string
	for _, u := range item.Units {
		isAway := slices.ContainsFunc(u.Maintenance, func(m catalog.Maintenance) bool {
			return m.From <= today && today <= m.To
		})
		if u.InService && !isAway && !slices.Contains(out.Keys, u.Key) {
			keys = append(keys, u.Key)
		}
	}
	return keys[min(len(keys), max(0, out.Units-len(out.Keys))):]
}
