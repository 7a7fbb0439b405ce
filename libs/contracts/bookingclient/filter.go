package bookingclient

import (
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// maxSource is the maximal length of the query parameter source, in characters.
const maxSource = 1000

// Filter is the filter in a request for bookings.
type Filter struct{ booking.Filter }

// ReadQuery reads the filter as [ReadFilter] does.
func (f *Filter) ReadQuery(q request.Query) error {
	filter, err := ReadFilter(q)
	f.Filter = filter
	return err
}

// TicketFilter is the filter in a request for orders of tickets.
type TicketFilter struct{ booking.TicketFilter }

// ReadQuery reads the filter as [ReadTicketFilter] does.
func (f *TicketFilter) ReadQuery(q request.Query) error {
	filter, err := ReadTicketFilter(q)
	f.TicketFilter = filter
	return err
}

// ReadFilter reads a filter from the query parameters from, to, status, query, service_id,
// staff_id, location_id, source and payment. Faults: invalid_parameter.
func ReadFilter(q request.Query) (booking.Filter, error) {
	var (
		f   booking.Filter
		err error
	)
	if f.From, f.To, err = q.OptionalDates("from", "to"); err != nil {
		return f, err
	}
	if f.ServiceID, err = q.OptionalID("service_id"); err != nil {
		return f, err
	}
	if f.StaffID, err = q.OptionalID("staff_id"); err != nil {
		return f, err
	}
	if f.LocationIDs, err = readLocations(q); err != nil {
		return f, err
	}
	if f.Payment, err = ReadPayment(q); err != nil {
		return f, err
	}
	for name, into := range map[string]*string{"status": &f.Status, "query": &f.Query, "source": &f.Source} {
		if *into, err = q.Text(name); err != nil {
			return f, err
		}
	}
	switch {
	case f.Status != "" && !slices.Contains(booking.Statuses(), f.Status):
		return f, request.Invalid("status: send pending, confirmed, completed, no_show or cancelled.")
	case utf8.RuneCountInString(f.Query) > booking.MaxQuery:
		return f, tooLong()
	case utf8.RuneCountInString(f.Source) > maxSource:
		return f, request.Invalid("source: the text is too long; send at most %d characters.", maxSource)
	}
	return f, nil
}

// readLocations reads the query parameter `location_id`: one id or, between services, several ids that are separated by
// commas. The result is nil if the parameter is omitted.
func readLocations(q request.Query) ([]uuid.UUID, error) {
	text, err := q.Text("location_id")
	if err != nil || text == "" {
		return nil, err
	}
	return q.IDs("location_id", "a location")
}

// ReadPayment reads the query parameter `payment`. The result is one of
// booking.PaymentStatuses, or "". Faults: invalid_parameter.
func ReadPayment(q request.Query) (string, error) {
	payment, err := q.Text("payment")
	if err != nil {
		return "", err
	}
	return payment, CheckPayment(payment)
}

// CheckPayment validates the value of the query parameter `payment`. The value "" is valid. Faults: invalid_parameter.
func CheckPayment(payment string) error {
	if payment != "" && !slices.Contains(booking.PaymentStatuses(), payment) {
		return request.Invalid("payment: send open, paid, cancelled, refund_failed or disputed.")
	}
	return nil
}

// ReadTicketFilter reads a filter from the query parameters event_id, query and payment. Faults: invalid_parameter.
func ReadTicketFilter(q request.Query) (booking.TicketFilter, error) {
	var (
		f   booking.TicketFilter
		err error
	)
	if f.EventID, err = q.OptionalID("event_id"); err != nil {
		return f, err
	}
	if f.Payment, err = ReadPayment(q); err != nil {
		return f, err
	}
	if f.Query, err = q.Text("query"); err == nil && utf8.RuneCountInString(f.Query) > booking.MaxQuery {
		err = tooLong()
	}
	return f, err
}

func tooLong() error {
	return request.Invalid("query: the text is too long; send at most %d characters of a name, an address or a phone "+
		"number.", booking.MaxQuery)
}
