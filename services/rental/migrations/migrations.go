// Package migrations contains the migrations of rental's schema. A migration only adds to
// the schema, because the old version of the service still uses the schema during an update.
package migrations

import (
	"embed"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

//go:embed *.sql
var files embed.FS

// FS contains these migrations in the format of goose, with the shared files
// that they include. goose applies the migrations in the order of their numbers.
var FS = postgres.WithShared(files)
