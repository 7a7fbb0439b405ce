package usecase

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
)

// EventLister lists the events of one service. *eventclient.Client lists those of another service, *eventlog.Log
// console's own.
type EventLister interface {
	List(ctx context.Context, businessID uuid.UUID, filter event.Filter, page request.Page) (event.List, error)
}

// Events lists the events of a business and its objects, newest first, from all services that have events, as one list.
// If one service cannot answer, the whole call fails. All lists are sorted by time and then by id, so that one cursor
// is valid for each of them. Faults: also invalid_parameter for a bad cursor.
func (o *Owner) Events(ctx context.Context, slug string, filter event.Filter, page request.Page) (*event.List, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	return listAll(ctx, o.Audit, business.ID, filter, page)
}

// AuditLog lists the same events as [Owner.Events]. A person who manages the team also sees the events of its people
// and tokens.
func (o *Owner) AuditLog(ctx context.Context, by Principal, slug string, filter event.Filter, page request.Page) (*event.List, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	from := o.Audit
	if by.Reach(business.ID, access.ManageTeam) != access.None {
		from = append(slices.Clone(from), o.TeamLog)
	}
	return listAll(ctx, from, business.ID, filter, page)
}

// TeamEvents lists the events of the people and tokens of a business, newest first. Faults: forbidden;
// invalid_parameter for a bad cursor.
func (o *Owner) TeamEvents(ctx context.Context, by Principal, businessID uuid.UUID, page request.Page) (event.List, error) {
	if err := by.Require(businessID, access.ManageTeam); err != nil {
		return event.List{}, err
	}
	return o.TeamLog.List(ctx, businessID, event.Filter{}, page)
}

// listAll asks all services concurrently and merges their events into one list.
func listAll(ctx context.Context, from []EventLister, businessID uuid.UUID, filter event.Filter, page request.Page) (*event.List, error) {
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

// merge makes one page of the pages of several lists that have the same cursor.
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
