// Package eventclient is the client of the events that a service serves on its internal port (libs/eventlog/eventapi).
package eventclient

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
	"github.com/slotmesh/slotmesh/libs/request"
)

// Client asks one service. Every method returns the fault that the service answered with, or one of kind fault.PeerUnavailable
// where it did not answer.
type Client struct{ peer typed.Caller }

// New returns a client that speaks through caller.
func New(caller typed.Caller) *Client { return &Client{peer: caller} }

// Events returns up to limit events of the feed after a cursor, "" for the oldest that is kept. Where there is none it waits for one,
// for whole seconds up to wait, at most 20; a call of the caller must be allowed to take longer. The page's Next is to be kept with what is
// made of its events. Faults: cursor_expired where events after the cursor are no longer kept.
func (c *Client) Events(ctx context.Context, after string, limit int, wait time.Duration) (event.Page, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}, "wait": {strconv.Itoa(int(wait / time.Second))}}
	if after != "" {
		query.Set("after", after)
	}
	var page event.Page
	err := c.peer.Call(ctx, http.MethodGet, "/internal/events?"+query.Encode(), nil, &page)
	return page, err
}

// List lists events of a business, newest first. Faults: invalid_parameter for a bad filter or page.
func (c *Client) List(ctx context.Context, businessID uuid.UUID, filter event.Filter, page request.Page) (event.List, error) {
	query := filter.Values()
	maps.Copy(query, page.Values())
	var list event.List
	err := c.peer.Call(ctx, http.MethodGet, "/internal/businesses/"+businessID.String()+"/events?"+query.Encode(), nil, &list)
	return list, err
}
