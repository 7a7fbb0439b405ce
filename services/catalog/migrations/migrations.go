// Package migrations holds the schema of catalog as goose migrations.
package migrations

import (
	"embed"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

//go:embed *.sql
var files embed.FS

// FS holds the migrations in order.
var FS = postgres.WithShared(files)
