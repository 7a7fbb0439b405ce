// Package migrations contains the migrations of booking's schema. Every migration after the first one only adds to
// the schema. The reason is that during an update, the old and the new version of the service use the same schema.
package migrations

import (
	"embed"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

//go:embed *.sql
var files embed.FS

// FS contains the migrations as files of the migration tool
// goose. goose applies the files in the order of their numbers.
var FS = postgres.WithShared(files)
