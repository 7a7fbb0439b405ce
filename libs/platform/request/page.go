package request

import (
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// defaultLimit and maxLimit are the default and the maximal number of entries on a page of a list (admin.md).
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Page selects a part of a list: at most Limit entries after the position Cursor. Limit 0 stands for 100 entries; the
// maximum is 1000. For the first page, Cursor is "". For each later page, Cursor is the next_cursor of the previous
// page.
type Page struct {
	Limit  int
	Cursor string
}

// Page reads the query parameters `limit` and `cursor`. It does not check the cursor, because each kind of list has its
// own form of cursors. Fault: invalid_parameter.
func (q Query) Page() (Page, error) {
	limit, err := q.OptionalNumber("limit", maxLimit, defaultLimit)
	if err != nil {
		return Page{}, err
	}
	cursor, err := q.Text("cursor")
	return Page{Limit: limit, Cursor: cursor}, err
}

// ReadQuery reads the page as [Query.Page] does.
func (p *Page) ReadQuery(q Query) error {
	page, err := q.Page()
	*p = page
	return err
}

// Values returns the query parameters for the page. It is the inverse of [Query.Page].
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

// Cut shortens a list to `limit` entries. The caller reads up to `limit` + 1 entries, so that Cut can detect whether a
// next page exists. Cut also returns the cursor of the next page, or "" if this page is the last one. The function
// `after` returns the cursor of an entry.
func Cut[T any](list []T, limit int, after func(T) string) ([]T, string) {
	if len(list) <= limit {
		return list, ""
	}
	return list[:limit], after(list[limit-1])
}

// Cursor is the position after an entry in a list. The list is ordered by the number At, which may represent an
// instant. Entries with equal At are ordered by ID.
type Cursor struct {
	At int64
	ID uuid.UUID
}

// String returns the cursor as the text that lists send to clients.
func (c Cursor) String() string {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.At))
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID[:]...))
}

// After decodes the cursor of the page. It returns nil for the first page. Fault: invalid_parameter if the cursor is
// malformed, or if the number of the cursor is not between `first` and `last`.
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

// ByTime returns the cursor of an entry in a list that is ordered by time and then
// by id. The time is rounded down to microseconds, the precision of PostgreSQL.
func ByTime(at time.Time, id uuid.UUID) string { return Cursor{At: at.UnixMicro(), ID: id}.String() }

// firstTime and lastTime bound the time of a cursor, because a
// client could send a cursor whose time PostgreSQL does not support.
var (
	firstTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	lastTime  = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - 1
)

// AfterTime decodes the cursor of the page if [ByTime] created the cursors of the list.
// It returns nil for the first page. Fault: invalid_parameter if the cursor is invalid.
func (p Page) AfterTime() (*time.Time, uuid.UUID, error) {
	after, err := p.After(firstTime, lastTime)
	if err != nil || after == nil {
		return nil, uuid.Nil, err
	}
	at := time.UnixMicro(after.At).UTC()
	return &at, after.ID, nil
}

// BadCursor returns the fault invalid_parameter for an invalid cursor.
func BadCursor() error {
	return Invalid("cursor: this is not one; send next_cursor of the page before, or leave it out for the first.")
}
