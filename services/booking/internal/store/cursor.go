package store

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// cursor is the place in a list right after an entry: the time the list goes by and the id that makes it unique.
type cursor struct {
	At time.Time // to the microsecond, as the database keeps it
	ID uuid.UUID
}

// instant is At, or nil at the beginning of a list.
func (c cursor) instant() *time.Time {
	if c.At.IsZero() {
		return nil
	}
	return &c.At
}

func (c cursor) String() string {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.At.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID[:]...))
}

// parseCursor reads what String wrote; "" is the beginning.
func parseCursor(s string) (cursor, error) {
	if s == "" {
		return cursor{}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != 8+len(uuid.UUID{}) {
		return cursor{}, ErrBadCursor
	}
	at := time.UnixMicro(int64(binary.BigEndian.Uint64(b))).UTC()
	if at.Year() < 1 || at.Year() > 9999 {
		return cursor{}, ErrBadCursor
	}
	return cursor{At: at, ID: uuid.UUID(b[8:])}, nil
}

// page cuts a list that was read one longer than limit, and says where the next page begins.
func page[T any](list []T, limit int, at func(T) cursor) ([]T, string) {
	if len(list) <= limit {
		return list, ""
	}
	return list[:limit], at(list[limit-1]).String()
}
