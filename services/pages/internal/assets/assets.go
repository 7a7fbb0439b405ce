// Package assets holds the style and scripts of the pages, which `make generate` builds from src.
package assets

import "embed"

//go:generate go run github.com/slotmesh/slotmesh/libs/platform/web/bundle

// Files holds the files that browsers load, in the folder dist.
//
//go:embed dist
var Files embed.FS
