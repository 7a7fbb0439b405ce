package endpoints

import (
	"net/http"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
)

// Of returns those endpoints in [All] that belong to a service.
func Of(service string) []*Row {
	var rows []*Row
	for _, e := range All {
		if e.Service == service {
			rows = append(rows, e)
		}
	}
	return rows
}

// The names of the services.
const (
	catalog       = "catalog"
	pricing       = "pricing"
	availability  = "availability"
	booking       = "booking"
	rental        = "rental"
	mcp           = "mcp"
	notifications = "notifications"
	pages         = "pages"
	console       = "console"
)

const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	remove = http.MethodDelete
)

type by = By

// byOwner allows calls by the console service on behalf of an owner.
var byOwner = by{console: {actor.Owner}}

// byLink allows calls by the pages service on behalf of a customer who uses the link of a sale.
var byLink = by{pages: {actor.Customer}}

// read returns the declaration of an endpoint that only reads.
func read(service, method, path string, callers ...string) *Row {
	e := &Row{Service: service, Method: method, Path: path, Callers: by{}}
	for _, caller := range callers {
		e.Callers[caller] = nil
	}
	return e
}

// write returns the declaration of an endpoint that changes something.
func write(service, method, path string, callers by) *Row {
	return &Row{Service: service, Method: method, Path: path, Callers: callers}
}

// All holds the endpoints that are not yet declared by [Define]. Package apis lists all endpoints.
var All = ofBooking

const business = "/internal/businesses/:business"

var ofBooking = []*Row{
	read(booking, get, business+"/occupied", availability),
	write(booking, put, business+"/offer", by{catalog: {actor.Owner}}),
	write(booking, post, business+"/keys", byOwner),
	read(booking, get, business+"/keys", console),
	write(booking, remove, business+"/keys", byOwner),
	write(booking, remove, business+"/keys/:key", byOwner),
	read(booking, post, "/internal/keys/check", mcp),
	write(booking, post, "/internal/api/public/:slug/book", by{mcp: {actor.APIKey}}),
	write(booking, post, business+"/bookings", by{pages: {actor.Page}, console: {actor.Owner}}),
	read(booking, get, business+"/bookings", console),
	read(booking, get, business+"/bookings/ahead", console),
	read(booking, get, business+"/bookings/:booking", notifications, console),
	read(booking, get, business+"/bookings/:id/link", notifications),
	read(booking, get, business+"/bookings/:booking/cancellation", console),
	write(booking, post, business+"/bookings/:booking/cancel", byOwner),
	write(booking, post, business+"/bookings/:booking/refund", byOwner),
	write(booking, post, business+"/bookings/:booking/reschedule", byOwner),
	write(booking, post, business+"/bookings/:booking/relocate", byOwner),
	write(booking, post, business+"/bookings/:booking/:move", byOwner),
	write(booking, post, business+"/tickets", by{pages: {actor.Page}, console: {actor.Owner}}),
	read(booking, get, business+"/tickets", console),
	read(booking, get, business+"/tickets/ahead", console),
	read(booking, post, business+"/tickets/sales", catalog, console),
	read(booking, get, business+"/tickets/:ticket", notifications, console),
	read(booking, get, business+"/tickets/:id/link", notifications),
	read(booking, get, business+"/tickets/:ticket/cancellation", console),
	write(booking, post, business+"/tickets/:ticket/cancel", byOwner),
	write(booking, post, business+"/tickets/:ticket/refund", byOwner),
	read(booking, get, business+"/reports/bookings", console),
	read(booking, get, business+"/reports/revenue", console),
	read(booking, get, business+"/reports/staff-time", console),
	read(booking, post, business+"/customers/search", console),
	read(booking, post, business+"/customers/held", console),
	read(booking, post, business+"/customers/expiring", console),
	write(booking, post, business+"/customers/erase", byOwner),
	read(booking, post, "/internal/charges", rental),
	read(booking, post, "/internal/charges/news", rental),
	write(booking, post, "/internal/charges/noted", by{rental: {actor.System}}),
	write(booking, post, business+"/charges/:reservation", by{rental: {actor.Page}}),
	read(booking, post, business+"/charges/:reservation/page", rental),
	write(booking, post, business+"/charges/:reservation/close",
		by{rental: {actor.Page, actor.Customer, actor.Owner, actor.System}}),
	write(booking, put, business+"/open-reservations/:reservation", by{rental: {actor.Page}}),
	write(booking, remove, business+"/open-reservations/:reservation",
		by{rental: {actor.Page, actor.Customer, actor.Owner, actor.System}}),
	read(booking, get, "/internal/manage/:token", pages),
	read(booking, get, "/internal/manage/:token/calendar", pages),
	write(booking, post, "/internal/manage/:token/cancel", byLink),
	write(booking, post, "/internal/manage/:token/reschedule", byLink),
	write(booking, post, "/internal/manage/:token/payment", byLink),
	read(booking, get, "/internal/calendars/:token", pages),
	write(booking, post, business+"/calendars", byOwner),
	read(booking, get, business+"/calendars", console),
	write(booking, remove, business+"/calendars/:id", byOwner),
}
