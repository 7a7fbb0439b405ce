// Package rendered keeps answers of the public paths as the bytes that were sent, so that an answer is rendered once for
// a version, language and date and not once for each request.
//
// An answer is kept together with what it was made from: the version, and the numbers that others gave (quotes, ceilings,
// tickets sold). Only its maker knows when those must be asked for again, and says so by [Answer.Until]; an answer that
// lacks a number because somebody did not answer must not be kept at all. The memory is bounded by bytes, the least
// recently used answer goes first.
package rendered

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/etag"
	"github.com/slotmesh/slotmesh/libs/lru"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
)

// Key names an answer: two requests with the same key get the same bytes as long as version and numbers are the same.
type Key struct {
	Slug     string
	Path     string
	Language public.Language
	Date     timespan.Date // of the quotes; zero where there are none
	Today    timespan.Date // the business's, which some rules count days from; zero without quotes
	Service  uuid.UUID     // whose staff is asked for; zero for all
	Paused   bool          // info only
}

// Numbers are what an answer shows beside its version, by the id of what they belong to.
type Numbers struct {
	Prices map[uuid.UUID]json.Number // hold for a while
	Counts map[uuid.UUID]int         // ceilings of rentals, or tickets sold: asked for at every request
}

func (n Numbers) equal(m Numbers) bool {
	return maps.Equal(n.Prices, m.Prices) && maps.Equal(n.Counts, m.Counts)
}

// Answer is a rendered answer. It is shared by readers and never changed.
type Answer struct {
	Body    []byte
	Tag     string // strong entity tag of Body
	Version int64  // by number: what a version needs of memory is not held by its answers
	Numbers Numbers
	// Prices were asked for at From and hold until Until. An answer without prices holds as long as its version: it has
	// neither.
	From, Until time.Time
}

// New renders an answer's tag.
func New(body []byte, version int64, numbers Numbers, from, until time.Time) *Answer {
	return &Answer{Body: body, Tag: etag.Of(body), Version: version, Numbers: numbers, From: from, Until: until}
}

// Holds reports whether its prices may still be shown at the instant now. A clock that was set back ends their time too.
func (a *Answer) Holds(now time.Time) bool {
	return a.Until.IsZero() || !now.Before(a.From) && now.Before(a.Until)
}

// Shows reports whether the answer's bytes are those of these numbers.
func (a *Answer) Shows(n Numbers) bool { return a.Numbers.equal(n) }

// Renewed is the same answer, whose prices were asked for again and came out the same.
func (a *Answer) Renewed(from, until time.Time) *Answer {
	renewed := *a
	renewed.From, renewed.Until = from, until
	return &renewed
}

// What an entry takes beside its bytes, roughly: itself, its key, its place in the list and in the map; and a number.
const (
	bytesOfEntry  = 640
	bytesOfNumber = 80
)

func (a *Answer) size() int {
	return bytesOfEntry + len(a.Body) + bytesOfNumber*(len(a.Numbers.Prices)+len(a.Numbers.Counts))
}

// Cache holds answers. It is safe for use by many goroutines.
type Cache struct{ answers *lru.Cache[Key, *Answer] }

// NewCache returns an empty cache of up to maxBytes; 0 keeps nothing.
func NewCache(maxBytes int) *Cache { return &Cache{lru.New[Key](maxBytes, (*Answer).size)} }

// Get returns the answer kept for key if it was made from this version, else nil. No two versions that a slug ever had
// have the same number.
func (c *Cache) Get(key Key, version int64) *Answer {
	a, ok := c.answers.Get(key)
	if !ok || a.Version != version {
		return nil
	}
	return a
}

// Put keeps an answer in place of an older one of the same key, unless it takes more than a quarter of the memory.
func (c *Cache) Put(key Key, a *Answer) { c.answers.Put(key, a) }
