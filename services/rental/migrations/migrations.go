// Package migrations contains the migrations of rental's schema. A migration only adds to the
// schema, because the previous and the next version of the program both run against the schema.
package migrations

import "embed"

// FS are the migrations in goose's form, applied in order of their numbers.
//
//go:embed *.sql
var FS embed.FS
