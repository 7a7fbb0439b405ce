package api

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// hangingPeers is a fake of catalog and booking that never answers.
type hangingPeers struct{}

func (hangingPeers) Get(ctx context.Context, _ string) (*catalog.Snapshot, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (h hangingPeers) AtLeast(ctx context.Context, slug string, _ int64) (*catalog.Snapshot, error) {
	return h.Get(ctx, slug)
}

func (hangingPeers) Occupied(ctx context.Context, _ uuid.UUID, _, _ time.Time,
	_ booking.OccupiedQuery) (*booking.Occupied, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestGatherStopsAfterReadTimeout(t *testing.T) {
	t.Parallel()
	p := NewPublic(hangingPeers{}, hangingPeers{}, clock.System(), telemetry.Discard())
	p.ReadTimeout = time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m, err := p.gather(ctx, "harbor", query{})
	if err != nil || m.plan != nil || ctx.Err() != nil {
		t.Errorf("the calendar is computed: %v, %v; the request's context has ended: %v", m.plan != nil, err, ctx.Err())
	}
}

func TestRentalDatesStopAfterReadTimeout(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) { n.rentals.isHanging, n.readTimeout = true, time.Millisecond })
	s.get(t, "harbor/rental-available-dates").expect(t, 200,
		`{"days": {}, "computed": false, "timezone": "Europe/Lisbon"}`)
	s.get(t, "elsewhere/rental-available-dates").expect(t, 404,
		`{"error": "Business not found", "messageCode": "business_not_found"}`)
}
