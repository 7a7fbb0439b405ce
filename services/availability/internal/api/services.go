package api

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// resolve finds the services asked for. A business that has switched its services off has none. Faults:
// service_not_found naming the first that is missing or inactive; invalid_parameter for a class-based one.
func resolve(offer *catalog.Offer, ids []uuid.UUID) ([]*catalog.Service, error) {
	services := make([]*catalog.Service, len(ids))
	for i, id := range ids {
		s := offer.Service(id)
		if s == nil || !s.Active || !offer.Modules.Services {
			return nil, fault.Newf(fault.ServiceNotFound, "Service not found: %s", id)
		}
		services[i] = s
	}
	for _, s := range services {
		if len(s.Classes) > 0 {
			return nil, invalid("service_id: %s is booked at its class sessions, which are not offered here; "+
				"ask for a service without classes", s.ID)
		}
	}
	return services, nil
}

// occupiedWithin reads the occupied time of a span, in as many pieces as booking's bound asks for. Time that reaches
// from one piece into the next is reported by both and kept once.
func occupiedWithin(ctx context.Context, peer Occupied, businessID uuid.UUID, span timespan.Span) ([]booking.Busy, error) {
	const most = int64(booking.MaxOccupiedWindow / time.Second)
	var all []booking.Busy
	for from := span.Start; from < span.End; from += most {
		to := min(from+most, span.End)
		piece, err := peer.Occupied(ctx, businessID, time.Unix(from, 0), time.Unix(to, 0), false)
		if err != nil {
			return nil, fmt.Errorf("read the occupied time: %w", err)
		}
		if from == span.Start {
			all = piece.Busy
			continue
		}
		for _, b := range piece.Busy {
			all = append(all, startingFrom(b, from))
		}
	}
	return all, nil
}

// startingFrom drops the spans that begin before an instant.
func startingFrom(b booking.Busy, instant int64) booking.Busy {
	kept := booking.Busy{Resource: b.Resource}
	for _, s := range b.Spans() {
		if s.Start >= instant {
			kept.Add(s)
		}
	}
	return kept
}
