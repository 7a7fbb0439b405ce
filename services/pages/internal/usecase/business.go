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
	// Get returns an offer that can be up to two seconds old.
	Get(ctx context.Context, slug string) (*catalog.Snapshot, error)
	// Fresh returns the newest offer.
	Fresh(ctx context.Context, slug string) (*catalog.Snapshot, error)
}

// Shop implements the use cases of the booking pages.
type Shop struct {
	Offers       Offers
	Catalog      *Reader
	Availability *Reader
	Places       Places // limits how many lists of free starts are read at the same time
	Prices       Prices
	Bookings     Bookings
	Rent         *Reader // reads the calendars of the rental service
	Reservations Reservations
	Clock        clock.Clock
}

// Places limits the number of large answers that are read for one business at the same time. `Within` is the longest
// time that a page waits until it may read its answer.
type Places struct {
	Each   *bulkhead.Tenants
	Within time.Duration
}

// Business contains the data of a business that every page shows.
type Business struct {
	Offer   *catalog.Snapshot
	LogoURL string
	Closed  bool           // true if the subscription is inactive or the business is being removed
	Paused  *timespan.Date // the date until which bookings are paused; nil if not paused
	Now     time.Time
}

// Open reports whether customers can book on the page of the business now.
func (b *Business) Open() bool { return !b.Closed && !b.Offer.NotYetOpen && b.Paused == nil }

// Offers reports whether the business's page has entries in one of its parts. The argument `part` is "events" or
// "rentals"; any other value means services.
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

// Today returns the current date in the time zone of the business.
func (b *Business) Today() timespan.Date { return b.Offer.Today(b.Now) }

// Language returns the language of the business that is nearest to the language `asked`, by the matching rule for texts
// (semantics.md §6).
func (b *Business) Language(asked string) string {
	return locale.MatchOr(asked, b.Offer.Languages, b.Offer.DefaultLanguage)
}

// Business returns the data of a business that every page shows. Faults: business_not_found; service_unavailable.
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

// with returns the data of a business that every page shows. It reads them from the offer, the logo and the current
// time.
func (s *Shop) with(offer *catalog.Snapshot, logo string) *Business {
	b := &Business{Offer: offer, LogoURL: logo, Now: s.Clock.Now()}
	b.Closed = !offer.Account.SubscriptionActive || offer.Account.RemovalOn != nil
	if offer.Paused(b.Now) {
		b.Paused = offer.Bookings.PausedUntil
	}
	return b
}

// Newest returns the business with its newest offer. Pages use an offer that can be two seconds old, but bookings use
// the newest offer at once (semantics.md §6). After a refused booking, the newest offer therefore shows the reason.
//
// If catalog does not answer, Newest returns `b` unchanged. Fault: business_not_found.
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
