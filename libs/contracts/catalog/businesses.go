package catalog

import (
	"time"

	"github.com/google/uuid"
)

// ChangesChannel is the Redis channel on which catalog publishes the slug of each business whose offer changed.
const ChangesChannel = "slotmesh:offers"

// MaxStale is a Cache-Control directive of requests to catalog (RFC 9111 §5.2.1.2). It accepts a
// stale offer while catalog's database is down. A client sends it if it has no offer in memory.
// The response header Age is the number of seconds since the offer was known to be the newest.
const MaxStale = "max-stale"

// Media types of a manifest.
const (
	MediaYAML = "application/yaml"
	MediaJSON = "application/json"
)

// Published identifies the version that a publication has just created.
type Published struct {
	ID      uuid.UUID `json:"id"`
	Slug    string    `json:"slug"`
	Version int64     `json:"version"`
	Created bool      `json:"created"` // true: a new business, status 201; false: status 200
}

// BusinessList is one page of businesses, ordered by slug.
type BusinessList struct {
	Businesses []Business `json:"businesses"`
	NextCursor string     `json:"next_cursor,omitempty"` // omitted on the last page
}

// MostListed bounds the number of ids in a request for a list of businesses. One person may belong to at most as many.
const MostListed = 100

// Business is one line of the list.
type Business struct {
	ID        uuid.UUID `json:"id"`
	Slug      string    `json:"slug"`
	Name      string    `json:"name"`
	Version   int64     `json:"version"`
	UpdatedAt time.Time `json:"updated_at"`
}

// VersionList is one page of a business's history, newest first.
type VersionList struct {
	Versions   []Version `json:"versions"`
	NextCursor string    `json:"next_cursor,omitempty"` // omitted on the last page
}

// Version is one line of the history.
type Version struct {
	Version     int64     `json:"version"`
	PublishedAt time.Time `json:"published_at"`
}

// Rollback is a request to publish an old version again as the newest.
type Rollback struct {
	Version int64 `json:"version"`
}

// Manifest is a manifest as catalog returns it.
type Manifest struct {
	Text      []byte
	MediaType string // [MediaYAML] or [MediaJSON]
	ETag      string // the version in quotes
}

// SlugOf is the response to a request for a business's slug.
type SlugOf struct {
	Slug string `json:"slug"`
}

// KeptAfterRemoval is the time after which the other services delete the data of a removed business (lifecycle.md §6).
const KeptAfterRemoval = 30 * 24 * time.Hour

// RemovedList is one page of the removed businesses, by id.
type RemovedList struct {
	IDs        []uuid.UUID `json:"ids"`
	NextCursor string      `json:"next_cursor,omitempty"` // omitted on the last page
}

// BindAccounts is the query parameter with which a publication or a rollback may bind payment accounts to the business.
const BindAccounts = "bind_accounts"
