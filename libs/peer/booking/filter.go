package booking

import (
	"net/url"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Filter narrows a list of bookings; what is left out narrows nothing.
type Filter struct {
	From, To *timespan.Date // of the start in business time, both included
	Status   string         // one of the Status… values
	// Query is words of the customer's name and address, in any order, case and accents, or a part of the phone number.
	Query     string
	ServiceID *uuid.UUID // of one of its services
	StaffID   *uuid.UUID
	Source    string
	Payment   string // one of the Payment… values: what is paid online, and where that is
}

// TicketFilter narrows a list of orders of tickets; what is left out narrows nothing.
type TicketFilter struct {
	EventID *uuid.UUID
	Query   string // like [Filter.Query]
	Payment string // like [Filter.Payment]
}

// Values are the parameters of a list, as bookingclient.ReadTicketFilter reads them.
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

// MaxQuery is how many characters a query may have.
const MaxQuery = 254

// Statuses are all statuses of a booking, in the order in which one comes to them.
func Statuses() []string {
	return []string{StatusPending, StatusConfirmed, StatusCompleted, StatusNoShow, StatusCancelled}
}

// Filters of a list of payments that are not statuses.
const (
	PaymentRefundFailed = "refund_failed" // whose newest refund the provider refused
	PaymentDisputed     = "disputed"      // whose customer disputes it, or has
)

// PaymentStatuses are all that a list can be narrowed to by its payments: their statuses, and what the provider told later.
func PaymentStatuses() []string {
	return []string{PaymentOpen, PaymentPaid, PaymentCancelled, PaymentRefundFailed, PaymentDisputed}
}

// Values are the parameters of a list, as bookingclient.ReadFilter reads them.
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
	for name, value := range map[string]string{"status": f.Status, "query": f.Query, "source": f.Source, "payment": f.Payment} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}
