package store

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/request"
)

// cursor is the place right after an entry of a list that goes by a time, to the microsecond, and then by id.
func cursor(at time.Time, id uuid.UUID) string {
	return request.Cursor{At: at.UnixMicro(), ID: id}.String()
}

// place is where a page begins: after this time and id, nil at the beginning.
func place(page request.Page) (*time.Time, uuid.UUID, error) {
	// These bounds keep a cursor that a client made up within the times that PostgreSQL can read.
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	after, err := page.After(first.UnixMicro(), last.UnixMicro()-1)
	if err != nil || after == nil {
		return nil, uuid.Nil, err
	}
	at := time.UnixMicro(after.At).UTC()
	return &at, after.ID, nil
}
