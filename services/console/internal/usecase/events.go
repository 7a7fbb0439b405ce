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
)

// EventLister lists the events of one service that owns some; *eventclient.Client is the one outside tests.
type EventLister interface {
	List(ctx context.Context, businessID uuid.UUID, filter event.Filter, page request.Page) (event.List, error)
}

// Events lists what happened to a business and to what it has, newest first: the events of all services that own some, as one list. It is
// whole or refused. All lists go by time and then by id, so that one cursor is a place in each of them. Faults: also
// invalid_parameter for a bad cursor.
func (o *Owner) Events(ctx context.Context, slug string, filter event.Filter, page request.Page) (*event.List, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	var (
		lists = make([]event.List, len(o.Audit))
		errs  = make([]error, len(o.Audit))
		all   sync.WaitGroup
	)
	for i, of := range o.Audit {
		all.Go(func() { lists[i], errs[i] = of.List(ctx, business.ID, filter, page) })
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return merge(lists, page.Limit), nil
}

// merge makes one page of pages that begin at the same place.
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
		merged.NextCursor = request.Cursor{At: last.At.UnixMicro(), ID: last.ID}.String()
	}
	return merged
}
