// Package assets is the style of the pages of signing in, made of src by `make generate`.
package assets

import "embed"

//go:generate go run github.com/slotmesh/slotmesh/libs/web/bundle

// Files are what browsers are given, in the folder dist.
//
//go:embed dist
var Files embed.FS
