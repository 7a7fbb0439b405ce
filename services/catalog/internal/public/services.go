package public

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// ServiceList is the answer of /services.
type ServiceList struct {
	Services []Service `json:"services"`
	Currency string    `json:"currency"`
	Quote    Quote     `json:"quote"`
}

// Quote says what the quoted prices of a list assume.
type Quote struct {
	Date                timespan.Date `json:"date"`
	AppliesPricingRules bool          `json:"applies_pricing_rules"`
	Basis               string        `json:"basis"`
}

// Service is an element of services[]. Its category is never resolved (interface.md §2, Localization 6).
type Service struct {
	ID                 uuid.UUID         `json:"id"`
	Name               string            `json:"name"`
	Description        string            `json:"description"`
	DescriptionHTML    string            `json:"description_html"`
	Category           string            `json:"category"`
	DurationMinutes    int               `json:"duration_minutes"`
	Price              json.Number       `json:"price"`
	PricePer           string            `json:"price_per"` // person or booking: what Price and QuotedPrice are of
	QuotedPrice        *json.Number      `json:"quoted_price"`
	Currency           string            `json:"currency"`
	ImageURL           string            `json:"image_url"`
	AllowMultiple      bool              `json:"allow_multiple"`
	HasClassSchedule   bool              `json:"has_class_schedule"`
	PaymentRequirement string            `json:"payment_requirement"`
	DepositValue       *manifest.Decimal `json:"deposit_value"`
	Variants           []Variant         `json:"variants,omitempty"`

	*ServiceTranslations
}

// Variant is another length and price that a service can be booked with: the calendars and POST /book take its id.
type Variant struct {
	ID              uuid.UUID    `json:"id"`
	Name            string       `json:"name"`
	DurationMinutes int          `json:"duration_minutes"`
	Price           json.Number  `json:"price"`
	QuotedPrice     *json.Number `json:"quoted_price"`

	*VariantTranslations
}

// VariantTranslations are shown without a locale; null where there is none.
type VariantTranslations struct {
	Name map[string]string `json:"name_translations"`
}

// ServiceTranslations are shown without a locale; each is null where there is none.
type ServiceTranslations struct {
	Name            map[string]string `json:"name_translations"`
	Description     map[string]string `json:"description_translations"`
	DescriptionHTML map[string]string `json:"description_html_translations"`
	Category        map[string]string `json:"category_translations"`
}

// service is a service with what its public form is made from.
type service struct {
	place
	shown       Service // without texts that have translations, not quoted
	variants    []text  // names of those shown
	category    text
	description description
}

// PriceOf names a price to quote: a service's, or that of one of its variants.
type PriceOf struct {
	ServiceID uuid.UUID
	VariantID *uuid.UUID
}

// ID is what the quoted price is kept by.
func (p PriceOf) ID() uuid.UUID {
	if p.VariantID != nil {
		return *p.VariantID
	}
	return p.ServiceID
}

// newServices takes the active services in display order, then by name; none where the business does not use the module.
func newServices(m *manifest.Manifest, offer *catalog.Offer) []service {
	written := byKey(m.Services, func(s *manifest.Service) manifest.Key { return s.Key })
	return shown(offer.Modules.Services && !offer.NotYetOpen, offer.Services,
		func(o *catalog.Service) bool { return o.Active },
		func(o *catalog.Service) service { return newService(written[o.Key], o, offer) },
		func(a, b service) int { return a.place.compare(b.place) })
}

func newService(m *manifest.Service, o *catalog.Service, offer *catalog.Offer) service {
	type translation = manifest.ServiceTranslation
	name := newText(string(m.Name), m.Translations, func(t translation) string { return string(t.Name) })
	category := newText(string(m.Category), m.Translations, func(t translation) string { return string(t.Category) })
	words := newDescription(m.DescriptionHTML, m.Translations, func(t translation) string { return t.DescriptionHTML })
	return service{
		shown: Service{
			ID:                 o.ID,
			Category:           category.standard,
			DurationMinutes:    o.DurationMinutes,
			Price:              offer.Money().JSON(o.Price),
			PricePer:           o.PricePer(),
			Currency:           offer.Currency,
			ImageURL:           string(m.ImageURL),
			AllowMultiple:      m.AllowMultiple,
			HasClassSchedule:   len(o.Classes) > 0,
			PaymentRequirement: o.PaymentRequirement,
			DepositValue:       m.DepositValue,
			Variants:           newVariants(o, offer),
		},
		place:       place{m.Order, name},
		variants:    variantNames(m, o),
		category:    category,
		description: words,
	}
}

// newVariants lists the variants; a class has none to choose from, as its sessions say how long it is.
func newVariants(o *catalog.Service, offer *catalog.Offer) []Variant {
	if len(o.Classes) > 0 {
		return nil
	}
	variants := make([]Variant, len(o.Variants))
	for i, v := range o.Variants {
		variants[i] = Variant{ID: v.ID, DurationMinutes: v.DurationMinutes, Price: offer.Money().JSON(v.Price)}
	}
	return variants
}

// variantNames are the names of the variants that [newVariants] lists.
func variantNames(m *manifest.Service, o *catalog.Service) []text {
	written := byKey(m.Variants, func(v *manifest.Variant) manifest.Key { return v.Key })
	names := make([]text, len(o.Variants))
	for i, v := range o.Variants {
		names[i] = newText(v.Name, written[v.Key].Translations, func(t manifest.VariantTranslation) string { return string(t.Name) })
	}
	return names
}

// pricesOf lists the prices of a service that are not free.
func pricesOf(o *catalog.Service) []PriceOf {
	var prices []PriceOf
	if o.Price > 0 {
		prices = append(prices, PriceOf{ServiceID: o.ID})
	}
	for i := range o.Variants {
		if v := &o.Variants[i]; v.Price > 0 && len(o.Classes) == 0 {
			prices = append(prices, PriceOf{ServiceID: o.ID, VariantID: &v.ID})
		}
	}
	return prices
}

// Priced lists the prices to quote: those of the services shown and their variants that are not free.
func (b *Business) Priced() []PriceOf {
	var prices []PriceOf
	for i := range b.services {
		prices = append(prices, pricesOf(b.offer.Service(b.services[i].shown.ID))...)
	}
	return prices
}

// Quotes are the prices that pricing quoted for a booking date, by service, variant or rental. A nil Prices says that it did not
// answer, or was not asked as nothing can be booked for the date; what is without one is free.
type Quotes struct {
	Date       timespan.Date
	Unbookable bool // the date has passed, or lies beyond the advance limit
	Prices     map[uuid.UUID]json.Number
}

// listPrices is the basis of a list that pricing did not quote.
const listPrices = "List prices: pricing rules could not be applied just now, so quoted_price is null."

// noBooking is the basis of a list for a date that nobody can book.
const noBooking = "List prices: nothing can be booked for %s, so no rules are applied and quoted_price is null."

// serviceBasis is what the quotes of services assume, with the booking date.
const serviceBasis = "Price of one unit bought now for a booking on %s; " +
	"rules that need a start time, a party size or the customer are settled at booking."

func (q Quotes) describe(basis string) Quote {
	if q.Unbookable {
		return Quote{Date: q.Date, Basis: fmt.Sprintf(noBooking, q.Date)}
	}
	if q.Prices == nil {
		return Quote{Date: q.Date, Basis: listPrices}
	}
	return Quote{Date: q.Date, AppliesPricingRules: true, Basis: fmt.Sprintf(basis, q.Date)}
}

// Services returns the active services in display order.
func (b *Business) Services(l Language, q Quotes) ServiceList {
	list := ServiceList{Services: make([]Service, 0, len(b.services)), Currency: b.info.Currency, Quote: q.describe(serviceBasis)}
	for i := range b.services {
		list.Services = append(list.Services, b.services[i].show(l, q))
	}
	return list
}

func (s *service) show(l Language, q Quotes) Service {
	shown := s.shown
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
		if !l.Resolved {
			v.VariantTranslations = &VariantTranslations{Name: s.variants[i].all()}
		}
	}
	if !l.Resolved {
		shown.ServiceTranslations = &ServiceTranslations{
			Name: s.name.all(), Description: s.description.plain.all(), DescriptionHTML: s.description.html.all(), Category: s.category.all(),
		}
	}
	return shown
}
