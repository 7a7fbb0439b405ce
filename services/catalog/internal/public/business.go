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
	snapshot *catalog.Snapshot
	info     publicapi.BusinessInfo
	services []service
	staff    []staff
	events   []event
	rentals  []rental
	upsells  []publicapi.RentalUpsell
}

// New returns the public data of a version. The argument `m` is the sanitized manifest ([Sanitize]). The argument
// `snapshot` is the snapshot that was compiled from the manifest. New takes the order and the ids of objects from
// the snapshot. The argument `base` is the public base URL below which uploaded pictures are served.
func New(m *manifest.Manifest, snapshot *catalog.Snapshot, base string) *Business {
	rentals := newRentals(m, snapshot, base)
	return &Business{
		snapshot: snapshot, info: newInfo(m, snapshot, base), services: newServices(m, snapshot, base),
		staff:   newStaff(m, snapshot, base),
		events:  newEvents(m, snapshot, base),
		rentals: rentals, upsells: newUpsells(m, snapshot, rentals),
	}
}

// newForm returns the questions that API clients can answer: all questions except those for consent.
func newForm(snapshot *catalog.Snapshot) []publicapi.Question {
	var form []publicapi.Question
	for _, q := range snapshot.Form {
		if q.Consent {
			continue
		}
		question := publicapi.Question{
			Key: q.Key, Label: q.Label.Text, LabelTranslations: q.Label.Translations, Type: q.Type,
			Required:   q.Required,
			MaxLength:  q.MaxLength,
			ServiceIDs: q.ServiceIDs, EventIDs: q.EventIDs, RentalIDs: q.RentalIDs,
		}
		for _, o := range q.Options {
			question.Options = append(question.Options, publicapi.QuestionOption{
				Key: o.Key, Label: o.Label.Text, LabelTranslations: o.Label.Translations,
			})
		}
		form = append(form, question)
	}
	return form
}

// imageURL returns the URL of an uploaded picture. If there is no uploaded picture, it returns the URL in the manifest.
func imageURL(uploaded *catalog.Picture, written manifest.URL, base string) string {
	if uploaded == nil {
		return string(written)
	}
	return base + uploaded.Path(imageWidth, "webp")
}

// imageWidth is the width, in pixels, of the uploaded pictures whose URLs the public paths show.
const imageWidth = 800

func newInfo(m *manifest.Manifest, snapshot *catalog.Snapshot, base string) publicapi.BusinessInfo {
	info := publicapi.BusinessInfo{
		Name:                snapshot.Name,
		Slug:                snapshot.Slug,
		LogoURL:             imageURL(snapshot.Logo, m.LogoURL, base),
		Currency:            snapshot.Currency,
		Timezone:            snapshot.Timezone,
		DefaultLanguage:     snapshot.DefaultLanguage,
		Languages:           dropBlank(snapshot.Languages),
		ModulesEnabled:      publicapi.Modules(snapshot.Modules),
		SocialLinks:         socialLinks(m.SocialLinks),
		ActionButtons:       actionButtons(m.ActionButtons),
		HasPaymentProviders: len(snapshot.ConnectedProviders()) > 0,
		PaymentProviders:    dropBlank(snapshot.ConnectedProviders()),
		PaymentModes:        publicapi.PaymentModes(snapshot.Payments.Modes),
		CancellationPolicy:  cancellationPolicy(m.CancellationPolicy),
		CoolingOffHours:     m.CoolingOffHours,
		NameTranslations:    snapshot.NameTranslations,
		Open:                !snapshot.NotYetOpen,
		Form:                newForm(snapshot),
	}
	addPlace(&info, m, snapshot)
	return info
}

// dropBlank returns `list`, or an empty list if `list` is nil, so that the JSON is [] and not null.
func dropBlank(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func socialLinks(links map[string]manifest.URL) map[string]string {
	out := make(map[string]string, len(links))
	for network, link := range links {
		out[network] = string(link)
	}
	return out
}

// actionButtons returns the buttons sorted by their order field.
// Buttons with the same order stay in the order of the manifest.
func actionButtons(buttons []manifest.ActionButton) []publicapi.ActionButton {
	out := make([]publicapi.ActionButton, 0, len(buttons))
	for _, b := range buttons {
		out = append(out, publicapi.ActionButton{
			Type: string(b.Type), Label: string(b.Label), Icon: string(b.Icon), Content: b.Content, Order: b.Order,
		})
	}
	slices.SortStableFunc(out, func(a, b publicapi.ActionButton) int { return cmp.Compare(a.Order, b.Order) })
	return out
}

func cancellationPolicy(steps []manifest.CancellationStep) []publicapi.CancellationStep {
	out := make([]publicapi.CancellationStep, 0, len(steps))
	for _, s := range steps {
		out = append(out, publicapi.CancellationStep(s))
	}
	return out
}

// Info returns the answer of /info. The argument `paused` reports whether online bookings are paused now.
func (b *Business) Info(paused bool) publicapi.BusinessInfo {
	info := b.info
	info.OnlineBookingsPaused = paused
	return info
}

// pointersByKey returns the objects of a manifest's list as a map by key.
func pointersByKey[T any](list []T, key func(*T) manifest.Key) map[string]*T {
	m := make(map[string]*T, len(list))
	for i := range list {
		m[string(key(&list[i]))] = &list[i]
	}
	return m
}
