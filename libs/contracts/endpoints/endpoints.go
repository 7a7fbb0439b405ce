// Package endpoints declares the internal endpoints of services. One value declares an endpoint: its
// method and path, the types of its request and response, and the services that may call it, each with
// the kinds of actors. The server (libs/platform/server) mounts the endpoint from this value and
// refuses all calls that the value does not allow. The client uses the same value to call the endpoint.
//
// The request type of an endpoint describes the whole request:
// path, query and body. [Define] documents the tags of its fields.
package endpoints

import (
	"context"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
)

// API is the internal API of one service.
type API struct {
	Service string
	rows    []*Row

	hasNoBookings bool
}

// NewAPI returns the internal API of a service, without endpoints.
// [Define] and the functions that call it add endpoints.
func NewAPI(service string) *API { return &API{Service: service} }

// WithoutBookings declares that no endpoint of the API returns or changes a booking. So all
// endpoints also serve actors who are limited to locations ([Row.ServesLimited]).
func (a *API) WithoutBookings() *API {
	a.hasNoBookings = true
	return a
}

// Rows returns the declared endpoints of the API.
func (a *API) Rows() []*Row { return slices.Clone(a.rows) }

// By maps the name of each service that may call an endpoint to the kinds of actors for whom
// the service may call. A service without kinds may only read, and its requests have no actor.
type By map[string][]actor.Kind

// Row is the declaration of an endpoint without the types of its request and response.
type Row struct {
	API     *API
	Service string
	Method  string
	Path    string // path parameters are written :name
	Callers By
	Status  int  // status of a successful response
	NoStore bool // reports that caches must not store the response

	plan        *plan
	byLocations bool
}

// ServesLimited reports whether the endpoint serves an actor who is limited to locations
// ([actor.LimitTo]). All other endpoints refuse such an actor.
func (r *Row) ServesLimited() bool { return r.byLocations || r.API.hasNoBookings }

// Allows reports whether a service may call the endpoint for an actor
// of the given kind. The kind "" means a request without an actor.
func (r *Row) Allows(caller string, kind actor.Kind) bool {
	kinds, named := r.Callers[caller]
	if !named {
		return false
	}
	if len(kinds) == 0 {
		return kind == ""
	}
	return slices.Contains(kinds, kind)
}

// Reads reports whether the endpoint only reads.
func (r *Row) Reads() bool {
	for _, kinds := range r.Callers {
		if len(kinds) > 0 {
			return false
		}
	}
	return true
}

// None is the type of a request without parameters and body, and of a response without a body.
type None struct{}

// Target returns the parameters of the request, which identify the object that the request reads or changes.
func (w With[At, Body]) Target() At { return w.At }

// OfBusiness holds the path parameter of a request about one business.
type OfBusiness struct {
	Business uuid.UUID `path:"business"`
}

// OfSlug holds the path parameter of a request about the business with a slug.
type OfSlug struct {
	Slug string `path:"slug"`
}

// ByToken holds the path parameter of a request for a customer's link or a calendar feed: the token in the URL.
type ByToken struct {
	Token string `path:"token"`
}

// With is a request with a body. The field At holds the parameters in the path and in the query of the request.
type With[At, Body any] struct {
	At   At
	Body Body `body:"json"`
}

// Request returns a request with the given parameters and body.
func Request[At, Body any](at At, body Body) With[At, Body] { return With[At, Body]{at, body} }

// About returns a request about a business, with a body.
func About[Body any](business uuid.UUID, body Body) With[OfBusiness, Body] {
	return Request(OfBusiness{business}, body)
}

// Endpoint is the declaration of an endpoint with the types of its request and response.
type Endpoint[Req, Out any] struct{ *Row }

// Define declares an endpoint and adds it to the API. It panics if the path has a parameter for which Req has no
// field. The tag or the type of each field of Req, or of a struct in Req, determines its part of the request:
//
//   - `path:"name"` is the path parameter :name. Its type is string or UUID. With the tag
//     `unknown:"sentence"`, an invalid UUID is reported as a fault not_found with this sentence.
//   - `query:"name"` is a query parameter, of type string or UUID. A zero value is omitted.
//   - A field whose pointer implements [Query] is a group of query parameters.
//   - `body:"json"` is the body. If no field has a tag and the method is not GET, the whole Req is the body.
//     A body of type []byte is sent unchanged.
func Define[Req, Out any](api *API, method, path string, by By) Endpoint[Req, Out] {
	row := &Row{API: api, Service: api.Service, Method: method, Path: path, Callers: by, Status: http.StatusOK,
		plan: compile[Req](method, path)}
	if isNone[Out]() {
		row.Status = http.StatusNoContent
	}
	api.rows = append(api.rows, row)
	return Endpoint[Req, Out]{row}
}

// Get declares an endpoint that reads, with the method GET.
func Get[Req, Out any](api *API, path string, callers ...string) Endpoint[Req, Out] {
	return Define[Req, Out](api, http.MethodGet, path, readers(callers))
}

// Ask declares an endpoint that reads, with the method POST because its request has a body.
func Ask[Req, Out any](api *API, path string, callers ...string) Endpoint[Req, Out] {
	return Define[Req, Out](api, http.MethodPost, path, readers(callers))
}

// Post declares an endpoint that changes something, with the method POST.
func Post[Req, Out any](api *API, path string, by By) Endpoint[Req, Out] {
	return Define[Req, Out](api, http.MethodPost, path, by)
}

// Delete declares an endpoint that deletes something. Its response has no body.
func Delete[Req any](api *API, path string, by By) Endpoint[Req, None] {
	return Define[Req, None](api, http.MethodDelete, path, by)
}

func readers(callers []string) By {
	by := make(By, len(callers))
	for _, caller := range callers {
		by[caller] = nil
	}
	return by
}

// Answers sets the status of a successful response. The default is 200, or 204 if the response has no body.
func (e Endpoint[Req, Out]) Answers(status int) Endpoint[Req, Out] {
	e.Status = status
	return e
}

// Private forbids caches to store the response.
func (e Endpoint[Req, Out]) Private() Endpoint[Req, Out] {
	e.NoStore = true
	return e
}

// ByLocations declares that the endpoint obeys [actor.Locations]: a limited
// actor sees and changes only bookings at the actor's locations.
func (e Endpoint[Req, Out]) ByLocations() Endpoint[Req, Out] {
	e.byLocations = true
	return e
}

// Caller sends requests to a peer service. Its errors are faults. *peer.Client implements it.
type Caller interface {
	// Call sends the argument `in` as JSON and decodes the response into the argument `out`.
	// If `in` is nil, the request has no body; if `out` is nil, the response is not decoded.
	Call(ctx context.Context, method, path string, in, out any) error
	// Ask sends a POST that only reads. Otherwise Ask is like Call.
	Ask(ctx context.Context, path string, in, out any) error
}

// Call sends a request to the endpoint and returns the response.
func (e Endpoint[Req, Out]) Call(ctx context.Context, peer Caller, req Req) (*Out, error) {
	out := new(Out)
	if err := e.send(ctx, peer, &req, out); err != nil {
		return nil, err
	}
	return out, nil
}

// Send sends a request to an endpoint whose response has no body.
func (e Endpoint[Req, Out]) Send(ctx context.Context, peer Caller, req Req) error {
	return e.send(ctx, peer, &req, nil)
}

func (e Endpoint[Req, Out]) send(ctx context.Context, peer Caller, req *Req, out any) error {
	body := e.Body(req)
	if raw, isRaw := body.(*[]byte); isRaw {
		body = *raw
	}
	if e.Method == http.MethodPost && e.Reads() {
		return peer.Ask(ctx, e.URL(req), body, out)
	}
	return peer.Call(ctx, e.Method, e.URL(req), body, out)
}
