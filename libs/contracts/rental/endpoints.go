package rental

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/eventclient"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/report"
)

// API is the internal API of the rental service.
var API = endpoints.NewAPI("rental")

// Events are the endpoints for the events of the rental service.
var Events = eventclient.Declare(API)

const (
	business     = "/internal/businesses/:slug"
	reservations = business + "/reservations"
)

var (
	owner   = endpoints.By{"console": {actor.Owner}}
	sellers = endpoints.By{"pages": {actor.Page}, "console": {actor.Owner}}
	byLink  = endpoints.By{"pages": {actor.Customer}}
)

// The endpoints of [API]. The methods of [Client] document the endpoints that they call.
var (
	ReadCeilings      = endpoints.Get[CeilingsRequest, Ceilings](API, business+"/ceilings", "catalog")
	ReadStarts        = endpoints.Get[StartsRequest, Starts](API, business+"/starts", "pages").Private()
	CheckAvailability = endpoints.Get[OfSlug, json.RawMessage](API,
		"/internal/api/public/:slug/rental-availability", "mcp", "pages")
	ListAvailableDates = endpoints.Get[OfSlug, json.RawMessage](API,
		"/internal/api/public/:slug/rental-available-dates", "availability", "pages", "console")

	Reserve = endpoints.Post[With[NewReservation], Reservation](API,
		reservations, sellers).Answers(http.StatusCreated).Private()
	ListReservations = endpoints.Get[ReservationsRequest, ReservationList](API,
		reservations, "console").Private()
	CountAhead    = endpoints.Get[OfSlug, AheadCount](API, reservations+"/ahead", "console")
	FindConflicts = endpoints.Ask[With[ConflictsRequest], ConflictsResponse](API,
		reservations+"/outside", "console")
	ReadReservation = endpoints.Get[OfReservation, Reservation](API,
		reservations+"/:id", "notifications", "console")
	ReadLink = endpoints.Get[LinkRequest, link.Response](API,
		"/internal/businesses/:business/reservations/:id/link", "notifications").Private()
	PreviewCancellation = endpoints.Get[OfReservation, booking.Cancellation](API,
		reservations+"/:id/cancellation", "console").Private()
	CancelReservation = endpoints.Post[Change[booking.Cancel], Reservation](API,
		reservations+"/:id/cancel", owner).Private()
	RefundReservation = endpoints.Post[Change[booking.NewRefund], Reservation](API,
		reservations+"/:id/refund", owner).Private()
	ChangeReservationStatus = endpoints.Post[TransitionRequest, Reservation](API, reservations+"/:id/:move",
		owner).Private()

	ReportRevenue = endpoints.Get[ReportRequest, report.Revenue](API,
		business+"/reports/revenue", "console").Private()
	SearchCustomers = endpoints.Ask[With[customer.Search], customer.List](API,
		business+"/customers/search", "console")
	ExportCustomerData = endpoints.Ask[With[customer.Of], CustomerData](API, business+"/customers/held",
		"console").Private()
	ListExpiringCustomers = endpoints.Ask[With[customer.Expiring], customer.ExpiringList](API,
		business+"/customers/expiring", "console")
	EraseCustomer = endpoints.Post[With[customer.Erase], customer.Erased](API,
		business+"/customers/erase", owner)

	KnowsCustomer = endpoints.Ask[With[customer.Of], Known](API,
		business+"/customers/known", "notifications").Private()
	ListOwnReservations = endpoints.Ask[With[booking.CustomerSalesRequest], OwnReservations](API,
		business+"/customer-sessions/reservations", "pages").Private()

	ReadCustomerView = endpoints.Get[endpoints.ByToken, CustomerView](API, "/internal/manage/:token", "pages").Private()
	ReadCalendar     = endpoints.Get[endpoints.ByToken, []byte](API,
		"/internal/manage/:token/calendar", "pages").Private()
	OpenPaymentPage = endpoints.Post[endpoints.ByToken, booking.OpenPayment](API,
		"/internal/manage/:token/payment", byLink).Private()
	CancelByLink = endpoints.Post[endpoints.With[endpoints.ByToken, booking.CancelByLink], CustomerView](API,
		"/internal/manage/:token/cancel", byLink).Private()
)

// QueryBusinessID is the name of the query parameter that holds the field Business of [OfSlug].
const QueryBusinessID = "business_id"

// OfSlug identifies the business of a request by its slug. If Business is not the nil UUID,
// the business with the slug must have this id. Otherwise the fault is business_not_found.
type OfSlug struct {
	Slug     string    `path:"slug"`
	Business uuid.UUID `query:"business_id"`
}

// With is a request about a business, with a body.
type With[Body any] = endpoints.With[OfSlug, Body]

// OfReservation identifies the reservation of a request.
type OfReservation struct {
	OfSlug
	ID uuid.UUID `path:"id" unknown:"Reservation not found"`
}

// Change is a request about a reservation, with a body.
type Change[Body any] = endpoints.With[OfReservation, Body]

// TransitionRequest requests that the status of a reservation is changed by the transition Transition.
type TransitionRequest struct {
	OfReservation
	Transition string `path:"move"`
}

// Target returns the reservation that the request changes.
func (r TransitionRequest) Target() OfReservation { return r.OfReservation }

// LinkRequest requests the customer's link to a reservation. It identifies the business
// by its id instead of its slug, because the caller knows the id from an event.
type LinkRequest struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"id" unknown:"Reservation not found"`
}

// CeilingsRequest requests the [Ceilings] of a business. They are computed from the version
// OfferVersion of the offer, or from a newer version. OfferVersion is a whole number in decimal.
type CeilingsRequest struct {
	Slug         string `path:"slug"`
	OfferVersion string `query:"offer_version"`
}

// StartsRequest requests the starts of reservations on a date.
type StartsRequest struct {
	Slug string `path:"slug"`
	Wanted
}

// ReservationsRequest requests one page of the reservations of a business.
type ReservationsRequest struct {
	OfSlug
	Filter
	request.Page
}

// ReportRequest requests a report about a business.
type ReportRequest struct {
	OfSlug
	request.Report
}

// Values returns the filter as query parameters.
func (f Filter) Values() url.Values {
	query := url.Values{}
	if f.From != nil {
		query.Set("from", f.From.String())
	}
	if f.To != nil {
		query.Set("to", f.To.String())
	}
	if f.Status != "" {
		query.Set("status", f.Status)
	}
	if f.Payment != "" {
		query.Set("payment", f.Payment)
	}
	return query
}

// ReadQuery sets the filter from query parameters. It does not validate
// Payment, which the caller must do. Faults: invalid_parameter.
func (f *Filter) ReadQuery(q request.Query) error {
	var err error
	if f.From, f.To, err = q.OptionalDates("from", "to"); err != nil {
		return err
	}
	if f.Status, err = q.Text("status"); err != nil {
		return err
	}
	if f.Status != "" && !slices.Contains(Statuses(), f.Status) {
		return request.Invalid("status: send pending, reserved, picked_up, returned or cancelled.")
	}
	f.Payment, err = q.Text("payment")
	return err
}

// Values returns the request as query parameters.
func (w Wanted) Values() url.Values {
	query := url.Values{"rental_id": {w.RentalID.String()}, "date": {w.Date.String()},
		"quantity": {strconv.Itoa(w.Quantity)}}
	for _, id := range w.Extras {
		query.Add("extra_id", id.String())
	}
	return query
}

// ReadQuery sets the request from query parameters. Faults: invalid_parameter.
func (w *Wanted) ReadQuery(q request.Query) error {
	id, err := q.Required("rental_id", "a rental's id")
	if err != nil {
		return err
	}
	if w.RentalID, err = request.ID("rental_id", id); err != nil {
		return err
	}
	if w.Date, err = q.Date("date"); err != nil {
		return err
	}
	if w.Quantity, err = q.OptionalNumber("quantity", MaxQuantity, 1); err != nil {
		return err
	}
	extras := q("extra_id")
	if len(extras) > MaxExtras {
		return request.TooMany("extra_id", MaxExtras)
	}
	for _, text := range extras {
		extra, err := request.ID("extra_id", text)
		if err != nil {
			return err
		}
		w.Extras = append(w.Extras, extra)
	}
	return nil
}
