// Package assets are the style and script of the owner's pages, made of src by `make generate`.
package assets

import (
	"embed"
	"io/fs"
)

//go:generate go run github.com/slotmesh/slotmesh/libs/web/bundle

//go:embed dist
var dist embed.FS

// Files are what browsers are given.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	return files
}
