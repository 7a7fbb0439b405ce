// Package eventapi serves the events of a service on its internal port. It serves the feed of all events,
// and the audit log of each business. The endpoints and the client are in libs/contracts/eventclient.
package eventapi

import (
	"context"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventclient"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

// margin is the time that is left to send the response after the longest wait.
const margin = time.Second

// Serve adds the endpoints of events to a service. It also starts a job that removes old events.
//
// If no event follows the cursor, a request for the feed waits for an event,
// at most until shortly before its own deadline.
func Serve(s *server.Server, of eventclient.Endpoints, log *eventlog.Log) {
	server.Mount(s.Internal, of.Feed, func(ctx context.Context, r eventclient.FeedRequest) (*event.Page, error) {
		wait := time.Duration(r.Wait)
		if deadline, ok := ctx.Deadline(); ok {
			wait = min(wait, max(0, time.Until(deadline)-margin))
		}
		page, err := log.Feed(ctx, r.After, r.Limit, wait, s.IsDraining)
		return &page, err
	})
	server.Mount(s.Internal, of.List, func(ctx context.Context, r eventclient.ListRequest) (*event.List, error) {
		list, err := log.List(ctx, r.Business, r.Filter.Filter, r.Page)
		return &list, err
	})
	s.Go("removing old events", log.Run)
}
