package usecase

import (
	"context"
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Snapshots returns the snapshot of a business; catalogclient.Client
// implements it. Faults: business_not_found; service_unavailable.
type Snapshots interface {
	// Get returns a snapshot that can be up to two seconds old.
	Get(ctx context.Context, slug string) (*catalog.Snapshot, error)
	// Fresh returns the newest snapshot.
	Fresh(ctx context.Context, slug string) (*catalog.Snapshot, error)
}

// Shop implements the use cases of the booking pages.
type Shop struct {
	Snapshots    Snapshots
	Catalog      *catalogclient.Answers
	Availability *catalogclient.Answers
	Places       Places // limits how many lists of free starts are read at the same time
	Free         *FreeTimesCache
	Prices       Prices
	Bookings     Bookings
	RentalReader *catalogclient.Answers // reads the calendars of the rental service
	Reservations Reservations
	Clock        clock.Clock
}

// Places limits how many large answers, such as lists of free starts, are read for one business at the same time.
// `MaxWait` is the longest time that a page waits until it may read an answer.
type Places struct {
	Businesses *bulkhead.Tenants
	MaxWait    time.Duration
}

// Business contains the data of a business that every page shows.
type Business struct {
	Snapshot *catalog.Snapshot
	LogoURL  string
	// Info is the answer of /info, with the links of the business. It is nil if no answer is known.
	Info        *publicapi.BusinessInfo
	IsClosed    bool           // true if the subscription is inactive or the business has a date of removal
	PausedUntil *timespan.Date // the date until which bookings are paused; nil if not paused
	Now         time.Time
}

// IsOpen reports whether customers can book on the page of the business now.
func (b *Business) IsOpen() bool {
	return !b.IsClosed && !b.Snapshot.NotYetOpen && b.PausedUntil == nil
}

// HasEntries reports whether one part of the business's page has entries. The argument `part` is "events", "rentals" or
// "classes"; any other value means services that are not classes.
func (b *Business) HasEntries(part string) bool {
	snapshot, today := b.Snapshot, b.Today()
	switch part {
	case "events":
		return snapshot.Modules.Events && slices.ContainsFunc(snapshot.Events, func(e catalog.Event) bool {
			return e.Active && e.Public && e.Date >= today
		})
	case "rentals":
		return snapshot.Modules.Rentals && slices.ContainsFunc(snapshot.Rentals, func(r catalog.Rental) bool {
			return r.Active && r.Quantity != nil
		})
	}
	return snapshot.Modules.Services && slices.ContainsFunc(snapshot.Services, func(s catalog.Service) bool {
		return s.Active && s.IsClass() == (part == "classes")
	})
}

// Today returns the current date in the time zone of the business.
func (b *Business) Today() timespan.Date { return b.Snapshot.Today(b.Now) }

// Language returns the language of the business that is nearest to the language `requested`, according to the matching
// rule for texts (semantics.md §6).
func (b *Business) Language(requested string) string {
	return locale.MatchOr(requested, b.Snapshot.Languages, b.Snapshot.DefaultLanguage)
}

// Business returns the data of a business that every page shows. Faults: business_not_found; service_unavailable.
func (s *Shop) Business(ctx context.Context, slug string) (*Business, error) {
	snapshot, err := s.Snapshots.Get(ctx, slug)
	if err != nil {
		return nil, err
	}
	info, err := read[publicapi.BusinessInfo](ctx, s.Catalog, slug, "info", nil)
	if err != nil {
		return nil, err
	}
	return s.newBusiness(snapshot, info), nil
}

// newBusiness returns the data of a business that every page shows. It derives the data from the snapshot, the answer of
// /info and the current time.
func (s *Shop) newBusiness(snapshot *catalog.Snapshot, info *publicapi.BusinessInfo) *Business {
	b := &Business{Snapshot: snapshot, Info: info, Now: s.Clock.Now()}
	if info != nil {
		b.LogoURL = info.LogoURL
	}
	b.IsClosed = !snapshot.Account.SubscriptionActive || snapshot.Account.RemovalOn != nil
	if snapshot.IsPaused(b.Now) {
		b.PausedUntil = snapshot.Bookings.PausedUntil
	}
	return b
}

// Refresh returns the business with its newest snapshot. Pages use a snapshot that can be two seconds old, but the
// booking service always uses the newest snapshot (semantics.md §6). So if a booking is refused because the snapshot
// has changed, only the newest snapshot shows the reason.
//
// If the catalog service does not answer, Refresh returns `b` unchanged. Fault: business_not_found.
func (s *Shop) Refresh(ctx context.Context, b *Business) (*Business, error) {
	snapshot, err := s.Snapshots.Fresh(ctx, b.Snapshot.Slug)
	switch {
	case fault.Is(err, fault.BusinessNotFound):
		return nil, err
	case err != nil:
		return b, nil
	}
	return s.newBusiness(snapshot, b.Info), nil
}
