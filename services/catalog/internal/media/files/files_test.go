package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// bucket is a fake of an S3-compatible store that accepts requests with a signature of the right key.
func bucket(t *testing.T) string {
	t.Helper()
	var mu sync.Mutex
	objects := map[string][]byte{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !strings.Contains(r.Header.Get("Authorization"), "Credential=key/") ||
			!strings.HasPrefix(r.URL.Path, "/pictures/shop/") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		content, ok := objects[r.URL.Path]
		switch r.Method {
		case http.MethodPut:
			objects[r.URL.Path], _ = io.ReadAll(r.Body)
			w.Header().Set("ETag", `"1"`)
		case http.MethodDelete:
			delete(objects, r.URL.Path)
			w.WriteHeader(http.StatusNoContent)
		default:
			if !ok {
				w.Header().Set("Content-Type", "application/xml")
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write([]byte(`<Error><Code>NoSuchKey</Code><Message>none</Message></Error>`))
				return
			}
			w.Header().Set("ETag", `"1"`)
			w.Header().Set("Last-Modified", "Fri, 27 Nov 2026 07:00:00 GMT")
			_, _ = w.Write(content)
		}
	}))
	t.Cleanup(server.Close)
	return "s3://key:secret@" + strings.TrimPrefix(server.URL, "http://") + "/pictures/shop?insecure=true"
}

func TestStores(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"folder": filepath.Join(t.TempDir(), "new"), "bucket": bucket(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := Open(address)
			if err != nil {
				t.Fatal(err)
			}
			const file = "aabb-400.webp"
			if _, err := store.Get(t.Context(), file); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a missing file: %v", err)
			}
			content := bytes.Repeat([]byte("picture"), 100_000)
			for range 2 {
				if err := store.Put(t.Context(), file, content); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := store.Get(t.Context(), file); err != nil || !bytes.Contains(got, content) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			for range 2 {
				if err := store.Delete(t.Context(), file); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := store.Get(t.Context(), file); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a deleted file: %v", err)
			}
		})
	}
}

func TestFolderReportsFailure(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Folder(file).Put(t.Context(), "aabb-400.webp", nil); err == nil {
		t.Error("a file is a folder")
	}
}

func TestOpenRefusesOtherAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "media", "http://example.com/a", "s3://host/bucket", "s3://key@host/bucket",
		"s3://key:secret@host", "s3://key:secret@host/", "s3://key:secret@/bucket"} {
		if _, err := Open(address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
