// Package assets are the style and script of the owner's pages, made of src by `make generate`.
package assets

import "embed"

//go:generate go run github.com/slotmesh/slotmesh/libs/web/bundle

// Files are what browsers are given, in the folder dist.
//
//go:embed dist
var Files embed.FS
