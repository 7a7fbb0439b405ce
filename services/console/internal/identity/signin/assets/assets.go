// Package assets embeds the style sheet of the pages for signing in. `make generate` builds it from src.
package assets

import "embed"

//go:generate go run github.com/slotmesh/slotmesh/libs/platform/web/bundle

// Files are what browsers are given, in the folder dist.
//
//go:embed dist
var Files embed.FS
