// Package migrations contains the migrations of the schema of the notifications service. Migrations only add to the
// schema, so that the previous and the new version of the code both work with the schema. River's tables have
// migrations of their own, which are copied from River; a test compares the copies with River's originals.
package migrations

import (
	"embed"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

//go:embed *.sql
var files embed.FS

// FS contains the migrations in the format of goose. goose applies them in the order of their numbers.
var FS = postgres.WithShared(files)
