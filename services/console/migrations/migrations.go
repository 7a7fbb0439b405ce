// Package migrations embeds the SQL migrations of console's database schema, which goose runs.
package migrations

import "embed"

// FS holds the migrations in their order.
//
//go:embed *.sql
var FS embed.FS
