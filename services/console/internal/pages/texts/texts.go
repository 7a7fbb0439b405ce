// Package texts embeds the texts of the owner's pages, in one file for each language. All files have the same text ids.
package texts

import (
	"embed"
	"sync"

	"github.com/slotmesh/slotmesh/libs/values/message"
)

//go:embed *.json
var files embed.FS

// Load returns the texts in all languages. It reads the files only once.
var Load = sync.OnceValues(func() (*message.Catalog, error) { return message.Read(files, ".") })
