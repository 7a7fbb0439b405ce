package consoletest

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventclient"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// Events has the events that a fake returns from its event log.
type Events struct {
	mu   sync.Mutex
	list []event.Event
}

// Record adds events to the event log of the fake.
func (s *Events) Record(events ...event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, events...)
	slices.SortFunc(s.list, func(a, b event.Event) int {
		return cmp.Or(b.At.Compare(a.At), bytes.Compare(b.ID[:], a.ID[:]))
	})
}

// listEvents lists events as libs/contracts/eventlog does: newest first, in pages that are sorted by time and id.
func (s *Events) listEvents(r *http.Request) (*reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := request.Query(func(name string) []string { return r.URL.Query()[name] })
	filter, err := eventclient.ReadFilter(q)
	if err != nil {
		return nil, err
	}
	page, err := q.Page()
	if err != nil {
		return nil, err
	}
	after, err := page.After(-1<<62, 1<<62)
	if err != nil {
		return nil, err
	}
	found := []event.Event{}
	for _, e := range s.list {
		past := after != nil && cmp.Or(cmp.Compare(e.At.UnixMicro(), after.At),
			bytes.Compare(e.ID[:], after.ID[:])) >= 0
		if !past && e.BusinessID.String() == r.PathValue("business") && matches(filter, e) {
			found = append(found, e)
		}
	}
	found, next := request.Cut(found, page.Limit, func(e event.Event) string {
		return request.ByTime(e.At, e.ID)
	})
	return newReply(event.List{Events: found, NextCursor: next})
}

func matches(f event.Filter, e event.Event) bool {
	return (f.Kind == "" || f.Kind == e.Subject.Kind) && (f.Type == "" || f.Type == e.Type) &&
		(f.Subject == uuid.Nil || f.Subject == e.Subject.ID) &&
		(f.From.IsZero() || !e.At.Before(f.From)) && (f.To.IsZero() || e.At.Before(f.To))
}
