package usecase

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale/pricelabel"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// take writes the first assignment that is still free, by calling write. If another request occupies an
// assignment first, take reads the occupied time again and continues with the remaining assignments.
//
// It returns [errAgain] if no assignment remains, or if something other than the occupied time has changed.
func take[T any](ctx context.Context, b *Booker, q question, assignments []availability.Assignment,
	write func(availability.Assignment) (T, error)) (T, error) {
	var nothing T
	for len(assignments) > 0 {
		written, err := write(assignments[0])
		if !errors.Is(err, store.ErrTaken) {
			return written, err
		}
		b.lost.Add(ctx, 1)
		from, to := q.window()
		now, err := b.Bookings.Snapshot(ctx, q.offer.ID, from, to, store.Asked{Seats: q.ofClass(), Moving: q.moving})
		if err != nil {
			return nothing, Unverified(err)
		}
		conflicts := index(now.Occupied).conflict(q.request.PartySize)
		if !conflicts(assignments[0]) {
			return nothing, errAgain // another reason: the customer has another first booking by now
		}
		assignments = slices.DeleteFunc(assignments, conflicts)
		spread(assignments)
	}
	return nothing, errAgain
}

// spread shuffles assignments that differ only in their capacity units. Without it, all
// requests that lost a race would try the same next unit, and all but one would lose again.
func spread(assignments []availability.Assignment) {
	for from := 0; from < len(assignments); {
		to := from + 1
		for to < len(assignments) && sameStaff(assignments[from], assignments[to]) {
			to++
		}
		group := assignments[from:to]
		rand.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		from = to
	}
}

func sameStaff(a, b availability.Assignment) bool {
	if a.StaffID == nil || b.StaffID == nil {
		return a.StaffID == b.StaffID
	}
	return *a.StaffID == *b.StaffID
}

// taken contains the occupied time by resource, and the seats taken in class sessions. alone is the
// time of appointments. shared is the time of classes, which may overlap for the guests of a class.
type taken struct {
	alone, shared map[booking.Resource][]timespan.Span
	seats         map[booking.Occurrence]int
}

func index(o booking.Occupied) taken {
	t := taken{
		alone: make(map[booking.Resource][]timespan.Span, len(o.Busy)), shared: map[booking.Resource][]timespan.Span{},
		seats: o.SeatsByOccurrence(),
	}
	for _, b := range o.Busy {
		if b.Class {
			t.shared[b.Resource] = b.Spans()
		} else {
			t.alone[b.Resource] = b.Spans()
		}
	}
	return t
}

// conflict returns a function that reports whether an assignment is no longer possible for a party of this size.
// An assignment is not possible if one of its parts overlaps occupied time, or if its session has too few seats.
func (t taken) conflict(party int) func(availability.Assignment) bool {
	return func(c availability.Assignment) bool {
		if c.Session != nil && t.seats[booking.Occurrence{SessionID: c.Session.ID, StartsAt: c.During.Start}]+
			party > c.Session.Capacity {
			return true
		}
		return slices.ContainsFunc(c.Parts, func(p availability.Part) bool {
			return slices.ContainsFunc(t.alone[p.Resource], p.Occupies.Overlaps) ||
				c.Session == nil && slices.ContainsFunc(t.shared[p.Resource], p.Occupies.Overlaps)
		})
	}
}

// write stores a booking with one assignment. If the booking is paid online, write also opens its charge.
//
// Errors: [store.ErrTaken] if the time is occupied; [errAgain] if the offer is no longer the newest.
// Faults: invalid_api_key if the key was revoked; idempotency_in_progress if the lock was lost or the
// idempotency key refused in the meantime; too_many_open_bookings; outcome_unknown; those of openPayment.
func (b *Booker) write(ctx context.Context, q question, c availability.Assignment, t terms,
	a *attempt) (store.Confirmation, error) {
	id, err := uuid.NewV7() // ordered by time, so that bookings made in sequence are adjacent in the index
	if err != nil {
		return store.Confirmation{}, err
	}
	n := q.newBooking(id, c, t)
	n.LinkHash = b.Links.Hash(event.Booking, id)
	n.Claim, n.Write, n.APIKey = a.claim, a.write, a.apiKey
	switch err := b.Bookings.Book(ctx, n); {
	case errors.Is(err, store.ErrClaimLost):
		return store.Confirmation{}, inProgress()
	case errors.Is(err, store.ErrOfferChanged):
		return store.Confirmation{}, errAgain
	case errors.Is(err, store.ErrKeyRevoked):
		return store.Confirmation{}, fault.Wrap(fault.InvalidAPIKey, err, "The API key has been revoked.")
	case errors.Is(err, store.ErrTooManyOpen):
		return store.Confirmation{}, tooManyOpen(*n.MostOpen)
	case errors.Is(err, postgres.ErrRefused):
		return store.Confirmation{}, overtaken()
	case err != nil:
		return store.Confirmation{}, err
	case n.Payment != nil:
		return b.pay(ctx, n)
	}
	return store.Confirmation{Details: n.Details}, nil
}

// tooManyOpen returns the fault for a customer of the booking page who already has the maximum number of open bookings.
func tooManyOpen(most int) error {
	return fault.Newf(fault.TooManyOpen,
		"This e-mail address has %d open bookings here, tickets and rentals included, which is as many as one may "+
			"have; "+
			"cancel one by the link in its messages, or ask the business.", most)
}

func (q question) newBooking(id uuid.UUID, c availability.Assignment, t terms) store.NewBooking {
	start, end, loc := time.Unix(c.During.Start, 0), time.Unix(c.During.End, 0), q.offer.Location()
	n := store.NewBooking{
		Details: store.Details{
			ID: id, Status: q.firstStatus(t), StartsAt: start, EndsAt: end,
			LocalStart: store.WallClock(start, loc), LocalEnd: store.WallClock(end, loc), Timezone: q.offer.Timezone,
			StaffID: c.StaffID, StaffName: q.staffName(c), PartySize: q.request.PartySize,
			IsPackage: q.request.IsPackage, StaffingMode: q.request.StaffingMode,
			StaffRequested: q.request.StaffID != nil,
			Total:          t.total, Currency: q.offer.Money(), Source: q.request.Source, Warnings: t.warnings,
		},
		BusinessID: q.offer.ID, FirstBooking: t.first,
		Customer: store.Customer{Name: q.request.CustomerName, Email: q.request.CustomerEmail,
			Phone: q.request.CustomerPhone},
		FormData: q.request.FormData, Locale: locale.MatchOr(q.request.Locale, q.offer.Languages, q.offer.DefaultLanguage),
		OfferVersion: q.offer.Version, Now: q.now, Parts: c.Parts, Payment: t.payment,
	}
	if q.by == actor.Page {
		n.MostOpen = &q.offer.Bookings.MaxOpenPerCustomer
	}
	if c.Session != nil {
		n.SessionID, n.Capacity = &c.Session.ID, c.Session.Capacity
	}
	sold := q.packageName()
	for i, s := range q.services {
		n.Services = append(n.Services, store.SoldService{
			PackageName: sold,
			StaffID:     performer(c, i),
			ID:          s.ID, Name: s.Name, VariantID: q.request.Variants[s.ID], VariantName: q.variantName(s),
			DurationMinutes: s.DurationMinutes, Price: t.quotes[i].Price, Quantity: t.quotes[i].Quantity,
			UnitPrice:    t.quotes[i].Unit,
			PriceChanges: pricelabel.Changes(q.offer, n.Locale, t.quotes[i]),
		})
	}
	return n
}

// packageName returns the name of the package that the services are sold as, in the default language, or "".
func (q question) packageName() string {
	if !q.soldByBusiness() {
		return ""
	}
	ids := make([]uuid.UUID, len(q.services))
	for i, s := range q.services {
		ids[i] = s.ID
	}
	if p := q.offer.PackageOf(ids, len(q.request.Variants) > 0); p != nil {
		return p.Name.Text
	}
	return ""
}

// performer returns the member who performs a service in a package with staff per service; otherwise nil.
func performer(c availability.Assignment, service int) *uuid.UUID {
	if service < len(c.Performers) {
		return c.Performers[service]
	}
	return nil
}

// staffName returns the name of the assignment's member; nil if it has no member.
func (q question) staffName(c availability.Assignment) *string {
	if c.StaffID == nil {
		return nil
	}
	name := ""
	if member := q.offer.StaffMember(*c.StaffID); member != nil {
		name = member.Name
	}
	return &name
}

// confirmsAtOnce reports whether a booking needs no manual confirmation: the business confirms
// automatically, or the owner books.
func (q question) confirmsAtOnce() bool { return q.offer.Bookings.AutoConfirm || q.by == actor.Owner }

// firstStatus returns the status of a new booking. It is confirmed if the booking
// needs neither manual confirmation nor online payment, otherwise pending.
func (q question) firstStatus(t terms) state.State {
	if t.payment == nil && q.confirmsAtOnce() {
		return state.Confirmed
	}
	return state.Pending
}

// variantName returns the name of the variant that a service is booked as; "" if no variant was chosen.
func (q question) variantName(s *catalog.Service) string {
	chosen, ok := q.request.Variants[s.ID]
	if !ok {
		return ""
	}
	i := slices.IndexFunc(s.Variants, func(v catalog.Variant) bool { return v.ID == chosen })
	return s.Variants[i].Name
}

// paymentDue returns the online payment that a booking needs now, or nil if it needs
// none. Fault: payment_not_offered if no provider of the business can charge it.
func (b *Booker) paymentDue(q question, prices []int64, total int64) (*store.NewPayment, error) {
	if q.request.PaymentChoice == request.PayOnline && total > 0 && len(q.offer.ConnectedProviders()) == 0 {
		return nil, fault.New(fault.PaymentNotOffered,
			"payment_choice: this business is not paid online, so nothing was booked; send at_door, or leave it out.")
	}
	if !needsOnlinePayment(q.offer, q.request, q.services, total) {
		return nil, nil
	}
	due := payment.AmountDue(q.services, prices, q.request.PartySize, q.offer.Money())
	if due == 0 {
		return nil, nil // the service that requires payment is free, or its deposit is less than the smallest coin
	}
	p, err := b.newPayment(event.Booking, q.offer, q.request.PreferredProvider, due, q.now)
	if err != nil {
		return nil, err
	}
	p.OnCheckout, p.ByHand = q.by == actor.Page, !q.confirmsAtOnce()
	return p, nil
}

// pay opens the payment of a stored booking and returns the confirmation with it. Faults: those of openPayment.
func (b *Booker) pay(ctx context.Context, n store.NewBooking) (store.Confirmation, error) {
	var confirmation store.Confirmation
	_, err := b.openPayment(ctx, pendingPayment{
		Subject:    payment.Subject{BusinessID: n.BusinessID, Kind: event.Booking, ID: n.ID},
		NewPayment: *n.Payment, currency: n.Currency, name: servicesOf(n.Services),
		link: b.Links.URL(event.Booking, n.ID, n.LinkHash), dueAt: n.Now.Add(b.Payments.ExpiresAfter),
		store: func(ctx context.Context, intent payment.Intent) error {
			confirmation = store.Confirmation{Details: n.Details, Payment: &store.PaymentDetails{
				Provider: n.Payment.Provider, Amount: n.Payment.Amount, Reference: intent.Reference,
				ClientSecret: intent.ClientSecret, CheckoutURL: intent.URL,
			}}
			now := b.Clock.Now()
			return b.Bookings.OpenPayment(ctx, store.OpenPayment{
				BusinessID: n.BusinessID, Confirmation: confirmation, DueAt: now.Add(b.Payments.ExpiresAfter),
				Claim: n.Claim, Write: n.Named(), Now: now,
			})
		},
	})
	if err != nil {
		return store.Confirmation{}, err
	}
	return confirmation, nil
}
