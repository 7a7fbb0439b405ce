package usecase

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Owner implements operations of the owner: transitions of bookings, and making and revoking API keys.
// If a method returns a fault, the fault is the answer to the caller. Any other error is internal.
type Owner struct {
	records *store.Store
	offers  Offers
	links   *link.Links
	clock   clock.Clock
	random  io.Reader
}

// NewOwner returns the operations of the owner.
func NewOwner(records *store.Store, offers Offers, links *link.Links, c clock.Clock) *Owner {
	return &Owner{records: records, offers: offers, links: links, clock: c, random: rand.Reader}
}

// now returns the current time in UTC. It truncates the time to microseconds, which is the precision of the database.
func (o *Owner) now() time.Time { return o.clock.Now().UTC().Truncate(time.Microsecond) }

// ApplyTransition makes a transition of a booking (semantics.md §3,
// lifecycle.md §4). It does not cancel bookings; [Cancellations] does this.
//
// Faults: not_found for an unknown booking or transition; conflict if the status of the booking does not allow
// the transition; before_booking_day or too_late_to_reopen if the current day does not allow the transition.
func (o *Owner) ApplyTransition(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	name state.TransitionName) (store.Booking, error) {
	ctx = actor.With(ctx, by)
	transition, ok := state.FindTransition(name)
	if !ok || name == state.Cancel {
		return store.Booking{}, fault.New(fault.NotFound,
			"There is no such transition; choose confirm, cancel, complete, no-show or reopen.")
	}
	updated, err := o.records.ApplyTransition(ctx, businessID, id, transition, o.clock.Now())
	var (
		notAllowed *store.NotAllowedError
		wrongDay   *store.WrongDayError
	)
	switch {
	case errors.Is(err, store.ErrNotFound):
		err = toBookingFault(err)
	case errors.As(err, &notAllowed):
		err = fault.Newf(fault.Conflict, "The booking is %s; %s takes one that is %s.", notAllowed.Status, name,
			joinStates(transition.From))
	case errors.As(err, &wrongDay):
		err = refuseDay(wrongDay, transition.Days)
	}
	return updated, err
}

// refuseDay returns the fault for a transition that is not allowed on
// the current day. The message of the fault names the allowed days.
func refuseDay(e *store.WrongDayError, days state.Days) error {
	if days == state.UntilNextDay {
		return fault.Newf(fault.TooLateToReopen,
			"The booking was on %s; completed and no-show can be taken back until the end of the "+
				"next day, %s (%s).", e.Date, e.Date+1, e.Zone)
	}
	return fault.Newf(fault.BeforeBookingDay,
		"The booking is on %s; completed and no-show can be set from the start of that day (%s).",
		e.Date, e.Zone)
}

func joinStates(states []state.State) string {
	words := make([]string, len(states))
	for i, s := range states {
		words[i] = string(s)
	}
	return strings.Join(words, " or ")
}

// Offer returns the newest offer of a business. The caller gives both the id and the slug of the business.
// Faults: invalid_parameter if the id and the slug belong to different businesses; the faults of [Offers].
func (o *Owner) Offer(ctx context.Context, businessID uuid.UUID, slug string) (*catalog.Snapshot, error) {
	return findOffer(ctx, o.offers, businessID, slug)
}

func findOffer(ctx context.Context, offers Offers, businessID uuid.UUID, slug string) (*catalog.Snapshot, error) {
	offer, err := offers.Fresh(ctx, slug)
	if err != nil {
		return nil, err
	}
	if offer.ID != businessID {
		return nil, fault.New(fault.InvalidParameter, "slug: names another business than the path.")
	}
	return offer, nil
}
