// Package eventclient is the client of the event feed and the audit log on the
// internal port of a service. Package libs/contracts/eventlog/eventapi is the server.
package eventclient

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/typed"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// Client reads the events of one service. Every method returns the fault that
// the service sent, or fault.PeerUnavailable if the service did not answer.
type Client struct{ peer typed.Caller }

// New returns a client that sends its requests through the argument `caller`.
func New(caller typed.Caller) *Client { return &Client{peer: caller} }

// Events returns the events of the feed that follow a cursor, at most as many as the argument `limit`.
// The argument `after` is the cursor; "" stands for the place before the oldest stored event. If no
// event follows the cursor, the service waits for one. The argument `wait` is the maximal time to
// wait: whole seconds, at most 20. The timeout of the caller that was passed to [New] must be longer.
//
// The reader must store Next of the page in the same transaction in which it stores the effects
// of the events. Faults: cursor_expired if events after the cursor were already deleted.
func (c *Client) Events(ctx context.Context, after string, limit int, wait time.Duration) (event.Page, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}, "wait": {strconv.Itoa(int(wait / time.Second))}}
	if after != "" {
		query.Set("after", after)
	}
	var page event.Page
	err := c.peer.Call(ctx, http.MethodGet, "/internal/events?"+query.Encode(), nil, &page)
	return page, err
}

// List returns one page of the events of a business, newest
// first. Faults: invalid_parameter for an invalid filter or page.
func (c *Client) List(ctx context.Context, businessID uuid.UUID, filter event.Filter,
	page request.Page) (event.List, error) {
	query := filter.Values()
	maps.Copy(query, page.Values())
	var list event.List
	err := c.peer.Call(ctx, http.MethodGet, "/internal/businesses/"+businessID.String()+"/events?"+query.Encode(), nil,
		&list)
	return list, err
}
