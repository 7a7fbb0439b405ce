package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Location is the place of a booking as it was at the time of the sale. The
// text that customers read comes from the newest offer, except for Link.
type Location struct {
	ID   uuid.UUID `json:"id"`
	Kind string    `json:"kind"` // a kind of libs/contracts/catalog
	Name string    `json:"name"` // in the default language of the business
	// Link is the template of the meeting link. Secret identifies the secret from which
	// the code in the link is derived (libs/sale/link). Both are set only for links.
	Link   string `json:"link,omitempty"`
	Secret string `json:"secret,omitempty"`
}

// locatedSQL is [othersSQL] with the location of each row. It reads the table,
// because the index of the constraint never_twice does not contain the location.
const locatedSQL = `
SELECT resource_id, lane, holder = '00000000-0000-0000-0000-000000000000', lower(during), upper(during),
       location_id, change_minutes, lower(stay), upper(stay)
FROM occupied_time
WHERE business_id = (SELECT $1::uuid) AND during && (SELECT tstzrange($2, $3))
  AND holder <> (SELECT coalesce($4::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))`

// locatedSpan is one row of locatedSQL.
type locatedSpan struct {
	group            booking.Busy // without spans
	occupied, served timespan.Span
}

func scanLocatedSpan(row pgx.CollectableRow) (locatedSpan, error) {
	var (
		s                    locatedSpan
		start, end           time.Time
		servedFrom, servedTo *time.Time
		location             *uuid.UUID
		change               *int
	)
	err := row.Scan(&s.group.ID, &s.group.CapacityUnit, &s.group.Class, &start, &end, &location, &change, &servedFrom,
		&servedTo)
	s.occupied = timespan.Span{Start: start.Unix(), End: end.Unix()}
	if err == nil && location != nil {
		s.group.LocationID, s.group.ChangeMinutes = *location, *change
		s.served = timespan.Span{Start: servedFrom.Unix(), End: servedTo.Unix() - int64(*change)*60}
	}
	return s, err
}

// groupLocated returns one element for each resource, class flag, location and time to change the location. The spans
// of an element are sorted. No span is repeated, because the guests of one session occupy the same time.
func groupLocated(rows []locatedSpan) []booking.Busy {
	compareGroups := func(a, b booking.Busy) int {
		return cmp.Or(
			slices.Compare(a.ID[:], b.ID[:]), cmp.Compare(a.CapacityUnit, b.CapacityUnit), compareBool(a.Class, b.Class),
			slices.Compare(a.LocationID[:], b.LocationID[:]), cmp.Compare(a.ChangeMinutes, b.ChangeMinutes),
		)
	}
	compare := func(a, b locatedSpan) int {
		return cmp.Or(compareGroups(a.group, b.group), compareSpans(a.occupied, b.occupied),
			compareSpans(a.served, b.served))
	}
	slices.SortFunc(rows, compare)
	rows = slices.CompactFunc(rows, func(a, b locatedSpan) bool { return compare(a, b) == 0 })
	busy := []booking.Busy{}
	for _, r := range rows {
		if n := len(busy); n == 0 || compareGroups(busy[n-1], r.group) != 0 {
			busy = append(busy, r.group)
		}
		last := &busy[len(busy)-1]
		last.Add(r.occupied)
		if last.LocationID != uuid.Nil {
			last.Served = append(last.Served, r.served.Start, r.served.End)
		}
	}
	return busy
}

// findStay returns the time of the services in a part: the occupied time without buffers. A capacity
// unit stays at no location. The arguments `start` and `end` are the start and the end of the booking.
func findStay(unit int, occupied timespan.Span, start, end time.Time) (timespan.Span, bool) {
	served := timespan.Span{Start: max(occupied.Start, start.Unix()), End: min(occupied.End, end.Unix())}
	return served, unit == 0 && served.Start < served.End
}
