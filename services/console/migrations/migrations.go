// Package migrations holds the schema of console, as goose reads it.
package migrations

import "embed"

// FS holds the migrations in their order.
//
//go:embed *.sql
var FS embed.FS
