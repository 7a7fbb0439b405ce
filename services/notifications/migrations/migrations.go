// Package migrations holds the migrations of notifications' schema. Migrations only
// add, so that the code before and after each one runs against it. River's tables
// have migrations of their own, copied from River; a test compares the copies.
package migrations

import (
	"embed"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

//go:embed *.sql
var files embed.FS

// FS holds the migrations in goose's format. They are applied in the order of their numbers.
var FS = postgres.WithShared(files)
