package usecase

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
	return l.of(ctx, rented.Business, &Managed{Reservation: &rented.Reservation, Locale: rented.Reservation.Locale})
}

func (l *Links) shown(ctx context.Context, found *booking.Managed) (*Managed, error) {
	if found.Kind == event.Ticket {
		return l.of(ctx, found.Business, &Managed{Ticket: found.Ticket, Locale: found.Ticket.Locale})
	}
	return l.of(ctx, found.Business, &Managed{Booking: found.Booking, Locale: found.Booking.Locale})
}

func (l *Links) of(ctx context.Context, of catalog.ManagedBusiness, m *Managed) (*Managed, error) {
	business, err := l.shop.Business(ctx, of.Slug)
	if fault.Is(err, fault.BusinessNotFound) {
		return nil, link.NotFound()
	}
	m.Business = business
	return m, err
}

// Cancel cancels a booking with the refund that the customer was shown. Faults: not_found; conflict where they may not, or the refund is
// another one by now.
func (l *Links) Cancel(ctx context.Context, token string, refund json.Number) error {
	if _, err := json.Marshal(refund); err != nil || refund == "" {
		return fault.New(fault.InvalidParameter, "refund: send the amount that was shown.")
	}
	_, err := l.bookings.Cancel(ctx, token, booking.CancelByLink{Refund: &refund})
	return err
}

// Move moves a booking to another start. Faults: not_found; invalid_parameter; conflict where they may not; slot_unavailable,
// no_staff_available; availability_unverified.
func (l *Links) Move(ctx context.Context, token, date, clock string) error {
	_, err := l.bookings.Reschedule(ctx, token, booking.Reschedule{Date: date, Time: clock})
	return err
}

// Pay returns the provider's page on which an open charge is paid. Faults: not_found; conflict where nothing is to be paid;
// payment_unavailable.
func (l *Links) Pay(ctx context.Context, token string) (string, error) {
	open, err := l.bookings.OpenPayment(ctx, token)
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

// Day is a date on which a booking could start, with its times where they were asked for.
type Day struct {
	Date  timespan.Date
	Free  int
	Times []string // HH:MM, each once
}

// Days are dates with free times from one on, and the times of the one that was chosen.
type Days struct {
	Days     []Day
	Computed bool          // false: free times cannot be told now
	Next     timespan.Date // where dates after these begin
}

// calendarWindow is how many days are shown at once.
const calendarWindow = 31

type datesAnswer struct {
	Days     map[string]int `json:"days"`
	Computed bool           `json:"computed"`
}

type slotsAnswer struct {
	Slots []struct {
		Time string `json:"time"`
		Date string `json:"date"`
	} `json:"slots"`
	Computed bool `json:"computed"`
}

// FreeDays lists where a booking could be moved to, on the dates from one on; times are listed of the chosen date alone, the first free
// one where none was chosen. What the booking occupies itself counts as taken here; moving decides. Faults: service_unavailable;
// invalid_parameter.
func (l *Links) FreeDays(ctx context.Context, m *Managed, from timespan.Date, chosen *timespan.Date) (*Days, *Day, error) {
	until := from + calendarWindow - 1
	query := asked(m)
	query.Set("start", from.String())
	query.Set("end", until.String())
	dates, err := read[datesAnswer](ctx, l.shop.Availability, m.Business.Offer.Slug, "available-dates", query)
	if err != nil {
		return nil, nil, err
	}
	days := &Days{Computed: dates.Computed, Next: until + 1}
	for date := from; date <= until; date++ {
		if n := dates.Days[date.String()]; n > 0 {
			days.Days = append(days.Days, Day{Date: date, Free: n})
		}
	}
	if !days.Computed || len(days.Days) == 0 {
		return days, nil, nil
	}
	day := days.Days[0]
	if chosen != nil {
		day = Day{Date: *chosen}
	}
	query = asked(m)
	query.Set("date", day.Date.String())
	slots, err := read[slotsAnswer](ctx, l.shop.Availability, m.Business.Offer.Slug, "slots", query)
	if err != nil {
		return nil, nil, err
	}
	days.Computed = slots.Computed
	for _, s := range slots.Slots {
		if s.Date == day.Date.String() && !slices.Contains(day.Times, s.Time) {
			day.Times = append(day.Times, s.Time)
		}
	}
	slices.Sort(day.Times)
	return days, &day, nil
}

// asked are the parameters of the booking's services, and of its member, with whom it stays where they are free.
func asked(m *Managed) url.Values {
	var ids, variants []string
	for _, s := range m.Booking.Services {
		ids = append(ids, s.ID.String())
		if s.VariantID != [16]byte{} {
			variants = append(variants, s.ID.String()+":"+s.VariantID.String())
		}
	}
	query := url.Values{"service_id": {strings.Join(ids, ",")}}
	if len(variants) > 0 {
		query.Set("variants", strings.Join(variants, ","))
	}
	if m.Booking.StaffID != nil && m.Booking.ClassScheduleID == nil {
		query.Set("staff_id", m.Booking.StaffID.String())
	}
	return query
}
