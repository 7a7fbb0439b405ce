package public

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// service holds the public data of a service and the texts in all languages.
type service struct {
	sortKey
	base        publicapi.Service // public data without translated texts or quoted prices
	variants    []text            // names of the variants in base.Variants
	category    text
	description description
}

// PriceRef identifies a price for which pricing returns a quote: the
// price of a variant, or the price of the service if VariantID is nil.
type PriceRef struct {
	ServiceID uuid.UUID
	VariantID *uuid.UUID
}

// ID returns the key of the quoted price in [Quotes].Prices:
// the id of the variant, or of the service if VariantID is nil.
func (p PriceRef) ID() uuid.UUID {
	if p.VariantID != nil {
		return *p.VariantID
	}
	return p.ServiceID
}

// newServices returns the active services, sorted by display order, then by name.
// newServices returns no services if the business does not use services or is not open yet.
func newServices(m *manifest.Manifest, snapshot *catalog.Snapshot, base string) []service {
	written := pointersByKey(m.Services, func(s *manifest.Service) manifest.Key { return s.Key })
	return listPublic(snapshot.Modules.Services && !snapshot.NotYetOpen, snapshot.Services,
		func(o *catalog.Service) bool { return o.Active },
		func(o *catalog.Service) service { return newService(written[o.Key], o, snapshot, base) },
		func(a, b service) int { return a.sortKey.compare(b.sortKey) })
}

func newService(m *manifest.Service, o *catalog.Service, snapshot *catalog.Snapshot, base string) service {
	type translation = manifest.ServiceTranslation
	name := newText(string(m.Name), m.Translations, func(t translation) string { return string(t.Name) })
	category := newText(string(m.Category), m.Translations, func(t translation) string { return string(t.Category) })
	words := newDescription(m.DescriptionHTML, m.Translations, func(t translation) string { return t.DescriptionHTML })
	return service{
		base: publicapi.Service{
			ID:                 o.ID,
			Category:           category.original,
			DurationMinutes:    o.DurationMinutes,
			Price:              snapshot.Money().JSON(o.Price),
			PricePer:           o.PricePer(),
			Currency:           snapshot.Currency,
			ImageURL:           imageURL(o.Picture, m.ImageURL, base),
			AllowMultiple:      m.AllowMultiple,
			HasClassSchedule:   len(o.Classes) > 0,
			PaymentRequirement: o.PaymentRequirement,
			DepositValue:       depositValue(m.DepositValue),
			Variants:           newVariants(o, snapshot),
		},
		sortKey:     sortKey{m.Order, name},
		variants:    variantNames(m, o),
		category:    category,
		description: words,
	}
}

// newVariants returns the variants of a service. A service with class
// sessions has no variants, because the sessions determine the duration.
func newVariants(o *catalog.Service, snapshot *catalog.Snapshot) []publicapi.Variant {
	if len(o.Classes) > 0 {
		return nil
	}
	variants := make([]publicapi.Variant, len(o.Variants))
	for i, v := range o.Variants {
		variants[i] = publicapi.Variant{ID: v.ID, DurationMinutes: v.DurationMinutes,
			Price: snapshot.Money().JSON(v.Price)}
	}
	return variants
}

// variantNames returns the names of the service's variants, in the order of [newVariants].
func variantNames(m *manifest.Service, o *catalog.Service) []text {
	written := pointersByKey(m.Variants, func(v *manifest.Variant) manifest.Key { return v.Key })
	names := make([]text, len(o.Variants))
	for i, v := range o.Variants {
		names[i] = newText(v.Name, written[v.Key].Translations, func(t manifest.VariantTranslation) string {
			return string(t.Name)
		})
	}
	return names
}

// priceRefs returns the prices that need a quote from pricing: the prices above zero of a service and its variants.
func priceRefs(o *catalog.Service) []PriceRef {
	var prices []PriceRef
	if o.Price > 0 {
		prices = append(prices, PriceRef{ServiceID: o.ID})
	}
	for i := range o.Variants {
		if v := &o.Variants[i]; v.Price > 0 && len(o.Classes) == 0 {
			prices = append(prices, PriceRef{ServiceID: o.ID, VariantID: &v.ID})
		}
	}
	return prices
}

// PricedServices returns the prices that need a quote from pricing:
// the prices above zero of the listed services and their variants.
func (b *Business) PricedServices() []PriceRef {
	var prices []PriceRef
	for i := range b.services {
		prices = append(prices, priceRefs(b.snapshot.Service(b.services[i].base.ID))...)
	}
	return prices
}

// Quotes holds the prices that pricing quoted for a booking date. The keys of Prices
// are ids of services, variants and rentals. An item that is not in Prices is free.
// Prices is nil if pricing did not answer, or if the date cannot be booked.
type Quotes struct {
	Date         timespan.Date
	IsUnbookable bool // the date is in the past or beyond the advance limit
	Prices       map[uuid.UUID]json.Number
}

// listPrices is the basis text of a list without quoted prices.
const listPrices = "List prices: pricing rules could not be applied just now, so quoted_price is null."

// noBooking is the basis text of a list for a date that cannot be booked. The parameter %s is the date.
const noBooking = "List prices: nothing can be booked for %s, so no rules are applied and quoted_price is null."

// serviceBasis describes the assumptions of the quoted service prices. The parameter %s is the booking date.
const serviceBasis = "Price of one unit bought now for a booking on %s; " +
	"rules that need a start time, a party size or the customer apply at booking."

func (q Quotes) describe(basis string) publicapi.Quote {
	if q.IsUnbookable {
		return publicapi.Quote{Date: q.Date, Basis: fmt.Sprintf(noBooking, q.Date)}
	}
	if q.Prices == nil {
		return publicapi.Quote{Date: q.Date, Basis: listPrices}
	}
	return publicapi.Quote{Date: q.Date, AppliesPricingRules: true, Basis: fmt.Sprintf(basis, q.Date)}
}

// Services returns the answer of /services in the language l, with the active services in display order.
func (b *Business) Services(l Language, q Quotes) publicapi.ServiceList {
	list := publicapi.ServiceList{Services: make([]publicapi.Service, 0, len(b.services)), Currency: b.info.Currency,
		Quote: q.describe(serviceBasis)}
	for i := range b.services {
		list.Services = append(list.Services, b.services[i].show(l, q))
	}
	return list
}

func (s *service) show(l Language, q Quotes) publicapi.Service {
	shown := s.base
	shown.Name = s.name.show(l)
	shown.Description = s.description.plain.show(l)
	shown.DescriptionHTML = s.description.html.show(l)
	if price, ok := q.Prices[shown.ID]; ok {
		shown.QuotedPrice = &price
	}
	shown.Variants = slices.Clone(shown.Variants)
	for i := range shown.Variants {
		v := &shown.Variants[i]
		v.Name = s.variants[i].show(l)
		if price, ok := q.Prices[v.ID]; ok {
			v.QuotedPrice = &price
		}
		if !l.IsResolved {
			v.NameTranslations = &publicapi.NameTranslations{Name: s.variants[i].listTranslations()}
		}
	}
	if !l.IsResolved {
		shown.ServiceTranslations = &publicapi.ServiceTranslations{
			Name: s.name.listTranslations(), Description: s.description.plain.listTranslations(),
			DescriptionHTML: s.description.html.listTranslations(),
			Category:        s.category.listTranslations(),
		}
	}
	return shown
}
