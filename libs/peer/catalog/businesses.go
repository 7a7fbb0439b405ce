package catalog

import (
	"time"

	"github.com/google/uuid"
)

// ChangesChannel is the Redis channel on which catalog publishes the slug of each business whose offer changed.
const ChangesChannel = "slotmesh:offers"

// MaxStale is the Cache-Control by which a reader with no offer in memory takes the last one that catalog knows while its database is
// away (RFC 9111 §5.2.1.2). The answer's Age says how many seconds ago that was last known to be the newest.
const MaxStale = "max-stale"

// Media types of a manifest.
const (
	MediaYAML = "application/yaml"
	MediaJSON = "application/json"
)

// Published names a version that was just made the newest.
type Published struct {
	ID      uuid.UUID `json:"id"`
	Slug    string    `json:"slug"`
	Version int64     `json:"version"`
	Created bool      `json:"created"` // the slug named no business before: 201, else 200
}

// BusinessList is one page of the businesses, by slug.
type BusinessList struct {
	Businesses []Business `json:"businesses"`
	NextCursor string     `json:"next_cursor,omitempty"` // left out on the last page
}

// MostListed bounds the ids by which businesses are listed: as many as a person may belong to.
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
	NextCursor string    `json:"next_cursor,omitempty"` // left out on the last page
}

// Version is one line of the history.
type Version struct {
	Version     int64     `json:"version"`
	PublishedAt time.Time `json:"published_at"`
}

// Rollback asks for an old version to be published again as the newest.
type Rollback struct {
	Version int64 `json:"version"`
}

// Manifest is a manifest as catalog gives it back.
type Manifest struct {
	Text      []byte
	MediaType string // [MediaYAML] or [MediaJSON]
	ETag      string // the version in quotes
}

// SlugOf is the answer to the question for a business's slug.
type SlugOf struct {
	Slug string `json:"slug"`
}

// KeptAfterRemoval is how long what others keep of a removed business stays (lifecycle.md §6).
const KeptAfterRemoval = 30 * 24 * time.Hour

// RemovedList is one page of the removed businesses, by id.
type RemovedList struct {
	IDs        []uuid.UUID `json:"ids"`
	NextCursor string      `json:"next_cursor,omitempty"` // left out on the last page
}

// BindAccounts is the query parameter of a publish and a rollback that lets them bind payment accounts to the business.
const BindAccounts = "bind_accounts"
