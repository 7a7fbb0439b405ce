package usecase

import (
	"context"
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/bulkhead"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/locale"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Offers gives the offer of a business; catalogclient.Client does. Faults: business_not_found; service_unavailable.
type Offers interface {
	// Get may be two seconds behind.
	Get(ctx context.Context, slug string) (*catalog.Offer, error)
	// Fresh is the offer as it is now.
	Fresh(ctx context.Context, slug string) (*catalog.Offer, error)
}

// Shop is what the booking page does.
type Shop struct {
	Offers       Offers
	Catalog      *Reader
	Availability *Reader
	Places       Places // for reading free starts
	Prices       Prices
	Bookings     Bookings
	Rent         *Reader // of rental's calendars
	Reservations Reservations
	Clock        clock.Clock
}

// Places are how much is read at once for each business where it can be long, and how long a page waits for one.
type Places struct {
	Each   *bulkhead.Tenants
	Within time.Duration
}

// Business is what every page says of a business.
type Business struct {
	Offer   *catalog.Offer
	LogoURL string
	Closed  bool           // takes no bookings: its subscription is inactive, or it leaves
	Paused  *timespan.Date // takes none before this date
	Now     time.Time
}

// Open reports whether the business takes bookings on its page now.
func (b *Business) Open() bool { return !b.Closed && !b.Offer.NotYetOpen && b.Paused == nil }

// Offers reports whether the business offers anything of a part on its page: services, events or rentals.
func (b *Business) Offers(part string) bool {
	offer, today := b.Offer, b.Today()
	switch part {
	case "events":
		return offer.Modules.Events && slices.ContainsFunc(offer.Events, func(e catalog.Event) bool { return e.Active && e.Public && e.Date >= today })
	case "rentals":
		return offer.Modules.Rentals && slices.ContainsFunc(offer.Rentals, func(r catalog.Rental) bool { return r.Active && r.Quantity != nil })
	}
	return offer.Modules.Services && slices.ContainsFunc(offer.Services, func(s catalog.Service) bool { return s.Active })
}

// Today is the business's date.
func (b *Business) Today() timespan.Date { return b.Offer.Today(b.Now) }

// Language is that of the business's which is nearest to the one that was asked for, as its texts are matched (semantics.md §6).
func (b *Business) Language(asked string) string {
	return locale.Or(asked, b.Offer.Languages, b.Offer.DefaultLanguage)
}

// info is what is read of /info.
type info struct {
	LogoURL string `json:"logo_url"`
}

// Business returns what every page says of a business. Faults: business_not_found; service_unavailable.
func (s *Shop) Business(ctx context.Context, slug string) (*Business, error) {
	offer, err := s.Offers.Get(ctx, slug)
	if err != nil {
		return nil, err
	}
	shown, err := read[info](ctx, s.Catalog, slug, "info", nil)
	if err != nil {
		return nil, err
	}
	return s.with(offer, shown.LogoURL), nil
}

// with is what every page says of a business that offers this now.
func (s *Shop) with(offer *catalog.Offer, logo string) *Business {
	b := &Business{Offer: offer, LogoURL: logo, Now: s.Clock.Now()}
	b.Closed = !offer.Account.SubscriptionActive || offer.Account.RemovalOn != nil
	if offer.Paused(b.Now) {
		b.Paused = offer.Bookings.PausedUntil
	}
	return b
}

// Newest is the business as it is now. Whoever was refused by an offer that the page does not know yet is told by it why, and until when
// (semantics.md §6: a booking follows a publish at once, a page within two seconds). Where nobody can tell, it is as it was. Faults:
// business_not_found.
func (s *Shop) Newest(ctx context.Context, b *Business) (*Business, error) {
	offer, err := s.Offers.Fresh(ctx, b.Offer.Slug)
	switch {
	case fault.Is(err, fault.BusinessNotFound):
		return nil, err
	case err != nil:
		return b, nil
	}
	return s.with(offer, b.LogoURL), nil
}
