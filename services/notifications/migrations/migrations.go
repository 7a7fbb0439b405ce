// Package migrations holds the migrations of notifications' schema. Migrations only
// add, so that the code before and after each one runs against it. River's tables
// have migrations of their own, copied from River; a test compares the copies.
package migrations

import "embed"

// FS holds the migrations in goose's format. They are applied in the order of their numbers.
//
//go:embed *.sql
var FS embed.FS
