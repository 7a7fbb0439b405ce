package availability

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

// API is the internal API of the availability service.
var API = endpoints.NewAPI("availability").WithoutBookings()

// The endpoints of [API]. Their faults are business_not_found, service_not_found and invalid_parameter. The fault is
// fault.PeerUnavailable if availability did not answer, or could not reach the catalog service.
//
// If [ExplainStart] or [ComputeAgenda] cannot read the data that it needs, the field Computed of its result is false.
var (
	ListSlots = endpoints.Get[endpoints.OfSlug, json.RawMessage](API,
		"/internal/api/public/:slug/slots", "console", "mcp", "pages")
	ListAvailableDates = endpoints.Get[endpoints.OfSlug, json.RawMessage](API,
		"/internal/api/public/:slug/available-dates", "console", "mcp", "pages")
	ExplainNoStarts = endpoints.Get[endpoints.OfSlug, NoStarts](API,
		"/internal/api/public/:slug/no-starts", "mcp")

	FindAssignments    = endpoints.Ask[BookableRequest, BookableResponse](API, "/internal/bookable", "booking")
	ComputeAgenda      = endpoints.Ask[AgendaRequest, Agenda](API, "/internal/agenda", "console")
	ExplainStart       = endpoints.Ask[ExplainRequest, Explanation](API, "/internal/explain", "console")
	ComputeWorkingTime = endpoints.Ask[WorkingTimeRequest, WorkingTime](API, "/internal/working-time", "console")
	FindConflicts      = endpoints.Ask[ConflictsRequest, ConflictsResponse](API, "/internal/outside", "console")
)

// Client is the client of the internal API of the availability service.
type Client struct{ peer endpoints.Caller }

// NewClient returns a client that sends its requests through the argument `peer`.
func NewClient(peer endpoints.Caller) *Client { return &Client{peer: peer} }

// Bookable calls [FindAssignments].
func (c *Client) Bookable(ctx context.Context, request BookableRequest) (*BookableResponse, error) {
	return FindAssignments.Call(ctx, c.peer, request)
}

// Slots calls [ListSlots] with the query parameters of /slots (interface.md §4). The parameters `moving` and
// `party_size` list the starts to which a booking can move.
func (c *Client) Slots(ctx context.Context, slug string, query url.Values) (*publicapi.SlotList, error) {
	return read[publicapi.SlotList](ctx, c.peer, ListSlots, slug, query)
}

// AvailableDates calls [ListAvailableDates] with the query parameters of /available-dates and those of [Client.Slots].
func (c *Client) AvailableDates(ctx context.Context, slug string, query url.Values) (*publicapi.AvailableDates, error) {
	return read[publicapi.AvailableDates](ctx, c.peer, ListAvailableDates, slug, query)
}

func read[T any](ctx context.Context, peer endpoints.Caller, from endpoints.Endpoint[endpoints.OfSlug, json.RawMessage],
	slug string, query url.Values) (*T, error) {
	out := new(T)
	at := from.URL(&endpoints.OfSlug{Slug: slug}) + "?" + query.Encode()
	if err := peer.Call(ctx, http.MethodGet, at, nil, out); err != nil {
		return nil, err
	}
	return out, nil
}
