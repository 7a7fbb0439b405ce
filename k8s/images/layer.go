package images

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// entry is one file, folder or symbolic link in an image. The modification time of an entry is always the Unix epoch,
// so that layers with the same content have the same bytes.
type entry struct {
	path    string // path in the image, without a leading slash
	mode    int64
	owner   int // number that is both the uid and the gid
	content []byte
	link    string // target of a symbolic link
	folder  bool
}

// packLayer returns a layer with the entries and their parent folders, sorted by path.
func packLayer(entries []entry) (v1.Layer, error) {
	entries = addParents(entries)
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, e := range entries {
		if err := e.write(w); err != nil {
			return nil, fmt.Errorf("%s: %w", e.path, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithCompressedCaching, tarball.WithCompressionLevel(gzip.DefaultCompression))
}

func (e entry) write(w *tar.Writer) error {
	header := &tar.Header{Name: e.path, Mode: e.mode, Uid: e.owner, Gid: e.owner, ModTime: time.Unix(0, 0),
		Format: tar.FormatUSTAR}
	switch {
	case e.folder:
		header.Typeflag, header.Name = tar.TypeDir, e.path+"/"
	case e.link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, e.link
	default:
		header.Typeflag, header.Size = tar.TypeReg, int64(len(e.content))
	}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err := w.Write(e.content)
	return err
}

// addParents adds the missing parent folders of the entries, which belong to root. It returns all entries sorted by
// path, without duplicate paths.
func addParents(entries []entry) []entry {
	known := make(map[string]entry, 2*len(entries))
	for _, e := range entries {
		for dir := path.Dir(e.path); dir != "."; dir = path.Dir(dir) {
			if _, ok := known[dir]; !ok {
				known[dir] = entry{path: dir, mode: 0o755, folder: true}
			}
		}
		known[e.path] = e
	}
	all := make([]entry, 0, len(known))
	for _, e := range known {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return all
}
