package public

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

// rental holds the public data of a rental and the texts in all languages.
type rental struct {
	sortKey
	base        publicapi.Rental // public data without texts or quoted prices
	description description
	isPriced    bool
	isAddOn     bool
}

// newRentals returns the active rentals, sorted by display order, then by name.
// newRentals returns no rentals if the business does not use rentals or is not open yet.
func newRentals(m *manifest.Manifest, snapshot *catalog.Snapshot, base string) []rental {
	written := pointersByKey(m.Rentals, func(r *manifest.Rental) manifest.Key { return r.Key })
	return listPublic(snapshot.Modules.Rentals && !snapshot.NotYetOpen, snapshot.Rentals,
		func(o *catalog.Rental) bool { return o.Active },
		func(o *catalog.Rental) rental { return newRental(written[o.Key], o, snapshot, base) },
		func(a, b rental) int { return a.sortKey.compare(b.sortKey) })
}

func newRental(m *manifest.Rental, o *catalog.Rental, snapshot *catalog.Snapshot, base string) rental {
	type translation = manifest.RentalTranslation
	name := newText(string(m.Name), m.Translations, func(t translation) string { return string(t.Name) })
	words := newDescription(m.DescriptionHTML, m.Translations, func(t translation) string { return t.DescriptionHTML })
	quantity := 0
	if o.Quantity != nil {
		quantity = *o.Quantity
	}
	return rental{
		base: publicapi.Rental{
			ID:                 o.ID,
			Category:           string(m.Category),
			Price:              snapshot.Money().JSON(o.Price),
			PriceType:          o.PriceType,
			Quantity:           quantity,
			ImageURL:           imageURL(o.Picture, m.ImageURL, base),
			MinRentalDays:      o.MinRentalDays,
			MaxRentalDays:      o.MaxRentalDays,
			MinRentalHours:     o.MinRentalHours,
			MaxRentalHours:     o.MaxRentalHours,
			PaymentRequirement: m.Requirement(),
			DepositValue:       depositValue(m.DepositValue),
		},
		sortKey:     sortKey{m.Order, name},
		description: words,
		isPriced:    o.Price > 0,
		isAddOn:     m.AddOn,
	}
}

// newUpsells returns the upsells between two rentals that are both in the argument `rentals`.
// An upsell offers a rental to customers who book another rental. The result is sorted by the
// position of that other rental in `rentals`, then by the order field of the upsell.
func newUpsells(m *manifest.Manifest, snapshot *catalog.Snapshot, rentals []rental) []publicapi.RentalUpsell {
	written := pointersByKey(m.Rentals, func(r *manifest.Rental) manifest.Key { return r.Key })
	keys := make(map[uuid.UUID]string, len(snapshot.Rentals))
	ids := make(map[string]uuid.UUID, len(snapshot.Rentals))
	for i := range snapshot.Rentals {
		keys[snapshot.Rentals[i].ID] = snapshot.Rentals[i].Key
	}
	for i := range rentals {
		ids[keys[rentals[i].base.ID]] = rentals[i].base.ID
	}
	upsells := []publicapi.RentalUpsell{}
	for i := range rentals {
		id := rentals[i].base.ID
		from := len(upsells)
		for _, u := range written[keys[id]].Upsells {
			if target, ok := ids[string(u.Rental)]; ok {
				upsells = append(upsells, publicapi.RentalUpsell{RentalID: id, UpsellRentalID: target,
					IsRequired: u.Required,
					SortOrder:  u.Order})
			}
		}
		slices.SortStableFunc(upsells[from:], func(a, b publicapi.RentalUpsell) int {
			return cmp.Compare(a.SortOrder, b.SortOrder)
		})
	}
	return upsells
}

// HasRentals reports whether /rentals lists any rental.
func (b *Business) HasRentals() bool { return len(b.rentals) > 0 }

// PricedRentals returns the ids of the rentals that need a quote from pricing: the listed rentals that are not free.
func (b *Business) PricedRentals() []uuid.UUID {
	var ids []uuid.UUID
	for i := range b.rentals {
		if b.rentals[i].isPriced {
			ids = append(ids, b.rentals[i].base.ID)
		}
	}
	return ids
}

// rentalBasis describes the assumptions of the quoted rental prices. The parameter %s is the booking date.
const rentalBasis = "Rate of one unit for an hour or a day, bought now for a rental on %s; " +
	"duration, quantity and rules that need a start time or the customer apply at booking."

// Rentals returns the answer of /rentals in the language l, with the active rentals in display order. The
// argument `ceilings` holds max_bookable_online by rental id. If `ceilings` is nil, these numbers are unknown.
func (b *Business) Rentals(l Language, q Quotes, ceilings map[uuid.UUID]int) publicapi.RentalList {
	list := publicapi.RentalList{
		Rentals: []publicapi.Rental{}, AddOnRentals: []publicapi.Rental{}, RentalUpsells: b.upsells,
		Currency: b.info.Currency, Quote: q.describe(rentalBasis),
	}
	for i := range b.rentals {
		shown := b.rentals[i].show(l, q)
		if ceiling, ok := ceilings[shown.ID]; ok {
			shown.MaxBookableOnline = &ceiling
		}
		if b.rentals[i].isAddOn {
			list.AddOnRentals = append(list.AddOnRentals, shown)
		} else {
			list.Rentals = append(list.Rentals, shown)
		}
	}
	return list
}

func (r *rental) show(l Language, q Quotes) publicapi.Rental {
	shown := r.base
	shown.Name = r.name.show(l)
	shown.Description = r.description.plain.show(l)
	shown.DescriptionHTML = r.description.html.show(l)
	if price, ok := q.Prices[shown.ID]; ok {
		shown.QuotedPrice = &price
	}
	if !l.IsResolved {
		shown.RentalTranslations = &publicapi.RentalTranslations{
			Name: r.name.listTranslations(), Description: r.description.plain.listTranslations(),
			DescriptionHTML: r.description.html.listTranslations(),
		}
	}
	return shown
}
