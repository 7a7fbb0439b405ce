package usecase

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/link"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/bookingclient"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Links is what customers do by the link of what they booked (lifecycle.md §5). Which service keeps it, the token does not say: booking is
// asked, then rental. Every method answers a token that leads nowhere with the one fault of [link.NotFound].
type Links struct {
	booking, rental *peer.Client
	bookings        *bookingclient.Links
	rentals         *rental.Client
	shop            *Shop
}

// NewLinks returns what asks these peers; shop tells of the business and of its free times.
func NewLinks(bookings, rentals *peer.Client, shop *Shop) *Links {
	return &Links{booking: bookings, rental: rentals, bookings: bookingclient.NewLinks(bookings), rentals: rental.NewClient(rentals), shop: shop}
}

// Managed is what a customer sees by their link: the one of Booking, Ticket and Reservation that the link leads to.
type Managed struct {
	Business    *Business
	Booking     *booking.ManagedBooking
	Ticket      *booking.ManagedTicket
	Reservation *rental.ManagedReservation
	Locale      string // the language that it was booked in
	Timezone    string // that it was sold in, as Currency; "" is the business's of today
	Currency    string
}

// View returns what a token leads to. Faults: not_found; service_unavailable.
func (l *Links) View(ctx context.Context, token string) (*Managed, error) {
	found, err := l.bookings.Managed(ctx, token)
	switch {
	case err == nil:
		return l.shown(ctx, found)
	case !fault.Is(err, fault.NotFound):
		return nil, err
	}
	rented, err := l.rentals.Managed(ctx, token)
	if err != nil {
		return nil, err
	}
	return l.of(ctx, rented.Business, &Managed{
		Reservation: &rented.Reservation, Locale: rented.Reservation.Locale, Timezone: rented.Reservation.Timezone, Currency: rented.Reservation.Currency,
	})
}

func (l *Links) shown(ctx context.Context, found *booking.Managed) (*Managed, error) {
	if t := found.Ticket; found.Kind == event.Ticket {
		return l.of(ctx, found.Business, &Managed{Ticket: t, Locale: t.Locale, Timezone: t.Timezone, Currency: t.Currency})
	}
	b := found.Booking
	return l.of(ctx, found.Business, &Managed{Booking: b, Locale: b.Locale, Timezone: b.Timezone, Currency: b.Currency})
}

func (l *Links) of(ctx context.Context, of catalog.ManagedBusiness, m *Managed) (*Managed, error) {
	business, err := l.shop.Business(ctx, of.Slug)
	if fault.Is(err, fault.BusinessNotFound) {
		return nil, link.NotFound()
	}
	m.Business = business
	return m, err
}

// MayCancel reports whether the customer may cancel now.
func (m *Managed) MayCancel() bool {
	switch {
	case m.Ticket != nil:
		return m.Ticket.Cancellation.Allowed
	case m.Reservation != nil:
		return m.Reservation.Cancellation.Allowed
	}
	return m.Booking.Cancellation.Allowed
}

// Cancel cancels what was booked with the refund that the customer was shown. Faults: not_found; conflict where they may not, or the refund is
// another one by now.
func (l *Links) Cancel(ctx context.Context, token string, refund json.Number) error {
	if _, err := json.Marshal(refund); err != nil || refund == "" {
		return fault.New(fault.InvalidParameter, "refund: send the amount that was shown.")
	}
	agreed := booking.CancelByLink{Refund: &refund}
	_, err := l.bookings.Cancel(ctx, token, agreed)
	if fault.Is(err, fault.NotFound) {
		_, err = l.rentals.CancelByLink(ctx, token, agreed)
	}
	return err
}

// Move moves a booking to another start. Faults: not_found; invalid_parameter; conflict where they may not; slot_unavailable,
// no_staff_available; availability_unverified.
func (l *Links) Move(ctx context.Context, token string, to Selection) error {
	if to.Date == nil || to.Time == nil {
		return fault.New(fault.InvalidParameter, "Choose a start.")
	}
	wanted := booking.Reschedule{Date: to.Date.String(), Time: to.Time.String()}
	if to.Session != nil {
		session := to.Session.String()
		wanted.ClassScheduleID = &session
	}
	_, err := l.bookings.Reschedule(ctx, token, wanted)
	return err
}

// Pay returns the provider's page on which an open charge is paid, "" where it has none, as a sandbox. Faults: not_found; conflict where nothing is to be paid;
// payment_unavailable.
func (l *Links) Pay(ctx context.Context, token string) (string, error) {
	open, err := l.bookings.OpenPayment(ctx, token)
	if fault.Is(err, fault.NotFound) {
		open, err = l.rentals.OpenPayment(ctx, token)
	}
	if err != nil {
		return "", err
	}
	return open.CheckoutURL, nil
}

// Calendar returns what was booked as text/calendar. Faults: not_found.
func (l *Links) Calendar(ctx context.Context, token string) ([]byte, error) {
	text, err := l.bookings.Calendar(ctx, token)
	if !fault.Is(err, fault.NotFound) {
		return text, err
	}
	answer, err := l.rental.Do(ctx, peer.Request{Method: http.MethodGet, Path: rental.ManagePath(token) + "/calendar"})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Feed returns the calendar of a business's feed with its tag; status 304 where it still has the tag that is known already (lifecycle.md
// §2). Faults: not_found, one for every token that opens none.
func (l *Links) Feed(ctx context.Context, token, known string) (*peer.Response, error) {
	if _, ok := link.HashOf(token); !ok {
		return nil, link.NotFound()
	}
	asked := peer.Request{Method: http.MethodGet, Path: bookingclient.CalendarPath(token)}
	if known != "" {
		asked.Header = http.Header{"If-None-Match": {known}}
	}
	return l.booking.Do(ctx, asked)
}

// Times returns where a booking can be moved to, as [Shop.Times] does for a new one: what moving it accepts, with its own time free
// (lifecycle.md §3). Where nothing is chosen it begins with the booking's own day. Faults: service_unavailable; invalid_parameter.
func (l *Links) Times(ctx context.Context, m *Managed, date, month *timespan.Date) (*Calendar, error) {
	if own, err := timespan.ParseDate(m.Booking.Date); err == nil && date == nil && month == nil && own >= m.Business.Today() {
		date = &own
	}
	c, err := l.shop.times(ctx, m.Business, m.moving(), date, month)
	if fault.Is(err, fault.ServiceNotFound) { // not offered any more, so it cannot be moved
		today := m.Business.Today()
		return &Calendar{Known: true, Month: firstOf(today), First: today, Last: today}, nil
	}
	return c, err
}

// moving is the query of the calendars for what moving the booking asks: all of its services together, by its member where the customer
// had asked for that one.
func (m *Managed) moving() url.Values {
	b := m.Booking
	var ids, variants []string
	for _, s := range b.Services {
		ids = append(ids, s.ID.String())
		if s.VariantID != uuid.Nil {
			variants = append(variants, s.ID.String()+":"+s.VariantID.String())
		}
	}
	query := url.Values{
		"service_id": {strings.Join(ids, ",")}, "moving": {b.ID.String()}, "party_size": {strconv.Itoa(b.PartySize)},
		"is_package": {"true"}, // each start once
	}
	if b.IsPackage && b.StaffingMode != "" {
		query.Set("staffing_mode", b.StaffingMode)
	}
	if len(variants) > 0 {
		query.Set("variants", strings.Join(variants, ","))
	}
	if b.StaffRequested && b.StaffID != nil {
		query.Set("staff_id", b.StaffID.String())
	}
	return query
}

// Own reports whether a start is the booking's own.
func (m *Managed) Own(s Slot) bool {
	return timespan.Instant(s.Date, s.Time, m.Business.Offer.Location()) == m.Booking.StartsAt.Unix() && same(s.SessionID, m.Booking.ClassScheduleID)
}
