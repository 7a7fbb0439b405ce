package api

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// readOccupied reads the time that bookings occupy within a span. The argument
// `asked` selects further data, and a booking that is ignored.
//
// readOccupied splits the span into windows no longer than [booking.MaxOccupiedWindow]. If a booking occupies
// time in two windows, the booking service returns this time for both windows. The result contains it once.
func readOccupied(ctx context.Context, peer OccupiedReader, businessID uuid.UUID, span timespan.Span,
	asked booking.OccupiedQuery) (booking.Occupied, error) {
	const most = int64(booking.MaxOccupiedWindow / time.Second)
	var all booking.Occupied
	for from := span.Start; from < span.End; from += most {
		to := min(from+most, span.End)
		piece, err := peer.Occupied(ctx, businessID, time.Unix(from, 0), time.Unix(to, 0), asked)
		if err != nil {
			return booking.Occupied{}, fmt.Errorf("read the occupied time: %w", err)
		}
		if from == span.Start {
			all = *piece
			continue
		}
		for _, b := range piece.Busy {
			all.Busy = append(all.Busy, dropEarlierSpans(b, from))
		}
		all.Seats = append(all.Seats, piece.Seats...)
	}
	return all, nil
}

// dropEarlierSpans returns b without the spans that begin before `instant`.
func dropEarlierSpans(b booking.Busy, instant int64) booking.Busy {
	edges, served := b.Edges, b.Served
	b.Edges, b.Served = nil, nil
	for i := 0; i+1 < len(edges); i += 2 {
		if edges[i] < instant {
			continue
		}
		b.Edges = append(b.Edges, edges[i:i+2]...)
		if served != nil {
			b.Served = append(b.Served, served[i:i+2]...)
		}
	}
	return b
}
