// Package texts are the sentences of the owner's pages: one file a language, the same sentences in each.
package texts

import (
	"embed"
	"sync"

	"github.com/slotmesh/slotmesh/libs/message"
)

//go:embed *.json
var files embed.FS

// Load reads the sentences, once.
var Load = sync.OnceValues(func() (*message.Catalog, error) { return message.Read(files, ".") })
