package booking

import (
	"net/url"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Filter narrows a list of bookings. A zero field does not narrow it.
type Filter struct {
	From, To *timespan.Date // local date of the start, both inclusive
	Status   string         // one of the Status… values
	// Query holds words of the customer's name or address, or a part of the
	// phone number. The order of the words, case and accents do not matter.
	Query     string
	ServiceID *uuid.UUID // of one of its services
	StaffID   *uuid.UUID
	Source    string
	Payment   string // one of [PaymentStatuses]: status of the online payment
}

// TicketFilter narrows a list of orders of tickets. A zero field does not narrow it.
type TicketFilter struct {
	EventID *uuid.UUID
	Query   string // like [Filter.Query]
	Payment string // like [Filter.Payment]
}

// Values returns the query parameters that bookingclient.ReadTicketFilter reads.
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

// MaxQuery is the maximal number of characters of a query.
const MaxQuery = 254

// Statuses returns all statuses of a booking, in the order of its life.
func Statuses() []string {
	return []string{StatusPending, StatusConfirmed, StatusCompleted, StatusNoShow, StatusCancelled}
}

// Filters of a list by payment that are not statuses of a payment.
const (
	PaymentRefundFailed = "refund_failed" // the provider refused the newest refund
	PaymentDisputed     = "disputed"      // the customer disputes the payment, or did so
)

// PaymentStatuses returns all values of the filter by payment. They are the statuses of
// a payment, and results that the provider reports after the payment, such as refunds.
func PaymentStatuses() []string {
	return []string{PaymentOpen, PaymentPaid, PaymentCancelled, PaymentRefundFailed, PaymentDisputed}
}

// Values returns the query parameters that bookingclient.ReadFilter reads.
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
	for name, value := range map[string]string{"status": f.Status, "query": f.Query, "source": f.Source,
		"payment": f.Payment} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}
