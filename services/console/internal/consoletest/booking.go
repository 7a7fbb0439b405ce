package consoletest

import (
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Booking is a fake of the service booking that keeps its data in memory.
type Booking struct {
	Events
	mu        sync.Mutex
	calendars map[string][]booking.Calendar
	keys      map[string][]booking.Key
	bookings  map[string][]booking.Booking
	tickets   map[string][]booking.Ticket
	silent    []string // last path segment of each request that must not notify the customer
}

// TakeSilent returns the last path segment, for example "confirm", of each request that must not notify the customer.
// TakeSilent then discards the segments that it has returned, so that the next call returns only later segments.
func (s *Booking) TakeSilent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.silent
	s.silent = nil
	return taken
}

func (s *Booking) noteSilent(r *http.Request) {
	if r.Header.Get(actor.NotifyHeader) == actor.NotifyNo {
		s.silent = append(s.silent, path.Base(r.URL.Path))
	}
}

// Add adds a booking of a business to the bookings of the fake.
func (s *Booking) Add(businessID uuid.UUID, b booking.Booking) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bookings == nil {
		s.bookings = map[string][]booking.Booking{}
	}
	s.bookings[businessID.String()] = append(s.bookings[businessID.String()], b)
}

// LiveKeys returns the number of API keys that a business has and that are not revoked.
func (s *Booking) LiveKeys(businessID uuid.UUID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := 0
	for _, k := range s.keys[businessID.String()] {
		if k.RevokedAt == nil {
			live++
		}
	}
	return live
}

// Handler serves those requests of booking's internal API that console sends.
func (s *Booking) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (*reply, error){
		"POST /internal/businesses/{business}/keys":                      s.createKey,
		"GET /internal/businesses/{business}/keys":                       s.listKeys,
		"DELETE /internal/businesses/{business}/keys":                    s.revokeAll,
		"DELETE /internal/businesses/{business}/keys/{id}":               s.revokeKey,
		"GET /internal/businesses/{business}/bookings":                   s.list,
		"GET /internal/businesses/{business}/reports/{report}":           s.reportRows,
		"POST /internal/businesses/{business}/bookings":                  s.book,
		"POST /internal/businesses/{business}/bookings/{id}/reschedule":  s.reschedule,
		"GET /internal/businesses/{business}/bookings/ahead":             s.ahead,
		"GET /internal/businesses/{business}/bookings/{id}":              s.one,
		"GET /internal/businesses/{business}/bookings/{id}/cancellation": s.cancellation,
		"POST /internal/businesses/{business}/bookings/{id}/cancel":      s.cancel,
		"POST /internal/businesses/{business}/bookings/{id}/refund":      s.refund,
		"POST /internal/businesses/{business}/bookings/{id}/{move}":      s.move,
		"GET /internal/businesses/{business}/tickets/ahead":              s.ticketsAhead,
		"POST /internal/businesses/{business}/tickets":                   s.sellTickets,
		"POST /internal/businesses/{business}/tickets/sales":             s.sales,
		"GET /internal/businesses/{business}/tickets":                    s.listTickets,
		"GET /internal/businesses/{business}/tickets/{id}":               s.showTickets,
		"GET /internal/businesses/{business}/tickets/{id}/cancellation":  s.ticketCancellation,
		"POST /internal/businesses/{business}/tickets/{id}/cancel":       s.cancelTickets,
		"POST /internal/businesses/{business}/tickets/{id}/refund":       s.refundTickets,
		"GET /internal/businesses/{business}/events":                     s.events,
		"POST /internal/businesses/{business}/calendars":                 s.createCalendar,
		"GET /internal/businesses/{business}/calendars":                  s.listCalendars,
		"DELETE /internal/businesses/{business}/calendars/{id}":          s.revokeCalendar,
		"POST /internal/businesses/{business}/customers/search":          s.customers,
		"POST /internal/businesses/{business}/customers/held":            s.held,
		"POST /internal/businesses/{business}/customers/expiring":        s.expiring,
		"POST /internal/businesses/{business}/customers/erase":           s.erase,
	} {
		mux.Handle(pattern, locked(&s.mu, answer))
	}
	return mux
}

func (s *Booking) createKey(r *http.Request) (*reply, error) {
	var wanted booking.NewKey
	if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{booking.ScopeRead, booking.ScopeWrite, booking.ScopeAll}, wanted.Scope) {
		return nil, fault.New(fault.InvalidParameter, "scope: write read, write or all.")
	}
	key := booking.Key{
		ID: uuid.New(), Name: wanted.Name, Scope: wanted.Scope, Prefix: "sm_01234567",
		CreatedAt: Epoch, CreatedBy: makerOf(r), ExpiresAt: wanted.ExpiresAt,
	}
	if s.keys == nil {
		s.keys = map[string][]booking.Key{}
	}
	business := r.PathValue("business")
	s.keys[business] = append(s.keys[business], key)
	key.Secret = "sm_" + strings.Repeat("01234567", 8)
	return &reply{status: http.StatusCreated, value: key}, nil
}

func (s *Booking) listKeys(r *http.Request) (*reply, error) {
	entries, next := page(r, s.keys[r.PathValue("business")])
	return ok(booking.KeyList{Keys: entries, NextCursor: next})
}

func (s *Booking) revokeKey(r *http.Request) (*reply, error) {
	keys := s.keys[r.PathValue("business")]
	i := slices.IndexFunc(keys, func(k booking.Key) bool { return k.ID.String() == r.PathValue("id") })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Key not found")
	}
	at := Epoch
	keys[i].RevokedAt = &at
	return &reply{status: http.StatusNoContent}, nil
}

func (s *Booking) revokeAll(r *http.Request) (*reply, error) {
	keys := s.keys[r.PathValue("business")]
	for i := range keys {
		at := Epoch
		keys[i].RevokedAt = &at
	}
	return &reply{status: http.StatusNoContent}, nil
}

func (s *Booking) list(r *http.Request) (*reply, error) {
	filter, err := bookingclient.ReadFilter(func(name string) []string { return r.URL.Query()[name] })
	if err != nil {
		return nil, err
	}
	var found []booking.Booking
	for _, b := range s.bookings[r.PathValue("business")] {
		if finds(filter, b) {
			found = append(found, b)
		}
	}
	entries, next := page(r, found)
	return ok(booking.BookingList{Bookings: entries, NextCursor: next})
}

func (s *Booking) ahead(r *http.Request) (*reply, error) {
	live := 0
	for _, b := range s.bookings[r.PathValue("business")] {
		if b.Status == booking.StatusPending || b.Status == booking.StatusConfirmed {
			live++
		}
	}
	return ok(booking.AheadCount{Count: live})
}

func finds(f booking.Filter, b booking.Booking) bool {
	return (f.From == nil || b.Date >= f.From.String()) && (f.To == nil || b.Date <= f.To.String()) &&
		(f.Status == "" || b.Status == f.Status) && (f.Source == "" || b.Source == f.Source) &&
		(f.StaffID == nil || b.StaffID != nil && *b.StaffID == *f.StaffID) &&
		(f.ServiceID == nil || slices.ContainsFunc(b.Services, func(s booking.BookedService) bool {
			return s.ID == *f.ServiceID
		})) &&
		(f.Query == "" || strings.Contains(strings.ToLower(b.CustomerName+" "+b.CustomerEmail),
			strings.ToLower(f.Query))) &&
		hasPayment(b.Payment, f.Payment)
}

// hasPayment reports whether a payment has the status in the argument `asked`. If `asked` is "", hasPayment returns
// true.
func hasPayment(p *booking.Payment, asked string) bool {
	switch {
	case asked == "" || p == nil:
		return asked == ""
	case asked == booking.PaymentRefundFailed:
		return p.Refund != nil && p.Refund.Status == booking.RefundRefused
	case asked == booking.PaymentDisputed:
		return p.Dispute != nil
	}
	return p.Status == asked
}

// moves describes the transitions of a booking by their names. Each transition has the statuses in which it is allowed,
// and the status that it sets.
var moves = map[string]struct {
	from []string
	to   string
}{
	booking.MoveConfirm:  {[]string{booking.StatusPending}, booking.StatusConfirmed},
	booking.MoveComplete: {[]string{booking.StatusConfirmed}, booking.StatusCompleted},
	booking.MoveNoShow:   {[]string{booking.StatusConfirmed}, booking.StatusNoShow},
	booking.MoveReopen:   {[]string{booking.StatusCompleted, booking.StatusNoShow}, booking.StatusConfirmed},
}

func (s *Booking) move(r *http.Request) (*reply, error) {
	s.noteSilent(r)
	bookings := s.bookings[r.PathValue("business")]
	i := slices.IndexFunc(bookings, func(b booking.Booking) bool { return b.ID.String() == r.PathValue("id") })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Booking not found")
	}
	step := moves[r.PathValue("move")]
	if !slices.Contains(step.from, bookings[i].Status) {
		return nil, fault.Newf(fault.Conflict, "A %s booking cannot be moved so.", bookings[i].Status)
	}
	bookings[i].Status = step.to
	return ok(bookings[i])
}
