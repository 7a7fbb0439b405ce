// Package assets embeds the style sheet and the script of the owner's pages. `make generate` builds them from src.
package assets

import "embed"

//go:generate go run github.com/slotmesh/slotmesh/libs/platform/web/bundle

// Files are the files that browsers load, in the folder dist.
//
//go:embed dist
var Files embed.FS
