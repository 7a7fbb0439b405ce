package usecase

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// FreeTimes holds what the first page of a business shows about free times. If a value is unknown, its map has no
// entry.
type FreeTimes struct {
	First map[uuid.UUID]Slot   // the first free start of a service, by the id of the service
	Left  map[ClassSession]int // the free places of a class session

	readAt  time.Time
	version int64 // version of the snapshot
}

// RemainingAge returns how long the free times may still be shown, at most [FreeTimesAge].
func (f *FreeTimes) RemainingAge(now time.Time) time.Duration {
	return min(max(FreeTimesAge-now.Sub(f.readAt), 0), FreeTimesAge)
}

// ClassSession is one date of a class session.
type ClassSession struct {
	ID   uuid.UUID
	Date timespan.Date
}

const (
	// FreeTimesAge is the maximum age of the free times on the first page. The next pages show the newest free times.
	FreeTimesAge      = 30 * time.Second
	maxFreeServices   = 20   // maximum number of services for which free times are read
	maxFreeBusinesses = 1000 // maximum number of businesses whose free times are cached
)

// FreeTimesCache keeps the free times of businesses for [FreeTimesAge], because a first page with many services needs
// many answers of the availability service. It is safe for concurrent use.
type FreeTimesCache struct {
	shared bulkhead.Shared[*FreeTimes]
	cache  *lru.Cache[string, *FreeTimes]
}

// NewFreeTimesCache returns an empty cache.
func NewFreeTimesCache() *FreeTimesCache {
	return &FreeTimesCache{cache: lru.New[string](maxFreeBusinesses, func(*FreeTimes) int { return 1 })}
}

// FreeTimes returns the first free starts of services without sessions, and the free places of class sessions in the
// next seven days. It leaves out what the availability service does not answer within [Places.MaxWait].
func (s *Shop) FreeTimes(ctx context.Context, b *Business) (*FreeTimes, error) {
	slug := b.Snapshot.Slug
	if f, ok := s.Free.cache.Get(slug); ok && f.version == b.Snapshot.Version && b.Now.Sub(f.readAt) < FreeTimesAge {
		return f, nil
	}
	return s.Free.shared.Do(ctx, slug, func(ctx context.Context) (*FreeTimes, error) {
		f := s.readFreeTimes(ctx, b)
		s.Free.cache.Put(slug, f)
		return f, nil
	})
}

func (s *Shop) readFreeTimes(ctx context.Context, b *Business) *FreeTimes {
	ctx, cancel := context.WithTimeout(ctx, s.Places.MaxWait)
	defer cancel()
	f := &FreeTimes{First: map[uuid.UUID]Slot{}, Left: map[ClassSession]int{}, readAt: b.Now,
		version: b.Snapshot.Version}
	services := b.Snapshot.Services
	for i := range services[:min(len(services), maxFreeServices)] {
		a, err := b.Appointment(Selection{Services: []uuid.UUID{services[i].ID}})
		switch {
		case err != nil: // the service is not offered
		case services[i].IsClass():
			s.addPlaces(ctx, b, a, f)
		default:
			if c, err := s.Times(ctx, b, a, nil); err == nil && c.IsKnown && c.Soonest != nil {
				f.First[services[i].ID] = *c.Soonest
			}
		}
	}
	return f
}

// addPlaces adds the free places of the class sessions that the first page shows.
func (s *Shop) addPlaces(ctx context.Context, b *Business, a *Appointment, f *FreeTimes) {
	last := timespan.Date(0)
	a.Location = nil // the first page shows the sessions at all locations
	for _, start := range b.ClassStarts([]*Service{{ID: a.Selection.Services[0]}}) {
		if start.Date == last {
			continue
		}
		last = start.Date
		c := &Calendar{IsKnown: true, Day: &start.Date}
		if err := s.readSlots(ctx, b, a.calendarQuery(), c); err != nil || !c.IsKnown {
			return
		}
		for _, slot := range c.Slots {
			if slot.ClassScheduleID != nil && slot.RemainingCapacity != nil {
				f.Left[ClassSession{*slot.ClassScheduleID, slot.Date}] = *slot.RemainingCapacity
			}
		}
	}
}
