// Package assets embeds the style sheet of the pages for signing in. `make generate` builds it from src.
package assets

import "embed"

//go:generate go run github.com/slotmesh/slotmesh/libs/platform/web/bundle

// Files has the folder dist, with the files that the server sends to browsers.
//
//go:embed dist
var Files embed.FS
