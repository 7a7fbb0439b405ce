// Package public builds the answers of the public paths: /info,
// /services, /staff, /events and /rentals, in every language.
//
// [New] builds the part of the answers that depends only on the version: texts, order
// and ids. The methods of [Business] add the part that depends on the request: language,
// date, prices, and whether online bookings are paused. The package has no side effects.
package public

import (
	"cmp"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

// Business holds the data of one version of a business that the public
// paths show. A Business never changes, because readers share it.
type Business struct {
	offer    *catalog.Snapshot
	info     publicapi.BusinessInfo
	services []service
	staff    []staff
	events   []event
	rentals  []rental
	upsells  []publicapi.RentalUpsell
}

// New returns the public data of a version. The argument m is the sanitized manifest ([Sanitize]). The argument
// `offer` is the offer that was compiled from the manifest. New takes the order and the ids of objects from the offer.
// The argument `base` is the public base URL below which uploaded pictures are served.
func New(m *manifest.Manifest, offer *catalog.Snapshot, base string) *Business {
	rentals := newRentals(m, offer, base)
	return &Business{
		offer: offer, info: newInfo(m, offer, base), services: newServices(m, offer, base),
		staff:   newStaff(m, offer, base),
		events:  newEvents(m, offer, base),
		rentals: rentals, upsells: newUpsells(m, offer, rentals),
	}
}

// formOf returns the questions that API clients can answer: all questions except those for consent.
func formOf(offer *catalog.Snapshot) []publicapi.Question {
	var form []publicapi.Question
	for _, q := range offer.Form {
		if q.Consent {
			continue
		}
		shown := publicapi.Question{
			Key: q.Key, Label: q.Label.Text, LabelTranslations: q.Label.Translations, Type: q.Type,
			Required:   q.Required,
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

// imageURL returns the address of a picture: that of the uploaded picture, or else the one in the manifest.
func imageURL(uploaded *catalog.Picture, written manifest.URL, base string) string {
	if uploaded == nil {
		return string(written)
	}
	return base + uploaded.Path(imageWidth, "webp")
}

// imageWidth is the width of the pictures whose addresses the public paths show, in pixels.
const imageWidth = 800

func newInfo(m *manifest.Manifest, offer *catalog.Snapshot, base string) publicapi.BusinessInfo {
	info := publicapi.BusinessInfo{
		Name:                offer.Name,
		Slug:                offer.Slug,
		LogoURL:             imageURL(offer.Logo, m.LogoURL, base),
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
	addPlace(&info, m, offer)
	return info
}

// filled returns `list`, or an empty list if `list` is nil, so that the JSON is [] and not null.
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

// actionButtons returns the buttons sorted by their order field.
// Buttons with the same order stay in the order of the manifest.
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

// Info returns the answer of /info. The argument `paused` reports whether online bookings are paused now.
func (b *Business) Info(paused bool) publicapi.BusinessInfo {
	info := b.info
	info.OnlineBookingsPaused = paused
	return info
}

// byKey returns the objects of a manifest's list as a map by key.
func byKey[T any](list []T, key func(*T) manifest.Key) map[string]*T {
	m := make(map[string]*T, len(list))
	for i := range list {
		m[string(key(&list[i]))] = &list[i]
	}
	return m
}
