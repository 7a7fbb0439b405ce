// Package texts holds the sentences of the pages in the 36 languages of
// libs/values/message: one file per language, with the same sentences in each.
package texts

import (
	"embed"
	"sync"

	"github.com/slotmesh/slotmesh/libs/values/message"
)

//go:embed *.json
var files embed.FS

// Load reads the sentences at its first call.
var Load = sync.OnceValues(func() (*message.Catalog, error) { return message.Read(files, ".") })
