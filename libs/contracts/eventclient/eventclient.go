// Package eventclient declares the event feed and the audit log on the internal port of a service, and has
// the client of both. Package libs/contracts/eventlog/eventapi is the server.
package eventclient

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// Endpoints are the internal endpoints for the events of one service.
type Endpoints struct {
	Feed endpoints.Endpoint[FeedRequest, event.Page] // the feed of all events
	List endpoints.Endpoint[ListRequest, event.List] // the audit log of a business
}

// Declare adds the endpoints of events to the API of a service.
func Declare(api *endpoints.API) Endpoints {
	return Endpoints{
		Feed: endpoints.Get[FeedRequest, event.Page](api, "/internal/events", "notifications"),
		List: endpoints.Get[ListRequest, event.List](api, "/internal/businesses/:business/events", "console"),
	}
}

// FeedRequest requests the events that follow the cursor After, at most Limit.
type FeedRequest struct {
	After string `query:"after"`
	request.Page
	Wait Wait
}

// ListRequest requests one page of the events of a business that match the filter.
type ListRequest struct {
	endpoints.OfBusiness
	request.Page
	Filter
}

// Wait is the maximal time for which a request waits for an event. It is sent in whole seconds.
type Wait time.Duration

// maxWait is the maximal time for which a request can wait.
const maxWait = 20 * time.Second

// Values returns the time as a query parameter.
func (w Wait) Values() url.Values {
	return url.Values{"wait": {strconv.Itoa(int(time.Duration(w) / time.Second))}}
}

// ReadQuery reads the time from the query parameter `wait`. Fault: invalid_parameter.
func (w *Wait) ReadQuery(q request.Query) error {
	text, err := q.Text("wait")
	if err != nil || text == "" || text == "0" {
		return err
	}
	seconds, err := request.Number("wait", text, int(maxWait/time.Second))
	*w = Wait(time.Duration(seconds) * time.Second)
	return err
}

// Client reads the events of one service. Every method returns the fault that
// the service sent, or fault.PeerUnavailable if the service did not answer.
type Client struct {
	peer endpoints.Caller
	of   Endpoints
}

// New returns a client that sends its requests to the given endpoints through the argument `caller`.
func New(caller endpoints.Caller, of Endpoints) *Client { return &Client{peer: caller, of: of} }

// Events returns the events of the feed that follow a cursor, at most as many as the argument `limit`.
// The argument `after` is the cursor; "" stands for the place before the oldest stored event. If no
// event follows the cursor, the service waits for one. The argument `wait` is the maximal time to
// wait: whole seconds, at most 20. The timeout of the caller that was passed to [New] must be longer.
//
// The reader must store Next of the page in the same transaction in which it stores the effects
// of the events. Faults: cursor_expired if events after the cursor were already deleted.
func (c *Client) Events(ctx context.Context, after string, limit int, wait time.Duration) (event.Page, error) {
	page, err := c.of.Feed.Call(ctx, c.peer, FeedRequest{after, request.Page{Limit: limit}, Wait(wait)})
	if err != nil {
		return event.Page{}, err
	}
	return *page, nil
}

// List returns one page of the events of a business, newest
// first. Faults: invalid_parameter for an invalid filter or page.
func (c *Client) List(ctx context.Context, businessID uuid.UUID, filter event.Filter,
	page request.Page) (event.List, error) {
	list, err := c.of.List.Call(ctx, c.peer,
		ListRequest{endpoints.OfBusiness{Business: businessID}, page, Filter{filter}})
	if err != nil {
		return event.List{}, err
	}
	return *list, nil
}
