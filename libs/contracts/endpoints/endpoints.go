// Package endpoints declares the internal endpoints of services. One value declares an endpoint: its method and
// path, its types, which services may call it, and for which kinds of actors. The server mounts the endpoint
// with that value (libs/platform/server) and refuses every call that it does not allow. The client calls by it.
//
// The type Req of an endpoint holds the whole request: [Define] lists the tags of its fields.
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
}

// NewAPI returns the internal API of a service. Its endpoints are added by [Define] and the functions that call it.
func NewAPI(service string) *API { return &API{Service: service} }

// Rows returns the endpoints that are declared for the API.
func (a *API) Rows() []*Row { return slices.Clone(a.rows) }

// By maps each service that may call an endpoint to the kinds of actors on whose behalf it may
// call. A service without kinds may only read, and its requests name no actor.
type By map[string][]actor.Kind

// Row is the declaration of an endpoint without its types.
type Row struct {
	API     *API
	Service string
	Method  string
	Path    string // with :names for parameters
	Callers By
	Status  int  // of an answer
	NoStore bool // caches must not store the answer

	plan *plan
}

// Allows reports whether a service may call for an actor of this kind; "" means no actor.
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

// Reads reports whether the endpoint changes nothing.
func (r *Row) Reads() bool {
	for _, kinds := range r.Callers {
		if len(kinds) > 0 {
			return false
		}
	}
	return true
}

// None is the type of a request without parameters and body, and of an answer without a body.
type None struct{}

// Target returns what the request is about.
func (w With[At, Body]) Target() At { return w.At }

// OfBusiness is a request about a business, or its part At of [With].
type OfBusiness struct {
	Business uuid.UUID `path:"business"`
}

// ByToken is a request by the token of a customer's link or of a calendar feed.
type ByToken struct {
	Token string `path:"token"`
}

// With is a request with a body. At holds the parameters of the path and the query.
type With[At, Body any] struct {
	At   At
	Body Body `body:"json"`
}

// Request returns a request with a body.
func Request[At, Body any](at At, body Body) With[At, Body] { return With[At, Body]{at, body} }

// About returns a request with a body about a business.
func About[Body any](business uuid.UUID, body Body) With[OfBusiness, Body] {
	return Request(OfBusiness{business}, body)
}

// Endpoint is the declaration of an endpoint with the types of its request and its answer.
type Endpoint[Req, Out any] struct{ *Row }

// Define declares an endpoint. It panics for a request type that does not fit the path. A field of Req, or of a
// struct in Req, is a part of the request by its tag or type:
//
//   - `path:"name"` is the path parameter :name, of type string or UUID. With the tag `unknown:"sentence"`, an
//     invalid UUID is the fault not_found with this sentence.
//   - `query:"name"` is a query parameter of the same types; the zero value omits it.
//   - A field whose pointer implements [Query] is a group of query parameters.
//   - `body:"json"` is the body. If no field has a tag and the method is not GET, the whole Req is the body.
func Define[Req, Out any](api *API, method, path string, by By) Endpoint[Req, Out] {
	row := &Row{API: api, Service: api.Service, Method: method, Path: path, Callers: by, Status: http.StatusOK,
		plan: compile[Req](method, path)}
	if isNone[Out]() {
		row.Status = http.StatusNoContent
	}
	api.rows = append(api.rows, row)
	return Endpoint[Req, Out]{row}
}

// Get declares an endpoint that reads.
func Get[Req, Out any](api *API, path string, callers ...string) Endpoint[Req, Out] {
	return Define[Req, Out](api, http.MethodGet, path, readers(callers))
}

// Ask declares an endpoint that reads by a POST, because its request has a body.
func Ask[Req, Out any](api *API, path string, callers ...string) Endpoint[Req, Out] {
	return Define[Req, Out](api, http.MethodPost, path, readers(callers))
}

// Post declares an endpoint that changes something by a POST.
func Post[Req, Out any](api *API, path string, by By) Endpoint[Req, Out] {
	return Define[Req, Out](api, http.MethodPost, path, by)
}

// Delete declares an endpoint that removes something and has an answer without a body.
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

// Answers sets the status of an answer; the default is 200, or 204 without a body.
func (e Endpoint[Req, Out]) Answers(status int) Endpoint[Req, Out] {
	e.Status = status
	return e
}

// Private forbids caches to store the answer.
func (e Endpoint[Req, Out]) Private() Endpoint[Req, Out] {
	e.NoStore = true
	return e
}

// Caller sends requests to a peer; the implementation is *peer.Client. Its errors are faults.
type Caller interface {
	// Call sends in as JSON and decodes the answer into out; nil sends or decodes nothing.
	Call(ctx context.Context, method, path string, in, out any) error
	// Ask sends a POST that changes nothing.
	Ask(ctx context.Context, path string, in, out any) error
}

// Call sends a request to the endpoint and returns the answer.
func (e Endpoint[Req, Out]) Call(ctx context.Context, peer Caller, req Req) (*Out, error) {
	out := new(Out)
	if err := e.send(ctx, peer, &req, out); err != nil {
		return nil, err
	}
	return out, nil
}

// Send is [Endpoint.Call] for an endpoint whose answer has no body.
func (e Endpoint[Req, Out]) Send(ctx context.Context, peer Caller, req Req) error {
	return e.send(ctx, peer, &req, nil)
}

func (e Endpoint[Req, Out]) send(ctx context.Context, peer Caller, req *Req, out any) error {
	body := e.Body(req)
	if e.Method == http.MethodPost && e.Reads() {
		return peer.Ask(ctx, e.URL(req), body, out)
	}
	return peer.Call(ctx, e.Method, e.URL(req), body, out)
}
