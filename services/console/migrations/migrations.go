// Package migrations embeds the SQL migrations of console's database schema, which goose runs.
package migrations

import (
	"embed"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

//go:embed *.sql
var files embed.FS

// FS holds the migrations in their order.
var FS = postgres.WithShared(files)
