// Package migrations holds the schema of catalog as goose migrations.
package migrations

import (
	"embed"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

//go:embed *.sql
var files embed.FS

// FS holds the migrations of catalog and those that all services share, in the order of their numbers.
var FS = postgres.WithShared(files)
