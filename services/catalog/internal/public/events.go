package public

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// event holds the public data of an event and the texts in all languages.
type event struct {
	base        publicapi.Event // public data without texts, quoted prices or remaining spots
	name        text
	description description
	tiers       []tier
}

type tier struct {
	base     publicapi.TicketTier
	name     text
	isPriced bool
}

// newEvents returns the active public events, sorted by date, start and name.
// newEvents returns no events if the business does not use events or is not open yet.
func newEvents(m *manifest.Manifest, snapshot *catalog.Snapshot, base string) []event {
	written := pointersByKey(m.Events, func(e *manifest.Event) manifest.Key { return e.Key })
	return listPublic(snapshot.Modules.Events && !snapshot.NotYetOpen, snapshot.Events,
		func(o *catalog.Event) bool { return o.Active && o.Public },
		func(o *catalog.Event) event { return newEvent(written[o.Key], o, snapshot, base) },
		func(a, b event) int {
			return cmp.Or(cmp.Compare(a.base.Date, b.base.Date), cmp.Compare(a.base.StartTime, b.base.StartTime),
				cmp.Compare(a.name.original, b.name.original))
		})
}

func newEvent(m *manifest.Event, o *catalog.Event, snapshot *catalog.Snapshot, base string) event {
	type translation = manifest.EventTranslation
	name := newText(string(m.Name), m.Translations, func(t translation) string { return string(t.Name) })
	words := newDescription(m.DescriptionHTML, m.Translations, func(t translation) string { return t.DescriptionHTML })
	e := event{
		base: publicapi.Event{
			ID:                 o.ID,
			Date:               o.Date,
			StartTime:          clockTime(o.Start),
			EndTime:            clockTime(o.End),
			ImageURL:           imageURL(o.Picture, m.ImageURL, base),
			TotalCapacity:      o.TotalCapacity,
			PaymentRequirement: m.Requirement(),
			DepositValue:       depositValue(m.DepositValue),
		},
		name:        name,
		description: words,
		tiers:       make([]tier, 0, len(o.Tiers)),
	}
	written := pointersByKey(m.Tiers, func(t *manifest.Tier) manifest.Key { return t.Key })
	for i := range o.Tiers {
		e.tiers = append(e.tiers, newTier(written[o.Tiers[i].Key], &o.Tiers[i], snapshot))
	}
	return e
}

func newTier(m *manifest.Tier, o *catalog.Tier, snapshot *catalog.Snapshot) tier {
	name := newText(string(m.Name), m.Translations, func(t manifest.TierTranslation) string { return string(t.Name) })
	return tier{
		base:     publicapi.TicketTier{ID: o.ID, Price: snapshot.Money().JSON(o.Price), TotalCapacity: o.Capacity},
		name:     name,
		isPriced: o.Price > 0,
	}
}

// clockTime formats t as HH:MM:SS. clockTime formats 24:00, the end of a day, as 00:00:00.
func clockTime(t timespan.TimeOfDay) string { return (t % timespan.MinutesPerDay).String() + ":00" }

// Events holds the events of a business on the date `today` or on a later date.
type Events struct {
	list     []event
	currency string
	today    timespan.Date
}

// Events returns the active public events on the date `today` or
// on a later date. The events are sorted by date, start and name.
func (b *Business) Events(today timespan.Date) Events {
	list, _ := slices.BinarySearchFunc(b.events, today, func(e event, d timespan.Date) int {
		return cmp.Compare(e.base.Date, d)
	})
	return Events{list: b.events[list:], currency: b.info.Currency, today: today}
}

// IDs returns the ids of the events.
func (e Events) IDs() []uuid.UUID {
	ids := make([]uuid.UUID, len(e.list))
	for i := range e.list {
		ids[i] = e.list[i].base.ID
	}
	return ids
}

// TierRef identifies a ticket tier and its event.
type TierRef struct{ EventID, TierID uuid.UUID }

// PricedTiers returns the tiers that need a quote from pricing: the tiers that are not free.
func (e Events) PricedTiers() []TierRef {
	var tiers []TierRef
	for i := range e.list {
		for j := range e.list[i].tiers {
			if t := &e.list[i].tiers[j]; t.isPriced {
				tiers = append(tiers, TierRef{EventID: e.list[i].base.ID, TierID: t.base.ID})
			}
		}
	}
	return tiers
}

// SoldCounts is the number of tickets sold, by the id of an event or a tier. An id that
// is not in the map has sold no tickets. If the map is nil, the numbers are unknown.
type SoldCounts map[uuid.UUID]int

// spotsLeft returns how many of the places are not sold. The argument `capacity` is the
// number of all places. If the numbers of tickets sold are unknown, spotsLeft returns nil.
func (s SoldCounts) spotsLeft(id uuid.UUID, capacity int) *int {
	if s == nil {
		return nil
	}
	return new(max(0, capacity-s[id]))
}

// Show returns the answer of /events in the language l. The argument `prices` holds the quoted
// prices by tier id. A tier that is not in `prices` is free. If `prices` is nil, the prices are
// unknown because pricing did not answer. If `sold` is nil, the numbers of tickets sold are unknown.
func (e Events) Show(l Language, prices map[uuid.UUID]json.Number, sold SoldCounts) publicapi.EventList {
	list := publicapi.EventList{
		Events: make([]publicapi.Event, 0, len(e.list)), Currency: e.currency, Quote: e.quoteNote(prices != nil),
	}
	for i := range e.list {
		list.Events = append(list.Events, e.list[i].show(l, prices, sold))
	}
	return list
}

// quoteNote returns the quote object of the list. The quote object has only the date of the purchase, because each
// ticket is quoted for the date of its event (interface.md §2, Quote object).
func (e Events) quoteNote(isApplied bool) publicapi.Quote {
	if !isApplied {
		return publicapi.Quote{Date: e.today, Basis: listPrices}
	}
	return publicapi.Quote{Date: e.today, AppliesPricingRules: true,
		Basis: fmt.Sprintf("Price of one ticket bought on %s for the event's own "+
			"date and start; rules that need a party size or the customer apply at booking.", e.today)}
}

func (e *event) show(l Language, prices map[uuid.UUID]json.Number, sold SoldCounts) publicapi.Event {
	shown := e.base
	shown.Name = e.name.show(l)
	shown.Description = e.description.plain.show(l)
	shown.DescriptionHTML = e.description.html.show(l)
	shown.SpotsRemaining = sold.spotsLeft(shown.ID, shown.TotalCapacity)
	shown.Inventory = make([]publicapi.TicketTier, 0, len(e.tiers))
	for i := range e.tiers {
		shown.Inventory = append(shown.Inventory, e.tiers[i].show(l, prices, sold, shown.SpotsRemaining))
	}
	if !l.IsResolved {
		shown.EventTranslations = &publicapi.EventTranslations{
			Name: e.name.listTranslations(), Description: e.description.plain.listTranslations(),
			DescriptionHTML: e.description.html.listTranslations(),
		}
	}
	return shown
}

// show returns the tier as /events shows it. The number of remaining spots is
// that of the tier or that of its event, whichever is smaller (semantics.md §4).
func (t *tier) show(l Language, prices map[uuid.UUID]json.Number, sold SoldCounts, ofEvent *int) publicapi.TicketTier {
	shown := t.base
	shown.Name = t.name.show(l)
	if spots := sold.spotsLeft(shown.ID, shown.TotalCapacity); spots != nil {
		shown.SpotsRemaining = new(min(*spots, *ofEvent))
	}
	if price, ok := prices[shown.ID]; ok {
		shown.QuotedPrice = &price
	}
	if !l.IsResolved {
		shown.NameTranslations = &publicapi.NameTranslations{Name: t.name.listTranslations()}
	}
	return shown
}
