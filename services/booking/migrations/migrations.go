// Package migrations contains the migrations of booking's schema. Every migration after the first one only adds
// to the schema. The reason is that the previous and the next version of the program both run against the schema.
package migrations

import (
	"embed"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

//go:embed *.sql
var files embed.FS

// FS are the migrations in goose's form, applied in order of their numbers.
var FS = postgres.WithShared(files)
