// Package migrations holds the migrations of rental's schema. They only add to it,
// because the versions of the code before and after a migration both run against it.
package migrations

import "embed"

// FS are the migrations in goose's form, applied in order of their numbers.
//
//go:embed *.sql
var FS embed.FS
