package catalog

import (
	"time"

	"github.com/google/uuid"
)

// ChangesChannel is the Redis channel on which the catalog service
// publishes the slug of a business after its snapshot has changed.
const ChangesChannel = "slotmesh:offers"

// MaxStale is the Cache-Control directive max-stale (RFC 9111 §5.2.1.2). With it a request accepts a stale
// snapshot while the database of the catalog service is down. Clients without a snapshot in memory send this directive.
//
// The response header Age is the number of seconds for which the snapshot has not been confirmed as the newest one.
const MaxStale = "max-stale"

// The media types of a manifest.
const (
	MediaYAML = "application/yaml"
	MediaJSON = "application/json"
)

// Published identifies the version of a business that a publication has created.
type Published struct {
	ID      uuid.UUID `json:"id"`
	Slug    string    `json:"slug"`
	Version int64     `json:"version"`
	Created bool      `json:"created"` // true for a new business (status 201), false otherwise (status 200)
}

// BusinessList is one page of businesses, in the order of their slugs.
type BusinessList struct {
	Businesses []Business `json:"businesses"`
	NextCursor string     `json:"next_cursor,omitempty"` // omitted on the last page
}

// MaxListed is the maximal number of ids in a request for a list of businesses.
// It is also the maximal number of businesses to which one person may belong.
const MaxListed = 100

// Business is one entry of a [BusinessList].
type Business struct {
	ID        uuid.UUID `json:"id"`
	Slug      string    `json:"slug"`
	Name      string    `json:"name"`
	Version   int64     `json:"version"`
	UpdatedAt time.Time `json:"updated_at"`
}

// VersionList is one page of the versions of a business, newest first.
type VersionList struct {
	Versions   []Version `json:"versions"`
	NextCursor string    `json:"next_cursor,omitempty"` // omitted on the last page
}

// Version is one entry of a [VersionList].
type Version struct {
	Version     int64     `json:"version"`
	PublishedAt time.Time `json:"published_at"`
}

// Rollback requests that an old version is published again as the newest one.
type Rollback struct {
	Version int64 `json:"version"`
}

// Manifest is the manifest of a business as the catalog service returns it.
type Manifest struct {
	Text      []byte
	MediaType string // [MediaYAML] or [MediaJSON]
	ETag      string // number of the version in quotes
}

// SlugOf is the response to a request for the slug of a business.
type SlugOf struct {
	Slug string `json:"slug"`
}

// KeptAfterRemoval is the time between the removal of a business and
// the deletion of its data in the other services (lifecycle.md §6).
const KeptAfterRemoval = 30 * 24 * time.Hour

// RemovedList is one page of the ids of removed businesses, in the order of the ids.
type RemovedList struct {
	IDs        []uuid.UUID `json:"ids"`
	NextCursor string      `json:"next_cursor,omitempty"` // omitted on the last page
}

// BindAccounts is the name of a query parameter. With the value true, a
// publication or a rollback may bind payment accounts to the business.
const BindAccounts = "bind_accounts"
