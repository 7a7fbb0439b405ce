package api

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// Internal serves the API for the other services, under the path /internal.
type Internal struct {
	owner    *usecase.Owner
	payments *usecase.Reconciliation
	offers   Offers
	records  Records
	links    *link.Links
	clock    clock.Clock
}

// NewInternal returns the internal API. The argument `payments` fetches the current state of payments from the booking
// service.
func NewInternal(owner *usecase.Owner, payments *usecase.Reconciliation, offers Offers, records Records,
	links *link.Links,
	now clock.Clock) *Internal {
	return &Internal{owner: owner, payments: payments, offers: offers, records: records, links: links, clock: now}
}

// Mount adds the endpoints of the internal API to the router `r`.
func (in *Internal) Mount(r *server.Internal) {
	server.Mount(r, rental.ReadCeilings, in.serveCeilings)
	server.MountIdempotent(r, rental.Reserve, in.reserve, in.findIdempotencyResult, in.answerRetry)
	server.Mount(r, rental.ListReservations, in.serveReservations)
	server.Mount(r, rental.ReportRevenue, in.serveRevenueReport)
	server.Mount(r, rental.CountAhead, in.serveAhead)
	server.Mount(r, rental.FindConflicts, in.serveConflicts)
	server.Mount(r, rental.ReadReservation, in.serveReservation)
	server.Mount(r, rental.SearchCustomers, in.serveCustomers)
	server.Mount(r, rental.ExportCustomerData, in.serveCustomerReservations)
	server.Mount(r, rental.ListExpiringCustomers, in.serveExpiringCustomers)
	server.MountIdempotent(r, rental.EraseCustomer, in.eraseCustomer, in.findIdempotencyResult, server.AnswerStored)
	server.Mount(r, rental.ReadLink, in.serveLink)
	server.Mount(r, rental.PreviewCancellation, in.serveCancellation)
	mountChange(in, r, rental.CancelReservation, in.cancel, optionalBody)
	mountChange(in, r, rental.RefundReservation, in.refund, optionalBody)
	mountChange(in, r, rental.ChangeReservationStatus, in.applyTransition)
}

// mountChange adds an endpoint with which the owner changes a reservation. The function `write` makes the change;
// it runs at most once for each Idempotency-Key of a business. A repeated request gets the stored reservation.
func mountChange[Req interface{ Target() rental.OfReservation }](in *Internal, r *server.Internal,
	e endpoints.Endpoint[Req, rental.Reservation],
	write func(context.Context, Req, *catalog.Snapshot) (store.Reservation, error),
	decode ...func([]byte, *Req) error) {
	server.MountIdempotent(r, e, func(ctx context.Context, req Req) (*rental.Reservation, error) {
		offer, err := in.findBusiness(ctx, req.Target().OfSlug)
		if err != nil {
			return nil, err
		}
		changed, err := write(ctx, req, offer)
		if err != nil {
			return nil, err
		}
		return in.showWritten(ctx, req.Target().OfSlug, changed)
	}, in.findIdempotencyResult, func(ctx context.Context, req Req, stored []byte) (*rental.Reservation, error) {
		var changed store.Reservation
		if err := json.Unmarshal(stored, &changed); err != nil {
			return nil, err
		}
		return in.showWritten(ctx, req.Target().OfSlug, changed)
	}, decode...)
}

// findBusiness returns the offer of the business that the request names. Fault: business_not_found.
//
// A request can contain a business id in addition to the slug. If the newest offer of the slug belongs
// to another business id, the fault is business_not_found, too. The reason: after a business is removed,
// another business can get its slug. The cached offer may then still be the offer of the removed
// business. Without this check, one of the two businesses could see customers of the other business.
func (in *Internal) findBusiness(ctx context.Context, of rental.OfSlug) (*catalog.Snapshot, error) {
	return findBusiness(ctx, in.offers, of)
}

func findBusiness(ctx context.Context, offers Offers, of rental.OfSlug) (*catalog.Snapshot, error) {
	offer, err := offers.Get(ctx, of.Slug)
	if err != nil || of.Business == uuid.Nil || offer.ID == of.Business {
		return offer, err
	}
	if offer, err = offers.Fresh(ctx, of.Slug); err != nil {
		return nil, err
	}
	if offer.ID != of.Business {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	return offer, nil
}

// serveCeilings answers with the value of max_bookable_online for each rental of a business. The value is the largest
// number of units of the rental that can ever be reserved at the same time.
func (in *Internal) serveCeilings(ctx context.Context, r rental.CeilingsRequest) (*rental.Ceilings, error) {
	version, err := strconv.ParseInt(r.OfferVersion, 10, 64)
	if err != nil {
		return nil, request.Invalid("offer_version: send the version of the offer as a whole number.")
	}
	offer, err := in.offers.AtLeast(ctx, r.Slug, version)
	if err != nil {
		return nil, err
	}
	answer := rental.Ceilings{Ceilings: make(map[uuid.UUID]int, len(offer.Rentals))}
	for i := range offer.Rentals {
		answer.Ceilings[offer.Rentals[i].ID] = occupancy.NewStock(&offer.Rentals[i]).Ceiling()
	}
	return &answer, nil
}

func (in *Internal) reserve(ctx context.Context, r rental.With[rental.NewReservation]) (*rental.Reservation, error) {
	by := actor.Of(ctx)
	req, err := parseReservation(r.Body, by)
	if err != nil {
		return nil, err
	}
	result, err := in.owner.Reserve(ctx, by, r.At.Slug, req)
	if err != nil {
		return nil, err
	}
	return in.showNew(ctx, r.At, result)
}

// answerRetry answers a repeated request to reserve with the stored reservation.
func (in *Internal) answerRetry(ctx context.Context, r rental.With[rental.NewReservation],
	stored []byte) (*rental.Reservation, error) {
	var result usecase.ReserveResult
	if err := json.Unmarshal(stored, &result.Reservation); err != nil {
		return nil, err
	}
	offer, err := in.findBusiness(ctx, r.At)
	if err != nil {
		return nil, fault.Unknown(err)
	}
	if result, err = in.owner.AnswerRetry(ctx, actor.Of(ctx), offer.ID, result.Reservation); err != nil {
		return nil, err
	}
	return in.showNew(ctx, r.At, result)
}

func (in *Internal) applyTransition(ctx context.Context, r rental.TransitionRequest,
	offer *catalog.Snapshot) (store.Reservation, error) {
	return in.owner.ApplyTransition(ctx, actor.Of(ctx), offer, r.ID, state.TransitionName(r.Transition))
}

func errNoReservation() error { return fault.New(fault.NotFound, "Reservation not found") }

func (in *Internal) serveReservations(ctx context.Context,
	r rental.ReservationsRequest) (*rental.ReservationList, error) {
	if err := bookingclient.CheckPayment(r.Payment); err != nil {
		return nil, err
	}
	offer, err := in.findBusiness(ctx, r.OfSlug)
	if err != nil {
		return nil, err
	}
	reservations, next, err := in.records.Reservations(ctx, offer.ID, r.Filter, r.Page)
	if err != nil {
		return nil, err
	}
	list := rental.ReservationList{Reservations: make([]rental.Reservation, len(reservations)), NextCursor: next}
	for i, entry := range reservations {
		list.Reservations[i] = in.show(offer, entry)
	}
	return &list, nil
}

func (in *Internal) serveReservation(ctx context.Context, r rental.OfReservation) (*rental.Reservation, error) {
	offer, err := in.findBusiness(ctx, r.OfSlug)
	if err != nil {
		return nil, err
	}
	reservation, err := in.readRefreshed(ctx, offer.ID, r.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errNoReservation()
	}
	if err != nil {
		return nil, err
	}
	return new(in.show(offer, reservation)), nil
}

// readRefreshed asks the booking service for the current state of a reservation's payment, and then reads the
// reservation.
func (in *Internal) readRefreshed(ctx context.Context, businessID, id uuid.UUID) (store.Reservation, error) {
	reservation, err := in.records.Reservation(ctx, businessID, id)
	if err != nil || reservation.Payment == nil {
		return reservation, err
	}
	in.payments.Refresh(ctx, booking.ReservationID{BusinessID: businessID, ID: id}, reservation.Payment)
	return in.records.Reservation(ctx, businessID, id)
}

func (in *Internal) serveAhead(ctx context.Context, of rental.OfSlug) (*rental.AheadCount, error) {
	n, err := in.owner.CountAhead(ctx, of.Slug)
	if err != nil {
		return nil, err
	}
	return &rental.AheadCount{Count: n}, nil
}

// showWritten renders a reservation that has just been written. If the offer cannot be read, the
// fault is outcome_unknown, because the reservation was written but cannot be rendered.
func (in *Internal) showWritten(ctx context.Context, of rental.OfSlug,
	r store.Reservation) (*rental.Reservation, error) {
	offer, err := in.findBusiness(ctx, of)
	if err != nil {
		return nil, fault.Unknown(err)
	}
	return new(in.show(offer, r)), nil
}

// showNew renders a new reservation, with the URL of the payment provider's
// page and the customer's link. Faults: the faults of [Internal.showWritten].
func (in *Internal) showNew(ctx context.Context, of rental.OfSlug,
	r usecase.ReserveResult) (*rental.Reservation, error) {
	reservation, err := in.showWritten(ctx, of, r.Reservation)
	if err != nil {
		return nil, err
	}
	reservation.Warnings, reservation.CheckoutURL = r.Warnings, r.CheckoutURL
	reservation.ManageURL = in.links.URL(event.Reservation, r.ID, r.LinkHash)
	return reservation, nil
}

// show renders a reservation. The argument `offer` is the offer of its business. The field overdue is true if the
// reservation is picked up and its end has passed. If the reservation is for whole dates, it ends after its last date
// in the time zone in which it was made.
func (in *Internal) show(offer *catalog.Snapshot, r store.Reservation) rental.Reservation {
	now, rendered := in.clock.Now(), showStored(r)
	ended := r.Dates.To < timespan.DateOf(now, timespan.Zone(r.Timezone, offer.Location()))
	if r.Hours != nil {
		ended = now.Unix() >= r.Hours.Span.End
	}
	rendered.Overdue = ended && r.Status == state.PickedUp
	return rendered
}

// ShowEvents returns functions that render the reservations in rental's events. The functions render a reservation in
// the same way as lists of reservations, except that the field overdue is always false. When a reservation becomes
// overdue, the reservation does not change, and no event is recorded.
func ShowEvents(records *store.Store) map[event.SubjectKind]eventlog.Show {
	return map[event.SubjectKind]eventlog.Show{event.Reservation: eventlog.NewShow(records.DecodeReservations,
		showStored)}
}

// showStored renders the stored data of a reservation. showStored does not set fields that depend on the current time.
func showStored(r store.Reservation) rental.Reservation {
	rendered := rental.Reservation{
		ID: r.ID, RentalID: r.RentalID, RentalName: r.RentalName, Status: string(r.Status), Withdrawn: r.Withdrawn,
		Quantity:  r.Quantity,
		StartDate: r.Dates.From, EndDate: r.Dates.To, Extras: showExtras(r), Units: showUnits(r),
		CustomerName: r.CustomerName, CustomerEmail: r.CustomerEmail,
		CustomerPhone: r.CustomerPhone, FormData: r.FormData, Locale: r.Locale, Timezone: r.Timezone,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if r.Hours != nil {
		rendered.StartTime, rendered.EndTime = &r.Hours.Start, &r.Hours.End
	}
	if p := r.Price; p != nil {
		rendered.Price, rendered.Total, rendered.Currency = new(p.Currency.JSON(p.Own)), new(p.Currency.JSON(p.Total)),
			p.Currency.Code
		rendered.PriceChanges = p.Changes
		rendered.Payment = r.Payment.Render(p.Currency)
	}
	return rendered
}

func showUnits(r store.Reservation) []rental.Unit {
	rendered := make([]rental.Unit, len(r.Units))
	for i, u := range r.Units {
		rendered[i] = rental.Unit{RentalID: u.RentalID, Unit: u.Key}
	}
	return rendered
}

func showExtras(r store.Reservation) []rental.Extra {
	rendered := make([]rental.Extra, len(r.Extras))
	for i, extra := range r.Extras {
		rendered[i] = rental.Extra{RentalID: extra.RentalID, RentalName: extra.Name, Quantity: extra.Quantity}
		if r.Price != nil && extra.Price != nil {
			rendered[i].Price = new(r.Price.Currency.JSON(*extra.Price))
		}
	}
	return rendered
}
