// Package public builds the answers of the public paths: a business's info, services, staff, events
// and rentals, in every language.
//
// [New] builds the part that depends only on the version (texts, order, ids). The methods add the part that
// depends on the request (language, date, prices, the pause of bookings). The package has no side effects.
package public

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// Business is the public form of one version of a business. Readers share it, and it never changes.
type Business struct {
	offer    *catalog.Offer
	info     Info
	services []service
	staff    []staff
	events   []event
	rentals  []rental
	upsells  []Upsell
}

// New builds the public form of a version from its sanitized manifest ([Sanitize]) and the offer that
// was compiled from the manifest. It takes the order and the ids from the offer.
func New(m *manifest.Manifest, offer *catalog.Offer) *Business {
	rentals := newRentals(m, offer)
	return &Business{
		offer: offer, info: newInfo(m, offer), services: newServices(m, offer), staff: newStaff(m, offer),
		events:  newEvents(m, offer),
		rentals: rentals, upsells: newUpsells(m, offer, rentals),
	}
}

// Info is the business info of interface.md §2.
type Info struct {
	Name                 string             `json:"name"`
	Slug                 string             `json:"slug"`
	LogoURL              string             `json:"logo_url"`
	Currency             string             `json:"currency"`
	Timezone             string             `json:"timezone"`
	DefaultLanguage      string             `json:"default_language"`
	Languages            []string           `json:"languages"`
	ModulesEnabled       catalog.Modules    `json:"modules_enabled"`
	SocialLinks          map[string]string  `json:"social_links"`
	ActionButtons        []ActionButton     `json:"action_buttons"`
	HasPaymentProviders  bool               `json:"has_payment_providers"`
	PaymentProviders     []string           `json:"payment_providers"`
	PaymentModes         PaymentModes       `json:"payment_modes"`
	CancellationPolicy   []CancellationStep `json:"cancellation_policy"`
	CoolingOffHours      int                `json:"cooling_off_hours"`
	OnlineBookingsPaused bool               `json:"online_bookings_paused"`
	// Open is false until the business opens for bookings. Until then, nothing is listed and nothing can be booked.
	Open bool `json:"open"`
	// NameTranslations are by language code; left out if there are none.
	// The interface does not resolve this name (§2, Localization 6).
	NameTranslations map[string]string `json:"name_translations,omitempty"`
	// Form holds the questions of the booking page, without consents,
	// which only the page asks for. It is left out if there are none.
	Form []Question `json:"form,omitempty"`
}

// Question is one question of the booking page. A booking gives its answer in form_data under the question's key.
type Question struct {
	Key       string            `json:"key"`
	Label     string            `json:"label"`
	Labels    map[string]string `json:"label_translations,omitempty"`
	Type      string            `json:"type"`
	Required  bool              `json:"required"`
	MaxLength int               `json:"max_length,omitempty"`
	Options   []Option          `json:"options,omitempty"`
	// Services, Events and Rentals are the ids of the services, events and rentals for which the question
	// is asked. All three are omitted if it is always asked.
	Services []uuid.UUID `json:"service_ids,omitempty"`
	Events   []uuid.UUID `json:"event_ids,omitempty"`
	Rentals  []uuid.UUID `json:"rental_ids,omitempty"`
}

// Option is one possible answer of a select question.
type Option struct {
	Key    string            `json:"key"`
	Label  string            `json:"label"`
	Labels map[string]string `json:"label_translations,omitempty"`
}

// formOf returns the questions that API clients can answer: all except consents.
func formOf(offer *catalog.Offer) []Question {
	var form []Question
	for _, q := range offer.Form {
		if q.Consent {
			continue
		}
		shown := Question{
			Key: q.Key, Label: q.Label.Text, Labels: q.Label.Translations, Type: q.Type, Required: q.Required,
			MaxLength: q.MaxLength,
			Services:  q.ServiceIDs, Events: q.EventIDs, Rentals: q.RentalIDs,
		}
		for _, o := range q.Options {
			shown.Options = append(shown.Options, Option{Key: o.Key, Label: o.Label.Text, Labels: o.Label.Translations})
		}
		form = append(form, shown)
	}
	return form
}

// ActionButton is a button on the business's page.
type ActionButton struct {
	Type    string `json:"type"`
	Label   string `json:"label"`
	Icon    string `json:"icon"`
	Content string `json:"content"`
	Order   int    `json:"order"`
}

// PaymentModes holds the payment mode of each module: online, at_door or customer_choice.
type PaymentModes struct {
	Services string `json:"services"`
	Rentals  string `json:"rentals"`
	Events   string `json:"events"`
}

// CancellationStep is the percentage that is refunded if the
// customer cancels at least HoursBefore hours before the start.
type CancellationStep struct {
	HoursBefore   int `json:"hours_before"`
	RefundPercent int `json:"refund_percent"`
}

func newInfo(m *manifest.Manifest, offer *catalog.Offer) Info {
	return Info{
		Name:                offer.Name,
		Slug:                offer.Slug,
		LogoURL:             string(m.LogoURL),
		Currency:            offer.Currency,
		Timezone:            offer.Timezone,
		DefaultLanguage:     offer.DefaultLanguage,
		Languages:           filled(offer.Languages),
		ModulesEnabled:      offer.Modules,
		SocialLinks:         socialLinks(m.SocialLinks),
		ActionButtons:       actionButtons(m.ActionButtons),
		HasPaymentProviders: len(offer.ConnectedProviders()) > 0,
		PaymentProviders:    filled(offer.ConnectedProviders()),
		PaymentModes:        PaymentModes(offer.Payments.Modes),
		CancellationPolicy:  cancellationPolicy(m.CancellationPolicy),
		CoolingOffHours:     m.CoolingOffHours,
		NameTranslations:    offer.NameTranslations,
		Open:                !offer.NotYetOpen,
		Form:                formOf(offer),
	}
}

// filled returns list, or an empty list instead of nil, so that JSON shows [].
func filled(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func socialLinks(links map[string]manifest.URL) map[string]string {
	shown := make(map[string]string, len(links))
	for network, link := range links {
		shown[network] = string(link)
	}
	return shown
}

// actionButtons returns the buttons sorted by order; equal ones keep the written order.
func actionButtons(buttons []manifest.ActionButton) []ActionButton {
	shown := make([]ActionButton, 0, len(buttons))
	for _, b := range buttons {
		shown = append(shown, ActionButton{
			Type: string(b.Type), Label: string(b.Label), Icon: string(b.Icon), Content: b.Content, Order: b.Order,
		})
	}
	slices.SortStableFunc(shown, func(a, b ActionButton) int { return cmp.Compare(a.Order, b.Order) })
	return shown
}

func cancellationPolicy(steps []manifest.CancellationStep) []CancellationStep {
	shown := make([]CancellationStep, 0, len(steps))
	for _, s := range steps {
		shown = append(shown, CancellationStep(s))
	}
	return shown
}

// Info returns the business info. paused reports whether online bookings are paused now.
func (b *Business) Info(paused bool) Info {
	info := b.info
	info.OnlineBookingsPaused = paused
	return info
}

// byKey maps the objects of a manifest's list by their keys.
func byKey[T any](list []T, key func(*T) manifest.Key) map[string]*T {
	m := make(map[string]*T, len(list))
	for i := range list {
		m[string(key(&list[i]))] = &list[i]
	}
	return m
}
