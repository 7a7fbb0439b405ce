// Package assets holds the style sheet and the scripts of the pages. `make generate` builds these files from the folder
// src.
package assets

import "embed"

//go:generate go run github.com/slotmesh/slotmesh/libs/platform/web/bundle

// Files holds the folder dist, with the files that browsers load.
//
//go:embed dist
var Files embed.FS
