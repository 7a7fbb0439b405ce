// Package migrations holds the steps by which booking's schema grows. After the first they only add: code of the version before
// and after runs against each of them.
package migrations

import "embed"

// FS are the migrations in goose's form, applied in order of their numbers.
//
//go:embed *.sql
var FS embed.FS
