// Package migrations contains the migrations of rental's schema. A migration only adds to the
// schema, because the previous and the next version of the program both run against the schema.
package migrations

import (
	"embed"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

//go:embed *.sql
var files embed.FS

// FS are the migrations in goose's form, applied in order of their numbers.
var FS = postgres.WithShared(files)
