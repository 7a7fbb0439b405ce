package usecase

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/sale/cancellation"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/calendar"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// ByLink implements the actions that customers can take with the link to their booking or
// order of tickets (lifecycle.md §5). A link gives access to one booking or order only.
//
// The argument token of each method is the token in the link. If the token is not valid, every method
// returns the same fault, [link.NotFound]. A token is valid until 30 days after the end of the booking. It
// is not valid if booking never made it, if the booking was anonymized, or if the business was removed.
type ByLink struct {
	records       *store.Store
	businesses    Businesses
	booker        *Booker
	cancellations *Cancellations
	clock         clock.Clock
}

// NewByLink returns the operations of customers' links.
func NewByLink(records *store.Store, businesses Businesses, booker *Booker, cancellations *Cancellations,
	c clock.Clock) *ByLink {
	return &ByLink{records: records, businesses: businesses, booker: booker, cancellations: cancellations, clock: c}
}

// Managed is the customer view of a booking or an order of tickets: the data that its customer
// may see. If Linked.Kind is [event.Ticket], Ticket is set; otherwise Booking is set.
type Managed struct {
	store.Linked
	Offer        *catalog.Snapshot
	Booking      store.Booking
	Ticket       store.Ticket
	Cancellation cancellation.Preview
	Reschedule   MayMove // only for a booking
	CanPay       bool
	Unpaid       bool // the sale was cancelled because it was not paid in time; false after its events are deleted
}

// MayMove describes whether the customer may reschedule a booking now. If Allowed
// is true, Until is the last instant at which the customer may reschedule.
type MayMove struct {
	Allowed bool
	Reason  string // if not allowed: CancelNotOffered or CancelTooLate of package booking, or the booking's status
	Until   time.Time
}

// follow returns the booking or order of a token, and the current offer
// of the business. Fault: [link.NotFound] if the token is not valid.
func (l *ByLink) follow(ctx context.Context, token string) (store.Linked, *catalog.Snapshot, error) {
	hash, ok := link.HashOf(token)
	if !ok {
		return store.Linked{}, nil, link.NotFound()
	}
	found, err := l.records.ByLink(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return store.Linked{}, nil, link.NotFound()
	}
	if err != nil {
		return store.Linked{}, nil, err
	}
	if l.clock.Now().After(found.EndsAt.Add(link.Lasts)) {
		return store.Linked{}, nil, link.NotFound()
	}
	offer, err := l.businesses.Offer(ctx, found.BusinessID)
	if fault.Is(err, fault.BusinessNotFound) {
		return store.Linked{}, nil, link.NotFound()
	}
	return found, offer, err
}

// held returns a context in which an Idempotency-Key is valid for one link only. Without
// this limit, two customers of a business who choose the same key would conflict.
func held(ctx context.Context, by store.Linked) context.Context {
	return idempotency.WithHolder(ctx, by.ID.String())
}

// gone converts [store.ErrNotFound] into [link.NotFound], because the booking or order may
// have been erased after the token was checked. gone returns any other error unchanged.
func gone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return link.NotFound()
	}
	return err
}

// View returns the customer view, with the actions that the customer may take now.
func (l *ByLink) View(ctx context.Context, token string) (Managed, error) {
	found, offer, err := l.follow(ctx, token)
	if err != nil {
		return Managed{}, err
	}
	return l.view(ctx, found, offer)
}

func (l *ByLink) view(ctx context.Context, found store.Linked, offer *catalog.Snapshot) (Managed, error) {
	if found.Kind == event.Ticket {
		ticket, err := l.records.Ticket(ctx, found.BusinessID, found.ID)
		if err != nil {
			return Managed{}, gone(err)
		}
		m := l.managedTicket(found, offer, ticket)
		m.Unpaid, err = l.records.Unpaid(ctx, found.BusinessID, found.ID, ticket.Status, ticket.Payment)
		return m, err
	}
	b, err := l.records.Booking(ctx, found.BusinessID, found.ID)
	if err != nil {
		return Managed{}, gone(err)
	}
	m := l.managed(found, offer, b)
	m.Unpaid, err = l.records.Unpaid(ctx, found.BusinessID, found.ID, string(b.Status), b.Payment)
	return m, err
}

// managed returns the customer view of the booking `b`. It does not read the booking again.
func (l *ByLink) managed(found store.Linked, offer *catalog.Snapshot, b store.Booking) Managed {
	now := l.clock.Now()
	return Managed{
		Linked: found, Offer: offer, Booking: b,
		Cancellation: l.cancellations.Bookings.PreviewForCustomer(offer, b), Reschedule: mayMove(offer, b, now),
		CanPay: canPay(b.Payment, now),
	}
}

// managedTicket returns the customer view of the order `t`. It does not read the order again.
func (l *ByLink) managedTicket(found store.Linked, offer *catalog.Snapshot, t store.Ticket) Managed {
	now := l.clock.Now()
	return Managed{
		Linked: found, Offer: offer, Ticket: t,
		Cancellation: l.cancellations.Tickets.PreviewForCustomer(offer, t), CanPay: canPay(t.Payment, now),
	}
}

func canPay(p *store.Payment, now time.Time) bool {
	return p != nil && p.Status == store.ChargeOpen && p.DueAt.After(now)
}

// mayMove returns whether the customer may reschedule the booking now.
// The setting self_service of the offer decides this (lifecycle.md §3).
func mayMove(offer *catalog.Snapshot, b store.Booking, now time.Time) MayMove {
	hours := offer.SelfService.RescheduleUntilHours
	switch {
	case !slices.Contains(state.Ahead(), b.Status):
		return MayMove{Reason: string(b.Status)}
	case hours == nil || offer.CheckAccount(false, now) != nil:
		return MayMove{Reason: booking.CancelNotOffered}
	}
	until := b.StartsAt.Add(-time.Duration(*hours) * time.Hour)
	if now.After(until) {
		return MayMove{Reason: booking.CancelTooLate}
	}
	return MayMove{Allowed: true, Until: until}
}

// Calendar returns the booking or order as text/calendar, for the customer's own calendar.
func (l *ByLink) Calendar(ctx context.Context, token string) ([]byte, error) {
	m, err := l.View(ctx, token)
	if err != nil {
		return nil, err
	}
	m = m.Translated()
	if m.Kind == event.Ticket {
		return calendar.OfTicket(m.Offer.NameIn(m.Ticket.Locale), m.Ticket)
	}
	return calendar.OfBooking(m.Offer.NameIn(m.Booking.Locale), m.Booking)
}

// Translated returns the customer view with the names of services, variants,
// packages, staff members, tiers and events in the customer's language.
func (m Managed) Translated() Managed {
	b, t := &m.Booking, &m.Ticket
	b.Services = slices.Clone(b.Services)
	sold := soldAs(m.Offer, b)
	for i := range b.Services {
		s := &b.Services[i]
		s.PackageName = sold
		if s.VariantName != "" {
			s.VariantName = m.Offer.VariantName(s.ID, s.VariantID, s.VariantName, b.Locale)
		}
		s.Name = m.Offer.ServiceName(s.ID, s.Name, b.Locale)
	}
	if b.StaffName != nil {
		b.StaffName = new(m.Offer.MemberName(b.StaffID, *b.StaffName, b.Locale))
	}
	t.Tiers = slices.Clone(t.Tiers)
	for i := range t.Tiers {
		t.Tiers[i].Name = m.Offer.TierName(t.EventID, t.Tiers[i].ID, t.Tiers[i].Name, t.Locale)
	}
	t.EventName = m.Offer.EventName(t.EventID, t.EventName, t.Locale)
	return m
}

// soldAs returns the name of the booked package in the customer's
// language. It returns "" if the services were not booked as a package.
func soldAs(offer *catalog.Snapshot, b *store.Booking) string {
	if len(b.Services) == 0 {
		return ""
	}
	ids := make([]uuid.UUID, len(b.Services))
	for i, s := range b.Services {
		ids[i] = s.ID
	}
	return offer.PackageName(ids, b.Services[0].PackageName, b.Locale)
}

// Cancel cancels a booking or an order of tickets for its customer and returns the new
// customer view. The argument `shown` is the refund that the page showed to the customer.
//
// Faults: invalid_parameter; conflict if the customer cannot
// cancel now, or if the refund is no longer the amount `shown`.
func (l *ByLink) Cancel(ctx context.Context, token string, shown decimal.Decimal) (Managed, error) {
	found, offer, err := l.follow(ctx, token)
	if err != nil {
		return Managed{}, err
	}
	ctx = held(ctx, found)
	// Cancel makes the view without another read, because the read could fail although the cancellation has succeeded.
	if found.Kind == event.Ticket {
		cancelled, err := l.cancellations.Tickets.CancelForCustomer(ctx, offer, found.ID, shown)
		if err != nil {
			return Managed{}, err
		}
		return l.managedTicket(found, offer, cancelled), nil
	}
	cancelled, err := l.cancellations.Bookings.CancelForCustomer(ctx, offer, found.ID, shown)
	if err != nil {
		return Managed{}, err
	}
	return l.managed(found, offer, cancelled), nil
}

// Reschedule changes the time of a booking for its customer and returns the new customer
// view. Faults: the faults of [Booker.Reschedule]; conflict for an order of tickets.
func (l *ByLink) Reschedule(ctx context.Context, token string, to Reschedule) (Managed, error) {
	found, offer, err := l.follow(ctx, token)
	if err != nil {
		return Managed{}, err
	}
	if found.Kind != event.Booking {
		return Managed{}, fault.New(fault.Conflict, "Tickets are of one event, so they cannot be moved.")
	}
	if offer, err = l.booker.Offers.Fresh(ctx, offer.Slug); err != nil {
		return Managed{}, Unverified(err)
	}
	if offer.ID != found.BusinessID {
		return Managed{}, link.NotFound()
	}
	moved, err := l.booker.Reschedule(held(ctx, found), offer, actor.Actor{Kind: actor.Customer}, found.ID, to)
	if err != nil {
		return Managed{}, err
	}
	return l.managed(found, offer, moved), nil
}

// FindIdempotencyResult returns the stored result of the write with the request's
// Idempotency-Key, as [store.Store.FindIdempotencyResult] does. If no result is stored,
// this method refuses all earlier requests with the key that are still in flight.
func (l *ByLink) FindIdempotencyResult(ctx context.Context, token string) ([]byte, error) {
	found, _, err := l.follow(ctx, token)
	if err != nil {
		return nil, err
	}
	return l.records.FindIdempotencyResult(held(ctx, found), found.BusinessID)
}

// Again returns the customer view for a repeated write. The argument `answer` is the stored result of the first write.
func (l *ByLink) Again(ctx context.Context, token string, answer []byte) (Managed, error) {
	found, offer, err := l.follow(ctx, token)
	if err != nil {
		return Managed{}, err
	}
	if found.Kind == event.Ticket {
		var t store.Ticket
		if err := json.Unmarshal(answer, &t); err != nil {
			return Managed{}, err
		}
		return l.managedTicket(found, offer, t), nil
	}
	var b store.Booking
	if err := json.Unmarshal(answer, &b); err != nil {
		return Managed{}, err
	}
	return l.managed(found, offer, b), nil
}

// OpenPayment returns the provider's page on which the customer pays an open charge. A
// charge stays open after a failed attempt to pay, until it expires (lifecycle.md §4, §5).
//
// If the charge has no provider's page, OpenPayment replaces the charge by a new
// charge that has one. Faults: conflict if no charge is open; payment_unavailable.
func (l *ByLink) OpenPayment(ctx context.Context, token string) (Managed, store.Payable, payment.Intent, error) {
	m, err := l.View(ctx, token)
	if err != nil {
		return m, store.Payable{}, payment.Intent{}, err
	}
	charge, intent, err := l.booker.paymentPage(ctx, m.BusinessID, m.ID,
		func(ctx context.Context, provider payment.Provider, open store.Payable) (payment.Intent, error) {
			hash, _ := link.HashOf(token)
			return l.moveToCheckout(ctx, provider, m, open, hash)
		})
	return m, charge, intent, err
}

// moveToCheckout replaces an open charge by a new charge on the provider's page. First it creates
// the page, then it closes the old charge, and then it returns the page. Therefore the customer
// can never pay both charges. After a crash, the next call continues from the stored state.
//
// Errors: [errNothingToPay] if the customer has paid the old charge, or if it is closed.
func (l *ByLink) moveToCheckout(ctx context.Context, provider payment.Provider, m Managed, open store.Payable,
	hash []byte) (payment.Intent, error) {
	page, err := checkout(l.booker.Links.URL(event.Booking, m.ID, hash), servicesOf(m.Booking.Services), open.DueAt)
	if err != nil {
		return payment.Intent{}, err
	}
	intent, err := provider.Create(ctx, payment.Charge{
		Subject: payment.Subject{BusinessID: m.BusinessID, Kind: event.Booking, ID: m.ID}, Account: open.Account,
		Amount: open.Amount, Currency: m.Booking.Currency, Checkout: page,
	})
	if err != nil {
		return payment.Intent{}, err
	}
	outcome, err := provider.Supersede(ctx, open.Account, open.Reference)
	switch {
	case err != nil:
		return payment.Intent{}, err
	case outcome == payment.Paid: // the provider reports the payment by a notice
		return payment.Intent{}, errNothingToPay
	}
	err = l.records.SupersedePayment(ctx, m.BusinessID, m.ID, open.Reference, intent.Reference, l.clock.Now())
	if errors.Is(err, store.ErrPaymentOver) {
		err = errNothingToPay
	}
	return intent, err
}
