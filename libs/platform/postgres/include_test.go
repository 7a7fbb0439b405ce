package postgres

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

func TestWithSharedReplacesIncludes(t *testing.T) {
	files := WithShared(fstest.MapFS{
		"1.sql": {Data: []byte("-- +goose Up\n-- include uuid_v7\nSELECT 1;\n")},
		"2.sql": {Data: []byte("-- include lost\n")},
	})
	text, err := fs.ReadFile(files, "1.sql")
	if err != nil || !strings.Contains(string(text), "CREATE FUNCTION uuid_v7()") ||
		!strings.HasPrefix(string(text), "-- +goose Up\n-- A UUIDv7") || !strings.HasSuffix(string(text), "uuid;\nSELECT 1;\n") {
		t.Errorf("read %q, %v; want the function between the two lines", text, err)
	}
	if _, err := fs.ReadFile(files, "2.sql"); err == nil || !strings.Contains(err.Error(), "2.sql includes lost") {
		t.Errorf("an include of a missing file: error %v; want one that names both", err)
	}
	if names, err := fs.Glob(files, "*.sql"); err != nil || len(names) != 2 {
		t.Errorf("listed %v, %v", names, err)
	}
}
