// Package migrations contains the migrations of booking's schema. Every migration after the first one only adds
// to the schema. The reason is that the previous and the next version of the program both run against the schema.
package migrations

import "embed"

// FS are the migrations in goose's form, applied in order of their numbers.
//
//go:embed *.sql
var FS embed.FS
