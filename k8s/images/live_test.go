package images

import (
	"archive/tar"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func TestPushSendsReplaceableProgram(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "console")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	files := Live{Supervisor: filepath.Join(dir, "live"), Program: filepath.Join(dir, "service"),
		Commands: []string{filepath.Join(dir, "slotmesh")}}
	for _, file := range append(files.Commands, files.Supervisor, files.Program) {
		if err := os.WriteFile(file, []byte(filepath.Base(file)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(registry.New())
	defer server.Close()
	ref := strings.TrimPrefix(server.URL, "http://") + "/slotmesh-console:live"
	if err := files.Push(t.Context(), ref); err != nil {
		t.Fatal(err)
	}

	tag, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	img, err := remote.Image(tag, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	type file struct {
		Owner         int
		Content, Link string
	}
	got := map[string]file{}
	eachFile(t, img, func(h *tar.Header, content []byte) {
		if name := strings.TrimSuffix(h.Name, "/"); !strings.HasPrefix(name, "etc") {
			got[name] = file{Owner: h.Uid, Content: string(content), Link: h.Linkname}
		}
	})
	want := map[string]file{
		"service":      {Content: "live"},
		"tar":          {Link: "service"},
		"slotmesh":     {Content: "slotmesh"},
		"live":         {Owner: serviceID},
		"live/service": {Owner: serviceID, Content: "service"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPushNamesMissingRegistry(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "service")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := Live{Supervisor: file, Program: file}.Push(t.Context(), "127.0.0.1:1/slotmesh-catalog:live")
	if err == nil || !strings.Contains(err.Error(), "sending the image to 127.0.0.1:1: ") {
		t.Errorf("got %v", err)
	}
}

// eachFile calls visit for every file of an image, with its content.
func eachFile(t *testing.T, img v1.Image, visit func(*tar.Header, []byte)) {
	t.Helper()
	flat := mutate.Extract(img)
	defer flat.Close()
	files := tar.NewReader(flat)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		visit(header, content)
	}
}
