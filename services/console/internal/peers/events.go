package peers

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// EventLister lists the events of one service. *eventclient.Client implements it for other services, and *eventlog.Log
// for console's own events.
type EventLister interface {
	List(ctx context.Context, businessID uuid.UUID, filter event.Filter, page request.Page) (event.List, error)
}

// ListBusinessEvents lists the events of a business and its objects, newest first. It merges the events of all other
// services into one list. If one service cannot answer, the whole call fails. Fault: invalid_parameter for an invalid
// cursor.
//
// All services sort their events by time and then by id, so the same cursor is valid for all services.
func (o *Peers) ListBusinessEvents(ctx context.Context, slug string, filter event.Filter,
	page request.Page) (*event.List, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return listAll(ctx, o.Audit, business.ID, filter, page)
}

// ListAuditLog lists the events that [Peers.ListBusinessEvents] lists. If the principal manages the team, ListAuditLog
// also lists the events about the team's people and tokens.
func (o *Peers) ListAuditLog(ctx context.Context, by Principal, slug string, filter event.Filter,
	page request.Page) (*event.List, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	from := o.Audit
	if by.PermissionIn(business.ID, access.ManageTeam) != access.None {
		from = append(slices.Clone(from), o.TeamLog)
	}
	return listAll(ctx, from, business.ID, filter, page)
}

// ListTeamEvents lists the events about the people and tokens of a business, newest first. Faults: forbidden;
// invalid_parameter for an invalid cursor.
func (o *Peers) ListTeamEvents(ctx context.Context, by Principal, businessID uuid.UUID,
	page request.Page) (event.List, error) {
	if err := by.Require(businessID, access.ManageTeam); err != nil {
		return event.List{}, err
	}
	return o.TeamLog.List(ctx, businessID, event.Filter{}, page)
}

// listAll reads the events of all services concurrently, and merges them into one page.
func listAll(ctx context.Context, from []EventLister, businessID uuid.UUID, filter event.Filter,
	page request.Page) (*event.List, error) {
	var (
		lists = make([]event.List, len(from))
		errs  = make([]error, len(from))
		all   sync.WaitGroup
	)
	for i, of := range from {
		all.Go(func() { lists[i], errs[i] = of.List(ctx, businessID, filter, page) })
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return merge(lists, page.Limit), nil
}

// merge merges pages of several lists into one page of at most `limit` events. All pages must have been read with the
// same cursor.
func merge(lists []event.List, limit int) *event.List {
	merged := &event.List{Events: []event.Event{}}
	more := false
	for _, l := range lists {
		merged.Events = append(merged.Events, l.Events...)
		more = more || l.NextCursor != ""
	}
	slices.SortFunc(merged.Events, func(a, b event.Event) int {
		return cmp.Or(b.At.Compare(a.At), bytes.Compare(b.ID[:], a.ID[:]))
	})
	if len(merged.Events) > limit {
		merged.Events, more = merged.Events[:limit], true
	}
	if n := len(merged.Events); more && n > 0 {
		last := merged.Events[n-1]
		merged.NextCursor = request.ByTime(last.At, last.ID)
	}
	return merged
}
