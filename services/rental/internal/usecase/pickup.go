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

// pickUp hands out a reservation and assigns units to it that can be handed
// out (docs/decisions/012). Faults: not_found, conflict, not_enough_units.
func (o *Owner) pickUp(ctx context.Context, offer *catalog.Offer, id uuid.UUID) (store.Reservation, error) {
	now := o.clock.Now()
	today := offer.Today(now)
	return o.reservations.PickUp(ctx, offer.ID, id, now,
		func(r store.Reservation, out map[uuid.UUID]store.Out) ([]store.Unit, error) {
			return unitsFor(offer, today, r, out)
		})
}

// unitsFor chooses the units of a reservation and of its extras, in the order that the owner
// gave the units. A unit must be in service, not handed out and not under maintenance today. If
// the offer no longer has a rental, it is handed out without units. Fault: not_enough_units.
func unitsFor(offer *catalog.Offer, today timespan.Date, r store.Reservation,
	out map[uuid.UUID]store.Out) ([]store.Unit, error) {
	lines := append([]store.Extra{{RentalID: r.RentalID, Name: r.RentalName, Quantity: r.Quantity}}, r.Extras...)
	units := []store.Unit{}
	for _, l := range lines {
		rented := offer.Rental(l.RentalID)
		if rented == nil {
			continue
		}
		there := unitsThere(rented, today, out[l.RentalID])
		there = slices.DeleteFunc(there, func(key string) bool {
			return slices.Contains(units, store.Unit{RentalID: l.RentalID, Key: key})
		})
		if len(there) < l.Quantity {
			return nil, fault.Newf(fault.NotEnoughUnits, "Only %d of the %d units of %s are here; the others are out "+
				"or under maintenance. Take them back first.",
				len(there), l.Quantity, l.Name)
		}
		for _, key := range there[:l.Quantity] {
			units = append(units, store.Unit{RentalID: l.RentalID, Key: key})
		}
	}
	return units, nil
}

// unitsThere returns the keys of the units that can be handed out. If units
// are handed out without a known key, it leaves out the same number of units.
func unitsThere(rented *catalog.Rental, today timespan.Date, out store.Out) []string {
	var there []string
	for _, u := range rented.Units {
		isAway := slices.ContainsFunc(u.Maintenance, func(m catalog.Maintenance) bool {
			return m.From <= today && today <= m.To
		})
		if u.InService && !isAway && !slices.Contains(out.Keys, u.Key) {
			there = append(there, u.Key)
		}
	}
	return there[min(len(there), max(0, out.Units-len(out.Keys))):]
}
