// Package texts contains the texts of the pages in the 36 languages of libs/values/message. There is one file for each
// language, and all files contain the same text ids.
package texts

import (
	"embed"
	"sync"

	"github.com/slotmesh/slotmesh/libs/values/message"
)

//go:embed *.json
var files embed.FS

// Load returns the texts in all languages. Only the first call reads the files.
var Load = sync.OnceValues(func() (*message.Catalog, error) { return message.Read(files, ".") })
