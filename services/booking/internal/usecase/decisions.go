package usecase

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Decisions implements the links in notices with which a recipient confirms or declines a pending booking without a
// sign-in (pages.md §6). A link is valid for one booking and one recipient.
//
// The published list notifications.owner_emails is the permission: a link is valid while its recipient is on the list.
// Every invalid token gets the same fault, [link.NewNotFoundFault]. A link shows its booking until 30 days after the end
// of the booking. It decides only while the booking is pending and has not begun.
type Decisions struct {
	records       *store.Store
	offers        Offers
	businesses    Businesses
	cancellations *Cancellations
	owner         *Owner
}

// NewDecisions returns the operations of the links in notices.
func NewDecisions(records *store.Store, offers Offers, businesses Businesses, cancellations *Cancellations,
	owner *Owner) *Decisions {
	return &Decisions{records: records, offers: offers, businesses: businesses, cancellations: cancellations,
		owner: owner}
}

// Decision is a booking about which a recipient decides. IsOpen reports whether the recipient can decide now. Refund is
// what declining refunds. Made is nil if no decision is known.
type Decision struct {
	Booking store.Booking
	IsOpen  bool
	Refund  int64
	Made    *booking.MadeDecision
}

// recipient is the recipient of a valid link.
type recipient struct {
	link.Decision
	offer *catalog.Snapshot
}

// readToken returns the recipient of a link at the business with the given offer. Fault:
// [link.NewNotFoundFault] if the token is invalid, or if the recipient gets no notices.
func (d *Decisions) readToken(offer *catalog.Snapshot, token string) (recipient, error) {
	decision, isValid := d.owner.links.ReadDecision(offer.ID, token)
	if !isValid || findRecipient(offer, decision.Recipient) == "" {
		return recipient{}, link.NewNotFoundFault()
	}
	return recipient{decision, offer}, nil
}

// findRecipient returns the address of the recipient with the given id, or "" if the business sends no notices to it.
func findRecipient(offer *catalog.Snapshot, id uuid.UUID) string {
	for _, address := range offer.Notifications.OwnerEmails {
		if link.RecipientID(offer.ID, address) == id {
			return address
		}
	}
	return ""
}

// Read returns the booking of a link. Fault: not_found.
func (d *Decisions) Read(ctx context.Context, businessID uuid.UUID, token string) (Decision, error) {
	offer, err := d.businesses.Offer(ctx, businessID)
	if fault.Is(err, fault.BusinessNotFound) {
		return Decision{}, link.NewNotFoundFault()
	}
	if err != nil {
		return Decision{}, err
	}
	by, err := d.readToken(offer, token)
	if err != nil {
		return Decision{}, err
	}
	b, err := d.records.Booking(ctx, businessID, by.Booking)
	if err != nil {
		return Decision{}, hideUnknown(err)
	}
	now := d.owner.now()
	if now.After(b.EndsAt.Add(link.Lifetime)) {
		return Decision{}, link.NewNotFoundFault()
	}
	decision := Decision{Booking: b, IsOpen: b.Status == state.Pending && now.Before(b.StartsAt)}
	if decision.IsOpen {
		preview, err := d.cancellations.Bookings.Preview(ctx, businessID, b.ID)
		decision.Refund = preview.Refund
		return decision, hideUnknown(err)
	}
	decision.Made, err = d.findMade(ctx, by, b)
	return decision, err
}

// findMade returns the decision about a booking, or nil if it is not known.
func (d *Decisions) findMade(ctx context.Context, reader recipient, b store.Booking) (*booking.MadeDecision, error) {
	if b.Status == state.Pending {
		return nil, nil //nolint:nilnil // there is no decision yet
	}
	at, by, err := d.records.FindDecision(ctx, reader.Business, b.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil //nolint:nilnil // the events are deleted
	}
	if err != nil {
		return nil, err
	}
	made := &booking.MadeDecision{At: at, By: booking.DecidedBySystem}
	switch address := findRecipient(reader.offer, by.ID); {
	case by.Kind == actor.Owner && by.ID == reader.Recipient:
		made.By = booking.DecidedByYou
	case by.Kind == actor.Owner && address != "":
		made.By, made.Email = booking.DecidedByRecipient, email.Mask(&address)
	case by.Kind == actor.Owner:
		made.By = booking.DecidedByTeam
	case by.Kind == actor.Customer, by.Kind == actor.APIKey, by.Kind == actor.Page:
		made.By = booking.DecidedByCustomer
	}
	return made, nil
}

// Decide confirms or declines the booking of a link. The actor of the change is the recipient. Declining refunds the
// whole payment. Faults: not_found; invalid_parameter; conflict if the booking has changed since the recipient saw it,
// or if it is too late to decide.
func (d *Decisions) Decide(ctx context.Context, businessID uuid.UUID, req booking.Decide) error {
	name := state.TransitionName(req.Transition)
	if name != state.Confirm && name != state.Cancel {
		return request.Invalid("transition: send confirm or cancel.")
	}
	if name == state.Cancel {
		var err error
		if ctx, err = sale.WithReason(ctx, req.Reason); err != nil {
			return err
		}
	}
	if _, isSigned := d.owner.links.ReadDecision(businessID, req.Token); !isSigned {
		return link.NewNotFoundFault()
	}
	offer, err := d.businesses.Offer(ctx, businessID)
	if err == nil {
		read := func() (*catalog.Snapshot, error) { return d.offers.Fresh(ctx, offer.Slug) }
		_, err = sale.RetryChanged(nil, read, func(newest *catalog.Snapshot) (store.Booking, error) {
			if newest.ID != businessID {
				return store.Booking{}, link.NewNotFoundFault()
			}
			return d.decide(ctx, newest, name, req)
		})
	}
	if fault.Is(err, fault.BusinessNotFound) {
		return link.NewNotFoundFault()
	}
	return err
}

// decide makes one attempt at a decision. Error: [sale.ErrChanged] if a newer offer was published.
func (d *Decisions) decide(ctx context.Context, offer *catalog.Snapshot, name state.TransitionName,
	req booking.Decide) (store.Booking, error) {
	by, err := d.readToken(offer, req.Token)
	if err != nil {
		return store.Booking{}, err
	}
	transition, _ := state.FindTransition(name)
	now := d.owner.now()
	decided, err := d.records.Decide(actor.With(ctx, actor.Actor{Kind: actor.Owner, ID: by.Recipient}), store.Decision{
		BusinessID: by.Business, ID: by.Booking, Sequence: req.Sequence, OfferVersion: offer.Version,
		Transition: transition, Now: now, Part: d.newPart(name, now),
	})
	var notAllowed *store.NotAllowedError
	switch {
	case errors.Is(err, store.ErrOfferChanged):
		err = sale.ErrChanged
	case errors.As(err, &notAllowed), errors.Is(err, store.ErrChanged):
		err = fault.New(fault.Conflict, "This booking was changed, or it has begun; look at it again.")
	}
	return decided, hideUnknown(err)
}

// newPart returns the function that returns the refund of a decision: all of the payment if the booking is declined.
func (d *Decisions) newPart(name state.TransitionName, now time.Time) func(store.Booking) (refund.Part, error) {
	return func(b store.Booking) (refund.Part, error) {
		if name == state.Confirm {
			return refund.Part{}, nil
		}
		return d.cancellations.Bookings.NewSale(b).Refund(booking.RefundPolicy, now)
	}
}
