package bookingclient

import (
	"net/http"

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

// API is the internal API of the booking service.
var API = endpoints.NewAPI("booking")

const (
	business         = "/internal/businesses/:business"
	bookings         = business + "/bookings"
	tickets          = business + "/tickets"
	charges          = business + "/charges/:reservation"
	openReservations = business + "/open-reservations/:reservation"
	manage           = "/internal/manage/:token"
	signIns          = business + "/customer-sign-ins"
	sessions         = business + "/customer-sessions"
	decisions        = business + "/decisions"
)

var (
	owner   = endpoints.By{"console": {actor.Owner}}
	sellers = endpoints.By{"pages": {actor.Page}, "console": {actor.Owner}}
	byPage  = endpoints.By{"rental": {actor.Page}}
	byLink  = endpoints.By{"pages": {actor.Customer}}
	enders  = endpoints.By{"rental": {actor.Page, actor.Customer, actor.Owner, actor.System}}
)

// The endpoints of [API]. The methods of the clients document the endpoints that they call.
var (
	Events = eventclient.Declare(API)

	// The occupied time names no booking; a new booking of a limited actor must avoid all bookings.
	ReadOccupied = endpoints.Get[endpoints.OfBusiness, booking.Occupied](API, business+"/occupied",
		"availability").ByLocations()
	StorePublished = endpoints.Define[With[booking.PublishedOffer], endpoints.None](API, http.MethodPut,
		business+"/offer", endpoints.By{"catalog": {actor.Owner}})
	StoreAddressChanges = endpoints.Define[With[booking.AddressChanges], endpoints.None](API, http.MethodPut,
		business+"/address-changes", owner)
	CountRelocated = endpoints.Ask[With[booking.AddressChanges], booking.AheadCount](API,
		business+"/address-changes/customers", "console")

	CreateKey = endpoints.Post[With[booking.NewKey], booking.Key](API, business+"/keys",
		owner).Answers(http.StatusCreated).Private()
	ListKeys      = endpoints.Get[PageRequest, booking.KeyList](API, business+"/keys", "console")
	RevokeAllKeys = endpoints.Delete[endpoints.OfBusiness](API, business+"/keys", owner)
	RevokeKey     = endpoints.Delete[KeyID](API, business+"/keys/:key", owner)
	CheckKey      = endpoints.Ask[endpoints.None, booking.CheckedKey](API, "/internal/keys/check", "mcp")
	BookForAgent  = endpoints.Post[endpoints.OfSlug, []byte](API, "/internal/api/public/:slug/book",
		endpoints.By{"mcp": {actor.APIKey}}).Answers(http.StatusCreated)

	Book = endpoints.Post[With[BookRequest], booking.Booking](API, bookings,
		sellers).Answers(http.StatusCreated).Private().ByLocations()
	ListBookings = endpoints.Get[BookingsRequest, booking.BookingList](API, bookings, "console").ByLocations()
	CountAhead   = endpoints.Get[endpoints.OfBusiness, booking.AheadCount](API, bookings+"/ahead", "console")
	ReadBooking  = endpoints.Get[BookingID, booking.Booking](API,
		bookings+"/:booking", "notifications", "console").ByLocations()
	ReadBookingLink     = endpoints.Get[SaleID, link.Response](API, bookings+"/:id/link", "notifications").Private()
	PreviewCancellation = endpoints.Get[BookingID, booking.Cancellation](API,
		bookings+"/:booking/cancellation", "console").ByLocations()
	CancelBooking = endpoints.Post[BookingChange[booking.Cancel], booking.Booking](API,
		bookings+"/:booking/cancel", owner).ByLocations()
	RefundBooking = endpoints.Post[BookingChange[booking.NewRefund], booking.Booking](API,
		bookings+"/:booking/refund", owner).ByLocations()
	RescheduleBooking = endpoints.Post[BookingChange[RescheduleRequest], booking.Booking](API,
		bookings+"/:booking/reschedule", owner).ByLocations()
	RelocateBooking = endpoints.Post[BookingChange[RelocateRequest], booking.Booking](API,
		bookings+"/:booking/relocate", owner).ByLocations()
	ChangeBookingStatus = endpoints.Post[TransitionRequest, booking.Booking](API, bookings+"/:booking/:move",
		owner).ByLocations()

	SellTickets = endpoints.Post[With[booking.NewTicket], booking.Ticket](API, tickets,
		sellers).Answers(http.StatusCreated).Private()
	ListTickets       = endpoints.Get[TicketsRequest, booking.TicketList](API, tickets, "console")
	CountTicketsAhead = endpoints.Get[AheadRequest, booking.AheadCount](API, tickets+"/ahead", "console")
	CountSales        = endpoints.Ask[With[booking.SalesRequest], booking.Sales](API,
		tickets+"/sales", "catalog", "console")
	ReadTicket = endpoints.Get[TicketID, booking.Ticket](API,
		tickets+"/:ticket", "notifications", "console")
	ReadTicketLink = endpoints.Get[SaleID, link.Response](API,
		tickets+"/:id/link", "notifications").Private()
	PreviewTicketCancellation = endpoints.Get[TicketID, booking.Cancellation](API,
		tickets+"/:ticket/cancellation", "console")
	CancelTickets = endpoints.Post[TicketChange[booking.Cancel], booking.Ticket](API,
		tickets+"/:ticket/cancel", owner)
	RefundTickets = endpoints.Post[TicketChange[booking.NewRefund], booking.Ticket](API,
		tickets+"/:ticket/refund", owner)

	ReportBookings = endpoints.Get[ReportRequest, booking.BookingsReport](API,
		business+"/reports/bookings", "console")
	ReportRevenue   = endpoints.Get[ReportRequest, report.Revenue](API, business+"/reports/revenue", "console")
	ReportStaffTime = endpoints.Get[StaffTimeRequest, booking.StaffTimeReport](API,
		business+"/reports/staff-time", "console")

	SearchCustomers = endpoints.Ask[With[customer.Search], customer.List](API,
		business+"/customers/search", "console")
	ExportCustomerData = endpoints.Ask[With[customer.Of], booking.CustomerData](API,
		business+"/customers/held", "console")
	ListExpiringCustomers = endpoints.Ask[With[customer.Expiring], customer.ExpiringList](API,
		business+"/customers/expiring", "console")
	EraseCustomer = endpoints.Post[With[customer.Erase], customer.Erased](API, business+"/customers/erase", owner)

	ChangeCustomer = endpoints.Post[With[customer.Change], customer.Written](API, business+"/customers/change", owner)
	MergeCustomers = endpoints.Post[With[customer.MergeRequest], customer.Written](API,
		business+"/customers/merge", owner)
	SeparateCustomers = endpoints.Post[With[customer.Separate], customer.Written](API,
		business+"/customers/separate", owner)
	RemoveCustomerRecord = endpoints.Post[With[customer.RecordRemoval], customer.Removed](API,
		business+"/customers/remove", owner)
	ImportCustomers = endpoints.Post[With[customer.Import], customer.Imported](API,
		business+"/customers/import", owner)
	ListCustomerImports = endpoints.Get[endpoints.OfBusiness, customer.ImportList](API,
		business+"/customers/imports", "console")
	UndoCustomerImport = endpoints.Post[With[customer.UndoImport], customer.Removed](API,
		business+"/customers/imports/undo", owner)

	ListPayments = endpoints.Ask[booking.ReservationPaymentsRequest, booking.ReservationPayments](API,
		"/internal/charges", "rental")
	ListReports = endpoints.Ask[endpoints.None, booking.ReservationPayments](API,
		"/internal/charges/news", "rental")
	AcknowledgeReports = endpoints.Post[booking.ReportAcknowledgements, endpoints.None](API,
		"/internal/charges/noted",
		endpoints.By{"rental": {actor.System}})
	OpenPayment = endpoints.Post[PaymentChange[booking.NewReservationPayment], booking.ReservationCheckout](API,
		charges, byPage).Answers(http.StatusCreated).Private()
	FindCheckout = endpoints.Ask[ReservationID, booking.ReservationCheckout](API, charges+"/page", "rental").Private()
	ClosePayment = endpoints.Post[PaymentChange[booking.ClosePayment], booking.PaymentState](API,
		charges+"/close", enders).Private()
	CountReservation = endpoints.Define[PaymentChange[booking.OpenReservation], endpoints.None](API, http.MethodPut,
		openReservations, byPage).Private()
	UncountReservation = endpoints.Delete[ReservationID](API, openReservations, enders).Private()

	ReadCustomerView = endpoints.Get[endpoints.ByToken, booking.CustomerView](API, manage, "pages").Private()
	ReadCalendar     = endpoints.Get[endpoints.ByToken, []byte](API, manage+"/calendar", "pages").Private()
	CancelByLink     = endpoints.Post[ByToken[booking.CancelByLink], booking.CustomerView](API,
		manage+"/cancel", byLink).Private()
	RescheduleByLink = endpoints.Post[ByToken[booking.Reschedule], booking.CustomerView](API,
		manage+"/reschedule", byLink).Private()
	OpenPaymentPage = endpoints.Post[endpoints.ByToken, booking.OpenPayment](API, manage+"/payment", byLink).Private()

	ReadCalendarFeed   = endpoints.Get[endpoints.ByToken, []byte](API, "/internal/calendars/:token", "pages")
	CreateCalendarFeed = endpoints.Post[With[booking.NewCalendar], booking.Calendar](API, business+"/calendars",
		owner).Answers(http.StatusCreated).Private()
	ListCalendarFeeds  = endpoints.Get[PageRequest, booking.CalendarList](API, business+"/calendars", "console")
	RevokeCalendarFeed = endpoints.Delete[CalendarID](API, business+"/calendars/:id", owner)

	CreateSignIn = endpoints.Post[With[booking.NewSignIn], booking.SignInID](API, signIns,
		endpoints.By{"pages": {actor.Page}}).Answers(http.StatusCreated).Private()
	ReadSignIn    = endpoints.Get[SignInRequest, booking.SignIn](API, signIns+"/:id", "notifications").Private()
	CreateSession = endpoints.Post[With[booking.RedeemSignIn], booking.NewSession](API, sessions,
		byLink).Answers(http.StatusCreated).Private()
	ReadSession = endpoints.Ask[With[booking.SessionSecret], booking.SessionCustomer](API,
		sessions+"/customer", "pages", "rental").Private()
	ListSales = endpoints.Ask[With[booking.CustomerSalesRequest], booking.CustomerSales](API,
		sessions+"/sales", "pages").Private()
	ReadDecisionLink = endpoints.Ask[With[booking.DecisionRecipient], link.Response](API,
		decisions+"/link", "notifications").Private()
	ReadDecision = endpoints.Ask[With[booking.DecisionToken], booking.Decision](API,
		decisions+"/read", "pages").Private()
	MakeDecision = endpoints.Post[With[booking.Decide], endpoints.None](API, decisions,
		endpoints.By{"pages": {actor.Page}})
	EndSession = endpoints.Post[With[booking.SessionSecret], endpoints.None](API, sessions+"/end", byLink)
)

// With is a request about a business, with a body.
type With[Body any] = endpoints.With[endpoints.OfBusiness, Body]

// BookingChange is a request about a booking, with a body.
type BookingChange[Body any] = endpoints.With[BookingID, Body]

// TicketChange is a request about an order of tickets, with a body.
type TicketChange[Body any] = endpoints.With[TicketID, Body]

// PaymentChange is a request about the payment of a reservation, with a body.
type PaymentChange[Body any] = endpoints.With[ReservationID, Body]

// ByToken is a request of a customer's link, with a body.
type ByToken[Body any] = endpoints.With[endpoints.ByToken, Body]

// BookingID identifies a booking.
type BookingID struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"booking"`
}

// TicketID identifies an order of tickets.
type TicketID struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"ticket"`
}

// SaleID identifies a booking or an order of tickets.
type SaleID struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"id"`
}

// KeyID identifies an API key.
type KeyID struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"key"`
}

// CalendarID identifies a calendar feed.
type CalendarID struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"id"`
}

// ReservationID identifies a reservation of the rental service.
type ReservationID struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"reservation"`
}

// PageRequest requests one page of a list about a business.
type PageRequest struct {
	endpoints.OfBusiness
	request.Page
}

// BookRequest makes a booking. Slug is the slug of the business.
type BookRequest struct {
	Slug string `json:"slug"`
	booking.NewBooking
}

// RescheduleRequest changes the time of a booking. Slug is the slug of the business. If BoundsRefund is
// true, a later cancellation refunds at most the share that a cancellation would refund now.
type RescheduleRequest struct {
	Slug         string `json:"slug"`
	BoundsRefund bool   `json:"bounds_refund,omitempty"`
	booking.Reschedule
}

// RelocateRequest changes the location of a booking. Slug is the slug of the business.
type RelocateRequest struct {
	Slug string `json:"slug"`
	booking.Relocate
}

// TransitionRequest changes the status of a booking by the transition Transition.
type TransitionRequest struct {
	BookingID
	Transition string `path:"move"`
}

// BookingsRequest requests one page of the bookings of a business.
type BookingsRequest struct {
	endpoints.OfBusiness
	request.Page
	Filter
}

// TicketsRequest requests one page of the orders of tickets of a business.
type TicketsRequest struct {
	endpoints.OfBusiness
	request.Page
	TicketFilter
}

// AheadRequest requests the number of tickets for future events. Slug is the slug of the business.
type AheadRequest struct {
	endpoints.OfBusiness
	Slug string `query:"slug"`
}

// ReportRequest requests a report about a business.
type ReportRequest struct {
	endpoints.OfBusiness
	request.Report
}

// StaffTimeRequest requests the booked time of staff members. Timezone is the IANA name of the periods' time zone.
type StaffTimeRequest struct {
	endpoints.OfBusiness
	request.Report
	Timezone string `query:"timezone"`
}

// SignInRequest identifies a customer's sign-in.
type SignInRequest struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"id" unknown:"Sign-in not found"`
}
