package store

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// cursor is the place in the list right after a reservation: what the list goes by and the id that makes it unique.
type cursor struct {
	Date   timespan.Date
	Minute int // of the start; 0 for whole dates
	ID     uuid.UUID
}

func (c cursor) String() string {
	b := binary.BigEndian.AppendUint32(nil, uint32(c.Date))
	b = binary.BigEndian.AppendUint16(b, uint16(c.Minute))
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID[:]...))
}

// Dates that a list can hold: those that can be written with four digits.
var firstDate, lastDate = timespan.NewDate(0, 1, 1), timespan.NewDate(9999, 12, 31)

// parseCursor reads what String wrote; "" is the beginning.
func parseCursor(s string) (cursor, error) {
	if s == "" {
		return cursor{}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != 6+len(uuid.UUID{}) {
		return cursor{}, ErrBadCursor
	}
	c := cursor{
		Date: timespan.Date(int32(binary.BigEndian.Uint32(b))), Minute: int(binary.BigEndian.Uint16(b[4:])),
		ID: uuid.UUID(b[6:]),
	}
	if c.Date < firstDate || c.Date > lastDate {
		return cursor{}, ErrBadCursor
	}
	return c, nil
}
