// Package migrations contains the migrations of booking's schema. After the first, migrations only
// add, because the previous and the next version of the code run against each of them.
package migrations

import "embed"

// FS are the migrations in goose's form, applied in order of their numbers.
//
//go:embed *.sql
var FS embed.FS
