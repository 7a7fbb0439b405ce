package feed

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/slotmesh/slotmesh/libs/event"
)

// Caller sends one request of a peer and decodes its answer; *peer.Client is the one outside tests. Its errors are faults.
type Caller interface {
	Call(ctx context.Context, method, path string, in, out any) error
}

// Client reads a feed over a peer's internal port.
type Client struct{ Peer Caller }

// Events asks `GET /internal/events`.
func (c Client) Events(ctx context.Context, after string, limit int, wait time.Duration) (event.Page, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}, "wait": {fmt.Sprint(int(wait.Seconds()))}}
	if after != "" {
		query.Set("after", after)
	}
	var page event.Page
	err := c.Peer.Call(ctx, http.MethodGet, "/internal/events?"+query.Encode(), nil, &page)
	return page, err
}
