package booking

import (
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Filter selects the bookings of a list. A field with its zero value selects all bookings.
type Filter struct {
	From, To *timespan.Date // first and last local date on which the bookings start, both included
	Status   string         // one of the Status… values
	// Query holds words of the customer's name or email address, or a part of the
	// customer's phone number. The order of the words, case and accents are ignored.
	Query     string
	ServiceID *uuid.UUID // id of one of the booked services
	StaffID   *uuid.UUID
	// LocationIDs are the locations of the bookings. The nil UUID stands for bookings without a stored location.
	LocationIDs []uuid.UUID
	Source      string
	Payment     string // one of [PaymentStatuses]
}

// TicketFilter restricts a list of ticket orders. A field with its zero value does not restrict it.
type TicketFilter struct {
	EventID *uuid.UUID
	Query   string // see [Filter.Query]
	Payment string // see [Filter.Payment]
}

// Values returns the filter as query parameters, which bookingclient.ReadTicketFilter reads.
func (f TicketFilter) Values() url.Values {
	query := url.Values{}
	if f.EventID != nil {
		query.Set("event_id", f.EventID.String())
	}
	if f.Query != "" {
		query.Set("query", f.Query)
	}
	if f.Payment != "" {
		query.Set("payment", f.Payment)
	}
	return query
}

// MaxQuery is the maximal length of [Filter.Query], in characters.
const MaxQuery = 254

// Statuses returns all statuses of a booking, from pending to the final ones.
func Statuses() []string {
	return []string{StatusPending, StatusConfirmed, StatusCompleted, StatusNoShow, StatusCancelled}
}

// The values of the filter by payment that are not statuses of a payment.
const (
	PaymentRefundFailed = "refund_failed" // the provider refused the newest refund
	PaymentDisputed     = "disputed"      // the customer disputes the payment, or has disputed it before
)

// PaymentStatuses returns all values of the filter by payment. These are
// the statuses of a payment, [PaymentRefundFailed] and [PaymentDisputed].
func PaymentStatuses() []string {
	return []string{PaymentOpen, PaymentPaid, PaymentCancelled, PaymentRefundFailed, PaymentDisputed}
}

// Values returns the filter as query parameters, which bookingclient.ReadFilter reads.
func (f Filter) Values() url.Values {
	query := url.Values{}
	if f.From != nil {
		query.Set("from", f.From.String())
	}
	if f.To != nil {
		query.Set("to", f.To.String())
	}
	if f.ServiceID != nil {
		query.Set("service_id", f.ServiceID.String())
	}
	if f.StaffID != nil {
		query.Set("staff_id", f.StaffID.String())
	}
	locations := make([]string, len(f.LocationIDs))
	for i, id := range f.LocationIDs {
		locations[i] = id.String()
	}
	for name, value := range map[string]string{"status": f.Status, "query": f.Query, "source": f.Source,
		"payment": f.Payment, "location_id": strings.Join(locations, ",")} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}
