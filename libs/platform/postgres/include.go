package postgres

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"regexp"
)

//go:embed shared/*.sql
var shared embed.FS

var includes = regexp.MustCompile(`(?m)^-- include (\w+)\n`)

// WithShared returns the migrations with each line `-- include NAME` replaced by the file shared/NAME.sql. The shared
// files create tables that several services need, for idempotency results and for events. After a migration that
// includes a shared file is released, the file must not change. The reason is that the stored hash of a migration
// covers the text after the replacement. A changed file would look like a changed migration.
func WithShared(migrations fs.FS) fs.FS { return expandedFS{migrations} }

type expandedFS struct{ fs.FS }

// ReadFile returns the content of a file with its includes replaced.
func (e expandedFS) ReadFile(name string) ([]byte, error) {
	text, err := fs.ReadFile(e.FS, name)
	if err != nil {
		return nil, err
	}
	var missing error
	text = includes.ReplaceAllFunc(text, func(line []byte) []byte {
		part := string(includes.FindSubmatch(line)[1])
		content, err := shared.ReadFile("shared/" + part + ".sql")
		if err != nil {
			missing = fmt.Errorf("%s includes %s: %w", name, part, err)
		}
		return content
	})
	return text, missing
}

// Open opens a file with its includes replaced. It opens a folder unchanged.
func (e expandedFS) Open(name string) (fs.File, error) {
	file, err := e.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || info.IsDir() {
		return file, err
	}
	text, err := e.ReadFile(name)
	return &openedFile{File: file, content: bytes.NewReader(text)}, err
}

type openedFile struct {
	fs.File
	content io.Reader
}

func (f *openedFile) Read(into []byte) (int, error) { return f.content.Read(into) }
