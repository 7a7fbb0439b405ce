package request

import (
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// A page of a list has 100 entries by default, at most 1000 (admin.md).
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Page selects a part of a list: at most Limit entries after Cursor. Limit 0 means 100; the maximum
// is 1000. Cursor is "" for the first page, and the next_cursor of the page before for the others.
type Page struct {
	Limit  int
	Cursor string
}

// Page reads the parameters limit and cursor. Only the list that returned a cursor can interpret it.
func (q Query) Page() (Page, error) {
	limit, err := q.OptionalNumber("limit", maxLimit, defaultLimit)
	if err != nil {
		return Page{}, err
	}
	cursor, err := q.Text("cursor")
	return Page{Limit: limit, Cursor: cursor}, err
}

// ReadQuery is [Query.Page].
func (p *Page) ReadQuery(q Query) error {
	page, err := q.Page()
	*p = page
	return err
}

// Values returns the parameters that [Query.Page] reads.
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

// Cut shortens a list to limit entries. The caller has read limit + 1 entries, to
// learn whether there is a next page. Cut also returns the cursor of the next
// page, or "" if this page is the last one. after returns the cursor of an entry.
func Cut[T any](list []T, limit int, after func(T) string) ([]T, string) {
	if len(list) <= limit {
		return list, ""
	}
	return list[:limit], after(list[limit-1])
}

// Cursor is the place after an entry in a list that is ordered by a number, such as an instant, and then by id.
type Cursor struct {
	At int64
	ID uuid.UUID
}

// String returns the cursor in the form that lists return.
func (c Cursor) String() string {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.At))
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID[:]...))
}

// After decodes the page's cursor, whose number must be between first and last; nil for the first page.
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

// ByTime returns the cursor of an entry in a list that is ordered by time
// and then by id. The time has PostgreSQL's precision, one microsecond.
func ByTime(at time.Time, id uuid.UUID) string { return Cursor{At: at.UnixMicro(), ID: id}.String() }

// These bounds keep the time of a made-up cursor within the range of PostgreSQL.
var (
	firstTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	lastTime  = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - 1
)

// AfterTime decodes the page's cursor of a list with cursors of [ByTime]; nil for the first page.
func (p Page) AfterTime() (*time.Time, uuid.UUID, error) {
	after, err := p.After(firstTime, lastTime)
	if err != nil || after == nil {
		return nil, uuid.Nil, err
	}
	at := time.UnixMicro(after.At).UTC()
	return &at, after.ID, nil
}

// BadCursor returns the fault of an invalid cursor.
func BadCursor() error {
	return Invalid("cursor: this is not one; send next_cursor of the page before, or leave it out for the first.")
}
