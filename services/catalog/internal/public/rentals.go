package public

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// RentalList is the answer of /rentals.
type RentalList struct {
	Rentals  []Rental `json:"rentals"`
	AddOns   []Rental `json:"add_on_rentals"`
	Upsells  []Upsell `json:"rental_upsells"`
	Currency string   `json:"currency"`
	Quote    Quote    `json:"quote"`
}

// Rental is an element of rentals[] and add_on_rentals[]. Its category is not translated.
type Rental struct {
	ID                 uuid.UUID         `json:"id"`
	Name               string            `json:"name"`
	Description        string            `json:"description"`
	DescriptionHTML    string            `json:"description_html"`
	Category           string            `json:"category"`
	Price              json.Number       `json:"price"` // per hour or day, depending on price_type
	QuotedPrice        *json.Number      `json:"quoted_price"`
	PriceType          string            `json:"price_type"`
	Quantity           int               `json:"quantity"`            // 0: no unit is offered
	MaxBookableOnline  *int              `json:"max_bookable_online"` // null: unknown
	ImageURL           string            `json:"image_url"`
	MinRentalDays      *int              `json:"min_rental_days"`
	MaxRentalDays      *int              `json:"max_rental_days"`
	MinRentalHours     *int              `json:"min_rental_hours"`
	MaxRentalHours     *int              `json:"max_rental_hours"`
	PaymentRequirement string            `json:"payment_requirement"`
	DepositValue       *manifest.Decimal `json:"deposit_value"`

	*RentalTranslations
}

// RentalTranslations are shown in answers without a locale. Each is null if there are no translations.
type RentalTranslations struct {
	Name            map[string]string `json:"name_translations"`
	Description     map[string]string `json:"description_translations"`
	DescriptionHTML map[string]string `json:"description_html_translations"`
}

// Upsell is an element of rental_upsells[]: a rental to offer together with another.
type Upsell struct {
	RentalID       uuid.UUID `json:"rental_id"`
	UpsellRentalID uuid.UUID `json:"upsell_rental_id"`
	IsRequired     bool      `json:"is_required"`
	SortOrder      int       `json:"sort_order"`
}

// rental holds a rental and the texts of its public form.
type rental struct {
	place
	shown       Rental // without texts and quoted prices
	description description
	priced      bool
	addOn       bool
}

// newRentals returns the active rentals in display order, then by name. It
// returns none if the business does not use rentals or is not open yet.
func newRentals(m *manifest.Manifest, offer *catalog.Offer) []rental {
	written := byKey(m.Rentals, func(r *manifest.Rental) manifest.Key { return r.Key })
	return shown(offer.Modules.Rentals && !offer.NotYetOpen, offer.Rentals,
		func(o *catalog.Rental) bool { return o.Active },
		func(o *catalog.Rental) rental { return newRental(written[o.Key], o, offer) },
		func(a, b rental) int { return a.place.compare(b.place) })
}

func newRental(m *manifest.Rental, o *catalog.Rental, offer *catalog.Offer) rental {
	type translation = manifest.RentalTranslation
	name := newText(string(m.Name), m.Translations, func(t translation) string { return string(t.Name) })
	words := newDescription(m.DescriptionHTML, m.Translations, func(t translation) string { return t.DescriptionHTML })
	quantity := 0
	if o.Quantity != nil {
		quantity = *o.Quantity
	}
	return rental{
		shown: Rental{
			ID:                 o.ID,
			Category:           string(m.Category),
			Price:              offer.Money().JSON(o.Price),
			PriceType:          o.PriceType,
			Quantity:           quantity,
			ImageURL:           string(m.ImageURL),
			MinRentalDays:      o.MinRentalDays,
			MaxRentalDays:      o.MaxRentalDays,
			MinRentalHours:     o.MinRentalHours,
			MaxRentalHours:     o.MaxRentalHours,
			PaymentRequirement: m.Requirement(),
			DepositValue:       m.DepositValue,
		},
		place:       place{m.Order, name},
		description: words,
		priced:      o.Price > 0,
		addOn:       m.AddOn,
	}
}

// newUpsells returns the upsells between the rentals in the argument rentals. They are sorted by the
// position of the first rental in that list, then by their own order.
func newUpsells(m *manifest.Manifest, offer *catalog.Offer, rentals []rental) []Upsell {
	written := byKey(m.Rentals, func(r *manifest.Rental) manifest.Key { return r.Key })
	keys := make(map[uuid.UUID]string, len(offer.Rentals))
	ids := make(map[string]uuid.UUID, len(offer.Rentals))
	for i := range offer.Rentals {
		keys[offer.Rentals[i].ID] = offer.Rentals[i].Key
	}
	for i := range rentals {
		ids[keys[rentals[i].shown.ID]] = rentals[i].shown.ID
	}
	upsells := []Upsell{}
	for i := range rentals {
		id := rentals[i].shown.ID
		from := len(upsells)
		for _, u := range written[keys[id]].Upsells {
			if target, ok := ids[string(u.Rental)]; ok {
				upsells = append(upsells, Upsell{RentalID: id, UpsellRentalID: target, IsRequired: u.Required,
					SortOrder: u.Order})
			}
		}
		slices.SortStableFunc(upsells[from:], func(a, b Upsell) int { return cmp.Compare(a.SortOrder, b.SortOrder) })
	}
	return upsells
}

// HasRentals reports whether any rental is listed.
func (b *Business) HasRentals() bool { return len(b.rentals) > 0 }

// PricedRentals returns the ids of the rentals to quote: those listed that are not free.
func (b *Business) PricedRentals() []uuid.UUID {
	var ids []uuid.UUID
	for i := range b.rentals {
		if b.rentals[i].priced {
			ids = append(ids, b.rentals[i].shown.ID)
		}
	}
	return ids
}

// rentalBasis describes what the quotes of rentals assume; its parameter is the booking date.
const rentalBasis = "Rate of one unit for an hour or a day, bought now for a rental on %s; " +
	"duration, quantity and rules that need a start time or the customer apply at booking."

// Rentals returns the answer of /rentals, with the active rentals in display order. ceilings holds
// max_bookable_online by rental id; if it is nil, the numbers are unknown.
func (b *Business) Rentals(l Language, q Quotes, ceilings map[uuid.UUID]int) RentalList {
	list := RentalList{
		Rentals: []Rental{}, AddOns: []Rental{}, Upsells: b.upsells, Currency: b.info.Currency,
		Quote: q.describe(rentalBasis),
	}
	for i := range b.rentals {
		shown := b.rentals[i].show(l, q)
		if ceiling, ok := ceilings[shown.ID]; ok {
			shown.MaxBookableOnline = &ceiling
		}
		if b.rentals[i].addOn {
			list.AddOns = append(list.AddOns, shown)
		} else {
			list.Rentals = append(list.Rentals, shown)
		}
	}
	return list
}

func (r *rental) show(l Language, q Quotes) Rental {
	shown := r.shown
	shown.Name = r.name.show(l)
	shown.Description = r.description.plain.show(l)
	shown.DescriptionHTML = r.description.html.show(l)
	if price, ok := q.Prices[shown.ID]; ok {
		shown.QuotedPrice = &price
	}
	if !l.Resolved {
		shown.RentalTranslations = &RentalTranslations{
			Name: r.name.all(), Description: r.description.plain.all(), DescriptionHTML: r.description.html.all(),
		}
	}
	return shown
}
