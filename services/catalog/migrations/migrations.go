// Package migrations holds the schema of catalog, as goose reads it.
package migrations

import "embed"

// FS holds the migrations in their order.
//
//go:embed *.sql
var FS embed.FS
