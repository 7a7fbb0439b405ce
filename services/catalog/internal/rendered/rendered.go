// Package rendered caches the bytes of public answers. An answer is rendered once for a version,
// language and date, not once for each request.
//
// An answer is stored with its version and the numbers in it: prices, max_bookable_online of rentals,
// and tickets sold. The caller sets [Answer.Until], after which it must request the prices again. The
// caller must not store an answer in which a number is missing because another service did not answer.
//
// The cache has a maximum size in bytes and evicts the least recently used answer first.
package rendered

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/libs/values/etag"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
)

// Key identifies an answer in the cache. The answers to two requests with the same key are equal as
// long as the version and the numbers are the same.
type Key struct {
	Slug     string
	Path     string
	Language public.Language
	Date     timespan.Date // of the quotes; zero if there are none
	Today    timespan.Date // the business's today, on which some rules depend; zero without quotes
	Service  uuid.UUID     // the service whose staff is requested; zero for all
	Paused   bool          // only for /info
}

// Numbers are the numbers in an answer that other services returned and that are not part of the
// version, by the id of their object.
type Numbers struct {
	Prices map[uuid.UUID]json.Number // valid for a while
	Counts map[uuid.UUID]int         // max_bookable_online, or tickets sold: requested every time
}

func (n Numbers) equal(m Numbers) bool {
	return maps.Equal(n.Prices, m.Prices) && maps.Equal(n.Counts, m.Counts)
}

// Answer is a rendered answer. Readers share it, and it never changes.
type Answer struct {
	Body    []byte
	Tag     string // strong entity tag of Body
	Version int64  // only the number, so that an answer does not keep a version in memory
	Numbers Numbers
	// The prices were requested at From and are valid until Until. Both are
	// zero in an answer without prices, which is valid as long as its version.
	From, Until time.Time
}

// New returns an answer with the entity tag of body.
func New(body []byte, version int64, numbers Numbers, from, until time.Time) *Answer {
	return &Answer{Body: body, Tag: etag.Of(body), Version: version, Numbers: numbers, From: from, Until: until}
}

// Holds reports whether the prices in the answer may still be shown at now. It returns false for a
// time before From, because the clock may have been set back.
func (a *Answer) Holds(now time.Time) bool {
	return a.Until.IsZero() || !now.Before(a.From) && now.Before(a.Until)
}

// Shows reports whether the answer was rendered with the numbers n.
func (a *Answer) Shows(n Numbers) bool { return a.Numbers.equal(n) }

// Renewed returns a copy of the answer with a new time of validity. It is used if the prices were
// requested again and have not changed.
func (a *Answer) Renewed(from, until time.Time) *Answer {
	renewed := *a
	renewed.From, renewed.Until = from, until
	return &renewed
}

// Approximate memory of an entry besides its bytes (struct, key, list and map entry), and of one number.
const (
	bytesOfEntry  = 640
	bytesOfNumber = 80
)

func (a *Answer) size() int {
	return bytesOfEntry + len(a.Body) + bytesOfNumber*(len(a.Numbers.Prices)+len(a.Numbers.Counts))
}

// Cache caches answers. It is safe for concurrent use.
type Cache struct{ answers *lru.Cache[Key, *Answer] }

// NewCache returns an empty cache of up to maxBytes bytes; 0 stores nothing.
func NewCache(maxBytes int) *Cache { return &Cache{lru.New[Key](maxBytes, (*Answer).size)} }

// Get returns the answer of key if it was made from this version, otherwise nil. The number identifies
// the version: a slug never gets the same number twice, even after its business was removed.
func (c *Cache) Get(key Key, version int64) *Answer {
	a, ok := c.answers.Get(key)
	if !ok || a.Version != version {
		return nil
	}
	return a
}

// Put stores an answer and replaces the previous one of the key. It does not store an answer that is
// larger than a quarter of the cache.
func (c *Cache) Put(key Key, a *Answer) { c.answers.Put(key, a) }
