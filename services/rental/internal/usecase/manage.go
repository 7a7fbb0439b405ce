package usecase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/ical"
	"github.com/slotmesh/slotmesh/libs/link"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Businesses gives the offer of a business by its id. Faults: business_not_found; any other error means that it could not be read.
type Businesses interface {
	Offer(ctx context.Context, id uuid.UUID) (*catalog.Offer, error)
}

// LinkedReservations finds reservations by the hash of their link's token; [store.Store] says what its method returns.
type LinkedReservations interface {
	ByLink(ctx context.Context, hash []byte) (store.Linked, error)
}

var _ LinkedReservations = (*store.Store)(nil)

// ByLink shows customers their reservation by its link (lifecycle.md §5). A token that leads nowhere is answered with the one fault of
// [link.NotFound], whatever the reason.
type ByLink struct {
	reservations LinkedReservations
	businesses   Businesses
	clock        clock.Clock
}

// NewByLink returns what customers may see.
func NewByLink(reservations LinkedReservations, businesses Businesses, c clock.Clock) *ByLink {
	return &ByLink{reservations: reservations, businesses: businesses, clock: c}
}

// Managed is what a customer sees.
type Managed struct {
	store.Linked
	Offer *catalog.Offer
	Ends  time.Time
}

// View returns what the customer sees.
func (l *ByLink) View(ctx context.Context, token string) (Managed, error) {
	hash, ok := link.HashOf(token)
	if !ok {
		return Managed{}, link.NotFound()
	}
	found, err := l.reservations.ByLink(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return Managed{}, link.NotFound()
	}
	if err != nil {
		return Managed{}, err
	}
	offer, err := l.businesses.Offer(ctx, found.BusinessID)
	if fault.Is(err, fault.BusinessNotFound) {
		return Managed{}, link.NotFound()
	}
	if err != nil {
		return Managed{}, err
	}
	m := Managed{Linked: found, Offer: offer, Ends: ends(found.Reservation, offer.Location())}
	if l.clock.Now().After(m.Ends.Add(link.Lasts)) {
		return Managed{}, link.NotFound()
	}
	return m, nil
}

// ends is when a reservation is over: one of whole dates at the end of the last.
func ends(r store.Reservation, zone *time.Location) time.Time {
	if r.Hours != nil {
		return time.Unix(r.Hours.During.End, 0)
	}
	return time.Unix(timespan.Instant(r.Dates.To+1, 0, zone), 0)
}

// Calendar returns it as text/calendar, for the customer's own.
func (l *ByLink) Calendar(ctx context.Context, token string) ([]byte, error) {
	m, err := l.View(ctx, token)
	if err != nil {
		return nil, err
	}
	event := ical.Event{
		UID: m.ID.String(), Sequence: m.Sequence, Stamp: m.UpdatedAt, Status: ical.Confirmed, Summary: m.RentalName + " · " + m.Offer.Name,
		AllDay: m.Hours == nil, End: m.Ends.In(m.Offer.Location()),
	}
	if m.Hours != nil {
		event.Start = time.Unix(m.Hours.During.Start, 0)
	} else {
		event.Start = time.Unix(timespan.Instant(m.Dates.From, 0, m.Offer.Location()), 0).In(m.Offer.Location())
	}
	if m.Quantity > 1 {
		event.Summary = fmt.Sprintf("%s (%d) · %s", m.RentalName, m.Quantity, m.Offer.Name)
	}
	if m.Status == state.Cancelled {
		event.Status = ical.Cancelled
	}
	return ical.Calendar{Method: ical.Publish, Events: []ical.Event{event}}.Write()
}
