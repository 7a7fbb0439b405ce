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

// CustomerLinks implements the actions that customers can take with the link to their booking or
// order of tickets (lifecycle.md §5). A link gives access to one booking or order only.
//
// The argument `token` of each method is the token in the link. If the token is not valid, every method returns the
// same fault, [link.NewNotFoundFault]. A token is valid until 30 days after the end of the booking or ticketed event.
// It is not valid if the service never issued it, if the customer was anonymized, or if the business was removed.
type CustomerLinks struct {
	records       *store.Store
	businesses    Businesses
	booker        *Booker
	cancellations *Cancellations
	clock         clock.Clock
}

// NewCustomerLinks returns the operations of customers' links.
func NewCustomerLinks(records *store.Store, businesses Businesses, booker *Booker, cancellations *Cancellations,
	c clock.Clock) *CustomerLinks {
	return &CustomerLinks{records: records, businesses: businesses, booker: booker, cancellations: cancellations,
		clock: c}
}

// CustomerView is the customer view of a booking or an order of tickets: the data that its
// customer may see. If LinkTarget.Kind is [event.Ticket], Ticket is set; otherwise Booking is set.
type CustomerView struct {
	store.LinkTarget
	Offer        *catalog.Snapshot
	Booking      store.Booking
	Ticket       store.Ticket
	Cancellation cancellation.Preview
	Reschedule   ReschedulePermission // set only for a booking
	CanPay       bool
	IsUnpaid     bool // the sale was cancelled because it was not paid in time; false after its events are deleted
}

// ReschedulePermission describes whether the customer may reschedule a booking now. If Allowed
// is true, Until is the last instant at which the customer may reschedule.
type ReschedulePermission struct {
	Allowed bool
	Reason  string // if Allowed is false: booking.CancelNotOffered, booking.CancelTooLate or the booking's status
	Until   time.Time
}

// findTarget returns the booking or order whose link contains the token, and the current
// offer of the business. Fault: [link.NewNotFoundFault] if the token is not valid.
func (l *CustomerLinks) findTarget(ctx context.Context, token string) (store.LinkTarget, *catalog.Snapshot, error) {
	hash, ok := link.HashToken(token)
	if !ok {
		return store.LinkTarget{}, nil, link.NewNotFoundFault()
	}
	linked, err := l.records.FindByLink(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return store.LinkTarget{}, nil, link.NewNotFoundFault()
	}
	if err != nil {
		return store.LinkTarget{}, nil, err
	}
	if l.clock.Now().After(linked.EndsAt.Add(link.Lifetime)) {
		return store.LinkTarget{}, nil, link.NewNotFoundFault()
	}
	offer, err := l.businesses.Offer(ctx, linked.BusinessID)
	if fault.Is(err, fault.BusinessNotFound) {
		return store.LinkTarget{}, nil, link.NewNotFoundFault()
	}
	return linked, offer, err
}

// withLinkKey returns a context in which an Idempotency-Key is valid for one link only. Without this
// limit, the requests of two customers of a business would conflict if their keys are the same.
func withLinkKey(ctx context.Context, by store.LinkTarget) context.Context {
	return idempotency.WithHolder(ctx, by.ID.String())
}

// hideUnknown converts [store.ErrNotFound] into [link.NewNotFoundFault], because the booking or order may
// have been erased after the token was checked. hideUnknown returns any other error unchanged.
func hideUnknown(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return link.NewNotFoundFault()
	}
	return err
}

// View returns the customer view, with the actions that the customer may take now.
func (l *CustomerLinks) View(ctx context.Context, token string) (CustomerView, error) {
	linked, offer, err := l.findTarget(ctx, token)
	if err != nil {
		return CustomerView{}, err
	}
	return l.readView(ctx, linked, offer)
}

func (l *CustomerLinks) readView(ctx context.Context, linked store.LinkTarget,
	offer *catalog.Snapshot) (CustomerView, error) {
	if linked.Kind == event.Ticket {
		ticket, err := l.records.Ticket(ctx, linked.BusinessID, linked.ID)
		if err != nil {
			return CustomerView{}, hideUnknown(err)
		}
		m := l.newTicketView(linked, offer, ticket)
		m.IsUnpaid, err = l.records.IsCancelledUnpaid(ctx, linked.BusinessID, linked.ID, ticket.Status, ticket.Payment)
		return m, err
	}
	b, err := l.records.Booking(ctx, linked.BusinessID, linked.ID)
	if err != nil {
		return CustomerView{}, hideUnknown(err)
	}
	m := l.newBookingView(linked, offer, b)
	m.IsUnpaid, err = l.records.IsCancelledUnpaid(ctx, linked.BusinessID, linked.ID, string(b.Status), b.Payment)
	return m, err
}

// newBookingView returns the customer view of the booking `b`. It does not read the booking again.
func (l *CustomerLinks) newBookingView(linked store.LinkTarget, offer *catalog.Snapshot, b store.Booking) CustomerView {
	now := l.clock.Now()
	return CustomerView{
		LinkTarget: linked, Offer: offer, Booking: b,
		Cancellation: l.cancellations.Bookings.PreviewForCustomer(offer, b), Reschedule: checkReschedule(offer, b, now),
		CanPay: canPay(b.Payment, now),
	}
}

// newTicketView returns the customer view of the order `t`. It does not read the order again.
func (l *CustomerLinks) newTicketView(linked store.LinkTarget, offer *catalog.Snapshot, t store.Ticket) CustomerView {
	now := l.clock.Now()
	return CustomerView{
		LinkTarget: linked, Offer: offer, Ticket: t,
		Cancellation: l.cancellations.Tickets.PreviewForCustomer(offer, t), CanPay: canPay(t.Payment, now),
	}
}

func canPay(p *store.Payment, now time.Time) bool {
	return p != nil && p.Status == store.PaymentOpen && p.DueAt.After(now)
}

// checkReschedule determines whether the customer may reschedule the booking
// now. The setting self_service of the offer decides this (lifecycle.md §3).
func checkReschedule(offer *catalog.Snapshot, b store.Booking, now time.Time) ReschedulePermission {
	hours := offer.SelfService.RescheduleUntilHours
	switch {
	case !slices.Contains(state.UpcomingStates(), b.Status):
		return ReschedulePermission{Reason: string(b.Status)}
	case hours == nil || offer.CheckAccount(false, now) != nil:
		return ReschedulePermission{Reason: booking.CancelNotOffered}
	}
	until := b.StartsAt.Add(-time.Duration(*hours) * time.Hour)
	if now.After(until) {
		return ReschedulePermission{Reason: booking.CancelTooLate}
	}
	return ReschedulePermission{Allowed: true, Until: until}
}

// Calendar returns the booking or order as text/calendar, for the customer's own calendar.
func (l *CustomerLinks) Calendar(ctx context.Context, token string) ([]byte, error) {
	m, err := l.View(ctx, token)
	if err != nil {
		return nil, err
	}
	m = m.Translate()
	if m.Kind == event.Ticket {
		return calendar.RenderTicket(m.Offer, m.Ticket)
	}
	return calendar.RenderBooking(m.Offer, m.Booking, MeetingLink(l.booker.Links, m.Booking))
}

// Translate returns the customer view with the names of services, variants,
// packages, staff members, tiers and events in the customer's language.
func (m CustomerView) Translate() CustomerView {
	b, t := &m.Booking, &m.Ticket
	b.Services = slices.Clone(b.Services)
	sold := findPackageName(m.Offer, b)
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

// findPackageName returns the name of the booked package in the customer's
// language. It returns "" if the services were not booked as a package.
func findPackageName(offer *catalog.Snapshot, b *store.Booking) string {
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
// customer view. The argument `shownRefund` is the refund that the page showed to the customer.
//
// Faults: invalid_parameter; conflict if the customer cannot
// cancel now, or if the refund is no longer the amount `shownRefund`.
func (l *CustomerLinks) Cancel(ctx context.Context, token string, shownRefund decimal.Decimal) (CustomerView, error) {
	linked, offer, err := l.findTarget(ctx, token)
	if err != nil {
		return CustomerView{}, err
	}
	ctx = withLinkKey(ctx, linked)
	// Cancel makes the view without another read, because the read could fail although the cancellation has succeeded.
	if linked.Kind == event.Ticket {
		cancelled, err := l.cancellations.Tickets.CancelForCustomer(ctx, offer, linked.ID, shownRefund)
		if err != nil {
			return CustomerView{}, err
		}
		return l.newTicketView(linked, offer, cancelled), nil
	}
	cancelled, err := l.cancellations.Bookings.CancelForCustomer(ctx, offer, linked.ID, shownRefund)
	if err != nil {
		return CustomerView{}, err
	}
	return l.newBookingView(linked, offer, cancelled), nil
}

// Reschedule changes the time of a booking for its customer and returns the new customer
// view. Faults: the faults of [Booker.Reschedule]; conflict for an order of tickets.
func (l *CustomerLinks) Reschedule(ctx context.Context, token string, to Reschedule) (CustomerView, error) {
	linked, offer, err := l.findTarget(ctx, token)
	if err != nil {
		return CustomerView{}, err
	}
	if linked.Kind != event.Booking {
		return CustomerView{}, fault.New(fault.Conflict, "Tickets are of one event, so they cannot be rescheduled.")
	}
	if offer, err = l.booker.Offers.Fresh(ctx, offer.Slug); err != nil {
		return CustomerView{}, NewUnverifiedFault(err)
	}
	if offer.ID != linked.BusinessID {
		return CustomerView{}, link.NewNotFoundFault()
	}
	updated, err := l.booker.Reschedule(withLinkKey(ctx, linked), offer, actor.Actor{Kind: actor.Customer}, linked.ID,
		to)
	if err != nil {
		return CustomerView{}, err
	}
	return l.newBookingView(linked, offer, updated), nil
}

// FindIdempotencyResult returns the stored result of the write with the request's
// Idempotency-Key, as [store.Store.FindIdempotencyResult] does. If no result is stored,
// this method refuses all earlier requests with the key that are still in flight.
func (l *CustomerLinks) FindIdempotencyResult(ctx context.Context, token string) ([]byte, error) {
	linked, _, err := l.findTarget(ctx, token)
	if err != nil {
		return nil, err
	}
	return l.records.FindIdempotencyResult(withLinkKey(ctx, linked), linked.BusinessID)
}

// AnswerRetry returns the customer view for a repeated write. The argument `answer` is the stored result of the first
// write.
func (l *CustomerLinks) AnswerRetry(ctx context.Context, token string, answer []byte) (CustomerView, error) {
	linked, offer, err := l.findTarget(ctx, token)
	if err != nil {
		return CustomerView{}, err
	}
	if linked.Kind == event.Ticket {
		var t store.Ticket
		if err := json.Unmarshal(answer, &t); err != nil {
			return CustomerView{}, err
		}
		return l.newTicketView(linked, offer, t), nil
	}
	var b store.Booking
	if err := json.Unmarshal(answer, &b); err != nil {
		return CustomerView{}, err
	}
	return l.newBookingView(linked, offer, b), nil
}

// OpenPayment returns the provider's page on which the customer pays an open charge. A
// charge stays open after a failed attempt to pay, until it expires (lifecycle.md §4, §5).
//
// If the charge has no provider's page, OpenPayment replaces the charge by a new
// charge that has one. Faults: conflict if no charge is open; payment_unavailable.
func (l *CustomerLinks) OpenPayment(ctx context.Context,
	token string) (CustomerView, store.PaymentHandle, payment.Intent, error) {
	m, err := l.View(ctx, token)
	if err != nil {
		return m, store.PaymentHandle{}, payment.Intent{}, err
	}
	charge, intent, err := l.booker.paymentPage(ctx, m.BusinessID, m.ID,
		func(ctx context.Context, provider payment.Provider, open store.PaymentHandle) (payment.Intent, error) {
			hash, _ := link.HashToken(token)
			return l.switchToCheckout(ctx, provider, m, open, hash)
		})
	return m, charge, intent, err
}

// switchToCheckout replaces an open charge by a new charge on the provider's page. It first creates
// the page, then closes the old charge, and returns the page last. Therefore the customer can
// never pay both charges. After a crash, the next call continues from the stored state.
//
// Errors: [errNothingToPay] if the customer has paid the old charge, or if the old charge is closed.
func (l *CustomerLinks) switchToCheckout(ctx context.Context, provider payment.Provider, m CustomerView,
	open store.PaymentHandle,
	hash []byte) (payment.Intent, error) {
	page, err := newCheckout(l.booker.Links.URL(event.Booking, m.ID, hash), joinServices(m.Booking.Services),
		open.DueAt)
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
