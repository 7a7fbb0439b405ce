package request

import (
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// Lists page by 100 entries, at most by 1000 (admin.md).
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Page names a part of a list: at most Limit entries (0: the default of 100; at most 1000) after Cursor, which is "" for the
// first page and a list's next_cursor for the following ones.
type Page struct {
	Limit  int
	Cursor string
}

// Page reads limit and cursor. Only the list that gave a cursor knows what it means.
func (q Query) Page() (Page, error) {
	limit, err := q.OptionalNumber("limit", maxLimit, defaultLimit)
	if err != nil {
		return Page{}, err
	}
	cursor, err := q.Text("cursor")
	return Page{Limit: limit, Cursor: cursor}, err
}

// Values are the parameters that [Query.Page] reads.
func (p Page) Values() url.Values {
	query := url.Values{}
	if p.Limit != 0 {
		query.Set("limit", strconv.Itoa(p.Limit))
	}
	if p.Cursor != "" {
		query.Set("cursor", p.Cursor)
	}
	return query
}

// Cut cuts a list that was read one longer than limit, and says where the next page begins: at after its last entry, or ""
// where there is none.
func Cut[T any](list []T, limit int, after func(T) string) ([]T, string) {
	if len(list) <= limit {
		return list, ""
	}
	return list[:limit], after(list[limit-1])
}

// Cursor is the place right after an entry in a list that goes by a number, such as an instant, and then by the entry's id.
type Cursor struct {
	At int64
	ID uuid.UUID
}

// String is the cursor as a list gives it out.
func (c Cursor) String() string {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.At))
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID[:]...))
}

// After reads the page's cursor, whose number lies from first to last; nil on the first page.
func (p Page) After(first, last int64) (*Cursor, error) {
	if p.Cursor == "" {
		return nil, nil
	}
	const number = 8
	b, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil || len(b) != number+len(uuid.UUID{}) {
		return nil, BadCursor()
	}
	c := Cursor{At: int64(binary.BigEndian.Uint64(b)), ID: uuid.UUID(b[number:])}
	if c.At < first || c.At > last {
		return nil, BadCursor()
	}
	return &c, nil
}

// ByTime is the cursor of an entry in a list that goes by a time, to the microsecond, as PostgreSQL keeps it, and then by id.
func ByTime(at time.Time, id uuid.UUID) string { return Cursor{At: at.UnixMicro(), ID: id}.String() }

// These bounds keep a cursor that a client made up within the times that PostgreSQL can read.
var (
	firstTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	lastTime  = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - 1
)

// AfterTime reads the page's cursor of a list that goes [ByTime]; nil on the first page.
func (p Page) AfterTime() (*time.Time, uuid.UUID, error) {
	after, err := p.After(firstTime, lastTime)
	if err != nil || after == nil {
		return nil, uuid.Nil, err
	}
	at := time.UnixMicro(after.At).UTC()
	return &at, after.ID, nil
}

// BadCursor refuses a cursor that no list gave.
func BadCursor() error {
	return Invalid("cursor: this is not one; send next_cursor of the page before, or leave it out for the first.")
}
