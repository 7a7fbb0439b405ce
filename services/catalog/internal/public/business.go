// Package public builds the answers of the public paths: a business's info, services, staff, events
// and rentals, in every language.
//
// [New] builds the part that depends only on the version (texts, order, ids). The methods add the part that
// depends on the request (language, date, prices, the pause of bookings). The package has no side effects.
package public

import (
	"cmp"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

// Business is the public form of one version of a business. Readers share it, and it never changes.
type Business struct {
	offer    *catalog.Offer
	info     publicapi.BusinessInfo
	services []service
	staff    []staff
	events   []event
	rentals  []rental
	upsells  []publicapi.RentalUpsell
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

// formOf returns the questions that API clients can answer: all except consents.
func formOf(offer *catalog.Offer) []publicapi.Question {
	var form []publicapi.Question
	for _, q := range offer.Form {
		if q.Consent {
			continue
		}
		shown := publicapi.Question{
			Key: q.Key, Label: q.Label.Text, LabelTranslations: q.Label.Translations, Type: q.Type, Required: q.Required,
			MaxLength:  q.MaxLength,
			ServiceIDs: q.ServiceIDs, EventIDs: q.EventIDs, RentalIDs: q.RentalIDs,
		}
		for _, o := range q.Options {
			shown.Options = append(shown.Options, publicapi.QuestionOption{
				Key: o.Key, Label: o.Label.Text, LabelTranslations: o.Label.Translations,
			})
		}
		form = append(form, shown)
	}
	return form
}

func newInfo(m *manifest.Manifest, offer *catalog.Offer) publicapi.BusinessInfo {
	return publicapi.BusinessInfo{
		Name:                offer.Name,
		Slug:                offer.Slug,
		LogoURL:             string(m.LogoURL),
		Currency:            offer.Currency,
		Timezone:            offer.Timezone,
		DefaultLanguage:     offer.DefaultLanguage,
		Languages:           filled(offer.Languages),
		ModulesEnabled:      publicapi.Modules(offer.Modules),
		SocialLinks:         socialLinks(m.SocialLinks),
		ActionButtons:       actionButtons(m.ActionButtons),
		HasPaymentProviders: len(offer.ConnectedProviders()) > 0,
		PaymentProviders:    filled(offer.ConnectedProviders()),
		PaymentModes:        publicapi.PaymentModes(offer.Payments.Modes),
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
func actionButtons(buttons []manifest.ActionButton) []publicapi.ActionButton {
	shown := make([]publicapi.ActionButton, 0, len(buttons))
	for _, b := range buttons {
		shown = append(shown, publicapi.ActionButton{
			Type: string(b.Type), Label: string(b.Label), Icon: string(b.Icon), Content: b.Content, Order: b.Order,
		})
	}
	slices.SortStableFunc(shown, func(a, b publicapi.ActionButton) int { return cmp.Compare(a.Order, b.Order) })
	return shown
}

func cancellationPolicy(steps []manifest.CancellationStep) []publicapi.CancellationStep {
	shown := make([]publicapi.CancellationStep, 0, len(steps))
	for _, s := range steps {
		shown = append(shown, publicapi.CancellationStep(s))
	}
	return shown
}

// Info returns the business info. paused reports whether online bookings are paused now.
func (b *Business) Info(paused bool) publicapi.BusinessInfo {
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
