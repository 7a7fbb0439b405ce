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
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Booking is a fake of the booking service that keeps its data in memory.
type Booking struct {
	Events
	mu             sync.Mutex
	calendars      map[string][]booking.Calendar
	keys           map[string][]booking.Key
	bookings       map[string][]booking.Booking
	tickets        map[string][]booking.Ticket
	addressChanges []booking.AddressChanges
	records        map[string][]customer.Record
	imports        map[string][]customer.ImportEntry
	silentRequests []string // last path segment of each request that must not notify the customer
}

// TakeSilent returns the last path segment, for example "confirm", of each request that must not notify the customer.
// TakeSilent then discards the segments that it has returned, so that the next call returns only later segments.
func (s *Booking) TakeSilent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.silentRequests
	s.silentRequests = nil
	return taken
}

// TakeAddressChanges returns and discards the requests for messages about new addresses.
func (s *Booking) TakeAddressChanges() []booking.AddressChanges {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.addressChanges
	s.addressChanges = nil
	return taken
}

func (s *Booking) storeAddressChanges(r *http.Request) (*reply, error) {
	var changes booking.AddressChanges
	if err := json.NewDecoder(r.Body).Decode(&changes); err != nil {
		return nil, err
	}
	s.addressChanges = append(s.addressChanges, changes)
	return &reply{status: http.StatusNoContent}, nil
}

// countRelocated counts the customers of all pending and confirmed bookings at the places, also of past ones.
func (s *Booking) countRelocated(r *http.Request) (*reply, error) {
	var changes booking.AddressChanges
	if err := json.NewDecoder(r.Body).Decode(&changes); err != nil {
		return nil, err
	}
	customers := map[string]bool{}
	for _, b := range s.bookings[r.PathValue("business")] {
		for _, p := range changes.Places {
			isThere := b.Location == nil && p.IsDefault || b.Location != nil && b.Location.ID == p.LocationID
			if isThere && b.CustomerEmail != "" && (b.Status == booking.StatusPending || b.Status == booking.StatusConfirmed) {
				customers[b.CustomerEmail] = true
			}
		}
	}
	return newReply(booking.AheadCount{Count: len(customers)})
}

func (s *Booking) recordSilent(r *http.Request) {
	if r.Header.Get(actor.NotifyHeader) == actor.NotifyNo {
		s.silentRequests = append(s.silentRequests, path.Base(r.URL.Path))
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

// CountLiveKeys returns the number of API keys that a business has and that are not revoked.
func (s *Booking) CountLiveKeys(businessID uuid.UUID) int {
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
		"GET /internal/businesses/{business}/bookings":                   s.listBookings,
		"GET /internal/businesses/{business}/reports/{report}":           s.reportRows,
		"POST /internal/businesses/{business}/bookings":                  s.book,
		"POST /internal/businesses/{business}/bookings/{id}/reschedule":  s.reschedule,
		"PUT /internal/businesses/{business}/address-changes":            s.storeAddressChanges,
		"POST /internal/businesses/{business}/address-changes/customers": s.countRelocated,
		"POST /internal/businesses/{business}/bookings/{id}/relocate":    s.relocate,
		"GET /internal/businesses/{business}/bookings/ahead":             s.listAhead,
		"GET /internal/businesses/{business}/bookings/{id}":              s.showBooking,
		"GET /internal/businesses/{business}/bookings/{id}/cancellation": s.previewCancellation,
		"POST /internal/businesses/{business}/bookings/{id}/cancel":      s.cancel,
		"POST /internal/businesses/{business}/bookings/{id}/refund":      s.refund,
		"POST /internal/businesses/{business}/bookings/{id}/{move}":      s.transition,
		"GET /internal/businesses/{business}/tickets/ahead":              s.listTicketsAhead,
		"POST /internal/businesses/{business}/tickets":                   s.sellTickets,
		"POST /internal/businesses/{business}/tickets/sales":             s.listSales,
		"GET /internal/businesses/{business}/tickets":                    s.listTickets,
		"GET /internal/businesses/{business}/tickets/{id}":               s.showTickets,
		"GET /internal/businesses/{business}/tickets/{id}/cancellation":  s.previewTicketCancellation,
		"POST /internal/businesses/{business}/tickets/{id}/cancel":       s.cancelTickets,
		"POST /internal/businesses/{business}/tickets/{id}/refund":       s.refundTickets,
		"GET /internal/businesses/{business}/events":                     s.listEvents,
		"POST /internal/businesses/{business}/calendars":                 s.createCalendar,
		"GET /internal/businesses/{business}/calendars":                  s.listCalendars,
		"DELETE /internal/businesses/{business}/calendars/{id}":          s.revokeCalendar,
		"POST /internal/businesses/{business}/customers/search":          s.listCustomers,
		"POST /internal/businesses/{business}/customers/held":            s.exportCustomer,
		"POST /internal/businesses/{business}/customers/expiring":        s.countExpiring,
		"POST /internal/businesses/{business}/customers/erase":           s.eraseCustomer,
		"POST /internal/businesses/{business}/customers/change":          s.changeCustomer,
		"POST /internal/businesses/{business}/customers/merge":           s.mergeCustomers,
		"POST /internal/businesses/{business}/customers/separate":        s.separateCustomers,
		"POST /internal/businesses/{business}/customers/remove":          s.removeRecords,
		"POST /internal/businesses/{business}/customers/import":          s.importCustomers,
		"GET /internal/businesses/{business}/customers/imports":          s.listImports,
		"POST /internal/businesses/{business}/customers/imports/undo":    s.undoImport,
	} {
		mux.Handle(pattern, serveLocked(&s.mu, s.limitToLocations(answer)))
	}
	return mux
}

// limitToLocations returns a function that answers requests with [actor.LocationsHeader] as the booking service does.
// It refuses endpoints that do not obey the header, and hides bookings at other locations.
func (s *Booking) limitToLocations(answer func(*http.Request) (*reply, error)) func(*http.Request) (*reply, error) {
	return func(r *http.Request) (*reply, error) {
		header := r.Header.Get(actor.LocationsHeader)
		if header == "" {
			return answer(r)
		}
		permitted, err := actor.ParseLocations(header)
		if err != nil {
			return nil, err
		}
		endpoint := strings.Split(strings.TrimPrefix(r.URL.Path, "/internal/businesses/"), "/")[1]
		if endpoint != "bookings" || strings.HasSuffix(r.URL.Path, "/ahead") {
			return nil, fault.New(fault.SourceForbidden, "This endpoint serves nobody who is limited to locations.")
		}
		business := r.PathValue("business")
		all := s.bookings[business]
		isHidden := func(b booking.Booking) bool { return !slices.Contains(permitted, locationOf(b)) }
		hidden := slices.DeleteFunc(slices.Clone(all), func(b booking.Booking) bool { return !isHidden(b) })
		if len(all) == 0 {
			return answer(r)
		}
		s.bookings[business] = slices.DeleteFunc(slices.Clone(all), isHidden)
		defer func() { s.bookings[business] = append(s.bookings[business], hidden...) }()
		return answer(r)
	}
}

func (s *Booking) createKey(r *http.Request) (*reply, error) {
	var newKey booking.NewKey
	if err := json.NewDecoder(r.Body).Decode(&newKey); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{booking.ScopeRead, booking.ScopeWrite, booking.ScopeAll}, newKey.Scope) {
		return nil, fault.New(fault.InvalidParameter, "scope: write read, write or all.")
	}
	key := booking.Key{
		ID: uuid.New(), Name: newKey.Name, Scope: newKey.Scope, Prefix: "sm_01234567",
		CreatedAt: Epoch, CreatedBy: findCreator(r), ExpiresAt: newKey.ExpiresAt,
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
	entries, next := cutPage(r, s.keys[r.PathValue("business")])
	return newReply(booking.KeyList{Keys: entries, NextCursor: next})
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

func (s *Booking) listBookings(r *http.Request) (*reply, error) {
	filter, err := bookingclient.ReadFilter(func(name string) []string { return r.URL.Query()[name] })
	if err != nil {
		return nil, err
	}
	var found []booking.Booking
	for _, b := range s.bookings[r.PathValue("business")] {
		if matchesFilter(filter, b) {
			found = append(found, b)
		}
	}
	entries, next := cutPage(r, found)
	return newReply(booking.BookingList{Bookings: entries, NextCursor: next})
}

func (s *Booking) listAhead(r *http.Request) (*reply, error) {
	live := 0
	for _, b := range s.bookings[r.PathValue("business")] {
		if b.Status == booking.StatusPending || b.Status == booking.StatusConfirmed {
			live++
		}
	}
	return newReply(booking.AheadCount{Count: live})
}

func matchesFilter(f booking.Filter, b booking.Booking) bool {
	return (f.From == nil || b.Date >= f.From.String()) && (f.To == nil || b.Date <= f.To.String()) &&
		(f.Status == "" || b.Status == f.Status) && (f.Source == "" || b.Source == f.Source) &&
		(len(f.LocationIDs) == 0 || slices.Contains(f.LocationIDs, locationOf(b))) &&
		(f.StaffID == nil || b.StaffID != nil && *b.StaffID == *f.StaffID) &&
		(f.ServiceID == nil || slices.ContainsFunc(b.Services, func(s booking.BookedService) bool {
			return s.ID == *f.ServiceID
		})) &&
		(f.Query == "" || strings.Contains(strings.ToLower(b.CustomerName+" "+b.CustomerEmail),
			strings.ToLower(f.Query))) &&
		hasPayment(b.Payment, f.Payment)
}

// locationOf returns the id of the location of a booking, or the nil UUID for a booking without a location.
func locationOf(b booking.Booking) uuid.UUID {
	if b.Location == nil {
		return uuid.Nil
	}
	return b.Location.ID
}

// hasPayment reports whether a payment has the status in the argument `wanted`. If `wanted` is "", hasPayment returns
// true, also for nil.
func hasPayment(p *booking.Payment, wanted string) bool {
	switch {
	case wanted == "" || p == nil:
		return wanted == ""
	case wanted == booking.PaymentRefundFailed:
		return p.Refund != nil && p.Refund.Status == booking.RefundRefused
	case wanted == booking.PaymentDisputed:
		return p.Dispute != nil
	}
	return p.Status == wanted
}

// transitions describes the transitions of a booking by their names. Each transition has the statuses in which it is
// allowed, and the status that it sets.
var transitions = map[string]struct {
	from []string
	to   string
}{
	booking.TransitionConfirm:  {[]string{booking.StatusPending}, booking.StatusConfirmed},
	booking.TransitionComplete: {[]string{booking.StatusConfirmed}, booking.StatusCompleted},
	booking.TransitionNoShow:   {[]string{booking.StatusConfirmed}, booking.StatusNoShow},
	booking.TransitionReopen:   {[]string{booking.StatusCompleted, booking.StatusNoShow}, booking.StatusConfirmed},
}

func (s *Booking) transition(r *http.Request) (*reply, error) {
	s.recordSilent(r)
	bookings := s.bookings[r.PathValue("business")]
	i := slices.IndexFunc(bookings, func(b booking.Booking) bool { return b.ID.String() == r.PathValue("id") })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Booking not found")
	}
	step := transitions[r.PathValue("move")]
	if !slices.Contains(step.from, bookings[i].Status) {
		return nil, fault.Newf(fault.Conflict, "A %s booking cannot be moved so.", bookings[i].Status)
	}
	bookings[i].Status = step.to
	return newReply(bookings[i])
}
