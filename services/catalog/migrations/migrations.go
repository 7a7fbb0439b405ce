// Package migrations holds the schema of catalog as goose migrations.
package migrations

import "embed"

// FS holds the migrations in order.
//
//go:embed *.sql
var FS embed.FS
