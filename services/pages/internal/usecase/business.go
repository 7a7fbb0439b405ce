package usecase

import (
	"context"
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Offers returns the offer of a business; catalogclient.Client
// implements it. Faults: business_not_found; service_unavailable.
type Offers interface {
	// Get returns an offer that may be up to two seconds old.
	Get(ctx context.Context, slug string) (*catalog.Offer, error)
	// Fresh returns the newest offer.
	Fresh(ctx context.Context, slug string) (*catalog.Offer, error)
}

// Shop implements the use cases of the booking pages.
type Shop struct {
	Offers       Offers
	Catalog      *Reader
	Availability *Reader
	Places       Places // bound the reading of free starts
	Prices       Prices
	Bookings     Bookings
	Rent         *Reader // for rental's calendars
	Reservations Reservations
	Clock        clock.Clock
}

// Places limits how many large answers are read at the same time for each business, and how long a
// page waits for its turn.
type Places struct {
	Each   *bulkhead.Tenants
	Within time.Duration
}

// Business is what every page shows of a business.
type Business struct {
	Offer   *catalog.Offer
	LogoURL string
	Closed  bool           // takes no bookings: its subscription is inactive, or it is being removed
	Paused  *timespan.Date // the date until which bookings are paused; nil if they are not
	Now     time.Time
}

// Open reports whether the business takes bookings on its page now.
func (b *Business) Open() bool { return !b.Closed && !b.Offer.NotYetOpen && b.Paused == nil }

// Offers reports whether the business has anything to list in a part of the page. The argument part is
// "events" or "rentals"; any other value means services.
func (b *Business) Offers(part string) bool {
	offer, today := b.Offer, b.Today()
	switch part {
	case "events":
		return offer.Modules.Events && slices.ContainsFunc(offer.Events, func(e catalog.Event) bool {
			return e.Active && e.Public && e.Date >= today
		})
	case "rentals":
		return offer.Modules.Rentals && slices.ContainsFunc(offer.Rentals, func(r catalog.Rental) bool {
			return r.Active && r.Quantity != nil
		})
	}
	return offer.Modules.Services && slices.ContainsFunc(offer.Services, func(s catalog.Service) bool {
		return s.Active
	})
}

// Today returns the business's date.
func (b *Business) Today() timespan.Date { return b.Offer.Today(b.Now) }

// Language returns the language of the business that is nearest to the one in the argument asked, by
// the matching rule for texts (semantics.md §6).
func (b *Business) Language(asked string) string {
	return locale.MatchOr(asked, b.Offer.Languages, b.Offer.DefaultLanguage)
}

// Business returns what every page shows of a business. Faults: business_not_found; service_unavailable.
func (s *Shop) Business(ctx context.Context, slug string) (*Business, error) {
	offer, err := s.Offers.Get(ctx, slug)
	if err != nil {
		return nil, err
	}
	shown, err := read[publicapi.BusinessInfo](ctx, s.Catalog, slug, "info", nil)
	if err != nil {
		return nil, err
	}
	return s.with(offer, shown.LogoURL), nil
}

// with returns the business as pages show it, with the given offer and logo, at the current time.
func (s *Shop) with(offer *catalog.Offer, logo string) *Business {
	b := &Business{Offer: offer, LogoURL: logo, Now: s.Clock.Now()}
	b.Closed = !offer.Account.SubscriptionActive || offer.Account.RemovalOn != nil
	if offer.Paused(b.Now) {
		b.Paused = offer.Bookings.PausedUntil
	}
	return b
}

// Newest returns the business with the newest offer. Pages use an offer that may be two seconds old, but bookings use
// the newest one at once (semantics.md §6). After a refused booking, the newest offer therefore shows the reason.
//
// If catalog does not answer, Newest returns b unchanged. Faults: business_not_found.
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
