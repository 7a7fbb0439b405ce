package usecase

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Links implements the actions of customers with their links (lifecycle.md §5). The token in a link does not show
// whether the booking service or the rental service issued the token. Each method therefore asks first the booking
// service, then the rental service. For an unknown token, every method returns the same fault
// ([link.NewNotFoundFault]).
type Links struct {
	bookingPeer, rentalPeer *peer.Client
	bookings                *bookingclient.Links
	rentals                 *rental.Client
	shop                    *Shop
}

// NewLinks returns a Links that calls the booking service and the rental service. The argument `shop` provides the data
// of businesses and their free times.
func NewLinks(bookings, rentals *peer.Client, shop *Shop) *Links {
	return &Links{bookingPeer: bookings, rentalPeer: rentals, bookings: bookingclient.NewLinks(bookings),
		rentals: rental.NewClient(rentals), shop: shop}
}

// CustomerView contains the data of the page behind a customer's link. Exactly one of Booking, Ticket and Reservation
// is set: the object to which the link belongs.
type CustomerView struct {
	Business    *Business
	Booking     *booking.CustomerBooking
	Ticket      *booking.CustomerTicket
	Reservation *rental.CustomerReservation
	Locale      string // the language of the booking
	// `Timezone` and `Currency` are the time zone and the currency of the business at the time of the sale. If a field
	// is "", the current value of the business applies.
	Timezone string
	Currency string
}

// View returns the data that the customer may see of the booking, ticket order or reservation to which a token belongs.
// Faults: not_found; service_unavailable.
func (l *Links) View(ctx context.Context, token string) (*CustomerView, error) {
	found, err := l.bookings.CustomerView(ctx, token)
	switch {
	case err == nil:
		return l.convertBooking(ctx, found)
	case !fault.Is(err, fault.NotFound):
		return nil, err
	}
	reservation, err := l.rentals.CustomerView(ctx, token)
	if err != nil {
		return nil, err
	}
	return l.owner(ctx, reservation.Business, &CustomerView{
		Reservation: &reservation.Reservation, Locale: reservation.Reservation.Locale,
		Timezone: reservation.Reservation.Timezone,
		Currency: reservation.Reservation.Currency,
	})
}

func (l *Links) convertBooking(ctx context.Context, found *booking.CustomerView) (*CustomerView, error) {
	if t := found.Ticket; found.Kind == event.Ticket {
		return l.owner(ctx, found.Business, &CustomerView{Ticket: t, Locale: t.Locale, Timezone: t.Timezone,
			Currency: t.Currency})
	}
	b := found.Booking
	return l.owner(ctx, found.Business, &CustomerView{Booking: b, Locale: b.Locale, Timezone: b.Timezone,
		Currency: b.Currency})
}

func (l *Links) owner(ctx context.Context, owner catalog.LinkBusiness, m *CustomerView) (*CustomerView, error) {
	business, err := l.shop.Business(ctx, owner.Slug)
	if fault.Is(err, fault.BusinessNotFound) {
		return nil, link.NewNotFoundFault()
	}
	m.Business = business
	return m, err
}

// CanCancel reports whether the customer may cancel the booking, ticket order or reservation now.
func (m *CustomerView) CanCancel() bool {
	switch {
	case m.Ticket != nil:
		return m.Ticket.Cancellation.Allowed
	case m.Reservation != nil:
		return m.Reservation.Cancellation.Allowed
	}
	return m.Booking.Cancellation.Allowed
}

// Cancel cancels the booking, ticket order or reservation of a link. The argument `refund` is the amount of the refund
// that the page showed to the customer. Faults: not_found; invalid_parameter if `refund` is not an amount; conflict if
// the customer may not cancel, or if the refund is now a different amount.
func (l *Links) Cancel(ctx context.Context, token string, refund json.Number) error {
	if _, err := json.Marshal(refund); err != nil || refund == "" {
		return fault.New(fault.InvalidParameter, "refund: send the amount that was shown.")
	}
	request := booking.CancelByLink{Refund: &refund}
	_, err := l.bookings.Cancel(ctx, token, request)
	if fault.Is(err, fault.NotFound) {
		_, err = l.rentals.CancelByLink(ctx, token, request)
	}
	return err
}

// Reschedule reschedules the booking of a link to the start `start`, and to the location in `start` if it has one.
// Faults: not_found; invalid_parameter; conflict if
// the customer may not reschedule; slot_unavailable, no_staff_available; availability_unverified.
func (l *Links) Reschedule(ctx context.Context, token string, start Selection) error {
	if start.Date == nil || start.Time == nil {
		return fault.New(fault.InvalidParameter, "Choose a start.")
	}
	request := booking.Reschedule{Date: start.Date.String(), Time: start.Time.String()}
	if start.Location != nil {
		request.LocationID = new(start.Location.String())
	}
	if start.Session != nil {
		session := start.Session.String()
		request.ClassScheduleID = &session
	}
	_, err := l.bookings.Reschedule(ctx, token, request)
	return err
}

// OpenPayment returns the URL of the payment provider's page on which the customer pays the amount that is still due.
// It returns "" if the provider has no such page, as in the sandbox of a business. Faults: not_found; conflict if no
// amount is due; payment_unavailable.
func (l *Links) OpenPayment(ctx context.Context, token string) (string, error) {
	payment, err := l.bookings.OpenPayment(ctx, token)
	if fault.Is(err, fault.NotFound) {
		payment, err = l.rentals.OpenPayment(ctx, token)
	}
	if err != nil {
		return "", err
	}
	return payment.CheckoutURL, nil
}

// Calendar returns the booking, ticket order or reservation in the format text/calendar. Fault: not_found.
func (l *Links) Calendar(ctx context.Context, token string) ([]byte, error) {
	text, err := l.bookings.Calendar(ctx, token)
	if !fault.Is(err, fault.NotFound) {
		return text, err
	}
	answer, err := l.rentalPeer.Do(ctx,
		peer.Request{Method: http.MethodGet, Path: rental.ReadCalendar.URL(&endpoints.ByToken{Token: token})})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Feed returns the calendar at an owner's secret URL, with the entity tag of the calendar (lifecycle.md §2). The
// argument `etag` is the entity tag that the calendar program already has. If `etag` is still current, the response has
// status 304. Fault: not_found for every unknown token.
func (l *Links) Feed(ctx context.Context, token, etag string) (*peer.Response, error) {
	if _, ok := link.HashToken(token); !ok {
		return nil, link.NewNotFoundFault()
	}
	request := peer.Request{Method: http.MethodGet, Path: bookingclient.CalendarPath(token)}
	if etag != "" {
		request.Header = http.Header{"If-None-Match": {etag}}
	}
	return l.bookingPeer.Do(ctx, request)
}

// Times returns the starts to which a booking can be rescheduled (lifecycle.md §3). The time of the booking itself
// counts as free. If `date` and `month` are nil, the result begins with the date of the booking. Otherwise Times works
// as [Shop.Times] does. The argument `at` is the location; nil is the location of the booking. Faults:
// service_unavailable; invalid_parameter.
func (l *Links) Times(ctx context.Context, m *CustomerView, at *uuid.UUID, date, month *timespan.Date) (*Calendar,
	error) {
	if bookedDate, err := timespan.ParseDate(m.Booking.Date); err == nil && date == nil && month == nil &&
		bookedDate >= m.Business.Today() {
		date = &bookedDate
	}
	c, err := l.shop.readTimes(ctx, m.Business, m.rescheduleQuery(at), date, month)
	if fault.Is(err, fault.ServiceNotFound) || fault.Is(err, fault.LocationNotFound) {
		// The service is no longer offered as it was booked, so the booking cannot be rescheduled.
		today := m.Business.Today()
		return &Calendar{IsKnown: true, Month: firstOfMonth(today), First: today, Last: today}, nil
	}
	return c, err
}

// rescheduleQuery returns the query parameters of a request to the service availability. The response lists the starts
// to which the booking can be rescheduled. The query contains all services of the booking. It contains the staff member
// only if the customer chose a staff member. The argument `at` is as in [Links.Times].
func (m *CustomerView) rescheduleQuery(at *uuid.UUID) url.Values {
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
		"is_package": {"true"}, // with is_package, each start is listed once
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
	if at == nil && b.Location != nil { // the booking keeps its location
		at = &b.Location.ID
	}
	if at != nil {
		query.Set("location_id", at.String())
	}
	return query
}

// Locations returns the locations to which the customer can reschedule the booking: those at which all its services are
// offered. A location that comes to the customer is one of them only if it serves the address of the booking. A location
// at which the business calls is one of them only if the booking has a telephone number, or is there already.
func (m *CustomerView) Locations() []*catalog.Location {
	if m.Booking.Location == nil {
		return nil
	}
	var services []*catalog.Service
	for _, booked := range m.Booking.Services {
		s := m.Business.Snapshot.Service(booked.ID)
		if s == nil {
			return nil
		}
		services = append(services, s)
	}
	return slices.DeleteFunc(m.Business.Snapshot.CommonLocations(services), func(l *catalog.Location) bool {
		address := m.Booking.CustomerAddress
		return l.Kind == catalog.KindCustomerAddress && (address == nil || !l.Serves(address.Address)) ||
			l.NeedsCustomerPhone() && !m.Booking.HasPhone && l.ID != m.Booking.Location.ID
	})
}

// ChooseLocation returns the location in the argument `wanted` if the customer can reschedule the booking to it.
// Otherwise it returns the location of the booking, or nil if the booking has none.
func (m *CustomerView) ChooseLocation(wanted *uuid.UUID) *uuid.UUID {
	for _, l := range m.Locations() {
		if wanted != nil && l.ID == *wanted {
			return wanted
		}
	}
	if m.Booking.Location == nil {
		return nil
	}
	return &m.Booking.Location.ID
}

// IsCurrentStart reports whether `s` is the present start of the booking.
func (m *CustomerView) IsCurrentStart(s Slot) bool {
	return timespan.Instant(s.Date, s.Time, m.Business.Snapshot.Location()) == m.Booking.StartsAt.Unix() &&
		equalIDs(s.ClassScheduleID, m.Booking.ClassScheduleID)
}
