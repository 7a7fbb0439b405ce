// Package migrations holds the steps by which notifications' schema grows. They only add: code of the version before and
// after runs against each of them. The tables of River are steps of their own, a copy of River's own migrations; a test compares them.
package migrations

import "embed"

// FS are the migrations in goose's form, applied in order of their numbers.
//
//go:embed *.sql
var FS embed.FS
