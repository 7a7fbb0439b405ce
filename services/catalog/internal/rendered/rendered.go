// Package rendered caches the bytes of public answers. An answer is rendered
// once for each version, language and date, not once for each request.
//
// The cache stores each answer with the version of the business from which it was rendered. The cache also stores the
// numbers in the answer: prices, max_bookable_online of rentals, and tickets sold. The caller sets [Answer.Until], the
// time after which the caller must request the prices again. If a number is missing because another service did not
// answer, the caller must not store the answer.
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

// Key identifies an answer in the cache. Two requests with the same key have the same answer as long
// as two things do not change: the version of the business, and the [Numbers] from other services.
type Key struct {
	Slug     string
	Path     string
	Language public.Language
	Date     timespan.Date // booking date of the quoted prices; zero if the answer has no prices
	Today    timespan.Date // the current date of the business, on which some pricing rules depend; zero without prices
	Service  uuid.UUID     // the service whose staff is requested; zero for all staff
	IsPaused bool          // whether online bookings are paused; only for /info
}

// Numbers are the numbers in an answer that come from other services and are not part of the version
// of the business. The key of each map is the id of a service, variant, tier, event or rental.
type Numbers struct {
	Prices map[uuid.UUID]json.Number // quoted prices, valid until [Answer.Until]
	Counts map[uuid.UUID]int         // max_bookable_online or tickets sold; requested again for every request
}

func (n Numbers) equal(m Numbers) bool {
	return maps.Equal(n.Prices, m.Prices) && maps.Equal(n.Counts, m.Counts)
}

// Answer is a rendered answer. An Answer never changes, because readers share it.
type Answer struct {
	Body []byte
	Tag  string // strong entity tag of Body
	// Version is the number of the version. The answer has no pointer to the
	// version, because the pointer would prevent that the version is freed.
	Version int64
	Numbers Numbers
	// From is the time at which the prices were requested. The prices are valid until Until. Both From and
	// Until are zero in an answer without prices, which is valid as long as its version is the newest.
	From, Until time.Time
}

// New returns an answer and computes the entity tag of body.
func New(body []byte, version int64, numbers Numbers, from, until time.Time) *Answer {
	return &Answer{Body: body, Tag: etag.Of(body), Version: version, Numbers: numbers, From: from, Until: until}
}

// IsValidAt reports whether the prices in the answer may still be shown at the time `now`.
// It returns false for a time before From, because the system clock may have been set back.
func (a *Answer) IsValidAt(now time.Time) bool {
	return a.Until.IsZero() || !now.Before(a.From) && now.Before(a.Until)
}

// HasNumbers reports whether the answer was rendered with the numbers n.
func (a *Answer) HasNumbers(n Numbers) bool { return a.Numbers.equal(n) }

// WithValidity returns a copy of the answer with new times From and Until. It
// is for use after the prices were requested again and have not changed.
func (a *Answer) WithValidity(from, until time.Time) *Answer {
	copied := *a
	copied.From, copied.Until = from, until
	return &copied
}

// Approximate memory, in bytes, of a cache entry without its body (struct, key, list and map entry), and of one number.
const (
	entryBytes  = 640
	numberBytes = 80
)

func (a *Answer) size() int {
	return entryBytes + len(a.Body) + numberBytes*(len(a.Numbers.Prices)+len(a.Numbers.Counts))
}

// Cache caches answers. It is safe for concurrent use.
type Cache struct{ answers *lru.Cache[Key, *Answer] }

// NewCache returns an empty cache of at most maxBytes bytes. If `maxBytes` is 0, the cache stores nothing.
func NewCache(maxBytes int) *Cache { return &Cache{lru.New[Key](maxBytes, (*Answer).size)} }

// Get returns the answer of key if it was rendered from the version with this number, otherwise
// nil. A slug never has the same version number twice, even after its business was removed.
func (c *Cache) Get(key Key, version int64) *Answer {
	a, ok := c.answers.Get(key)
	if !ok || a.Version != version {
		return nil
	}
	return a
}

// Put stores an answer and replaces the previous answer of the key. It
// does not store an answer that is larger than a quarter of the cache.
func (c *Cache) Put(key Key, a *Answer) { c.answers.Put(key, a) }
