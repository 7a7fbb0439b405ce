package dist

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"time"
)

// archived are the files of an archive beside the program: their names there, and their places (see [Options.file]).
var archived = []struct{ name, file string }{
	{"LICENSE", "/LICENSE"},
	{"install.md", "/docs/operators/install.md"},
	{"examples/Caddyfile", "files/Caddyfile"},
	{"examples/nginx.conf", "files/nginx.conf"},
	{"examples/prometheus.yaml", "files/prometheus.yaml"},
	{"examples/slotmesh.env", "files/slotmesh.env"},
	{"examples/slotmesh.service", "files/slotmesh.service"},
}

// writeArchive writes name.tar.gz, with a folder of that name. All files have the time of the commit and belong to
// root.
func writeArchive(o Options, name, program string) error {
	a := newArchive(o.Source.Created)
	if err := a.add(name+"/slotmesh", program, 0o755); err != nil {
		return err
	}
	for _, f := range archived {
		if err := a.add(name+"/"+f.name, o.file(f.file), 0o644); err != nil {
			return err
		}
	}
	monitoring, names, err := writeMonitoring(o)
	if err != nil {
		return err
	}
	defer os.RemoveAll(monitoring)
	for _, file := range names {
		if err := a.add(name+"/examples/"+file, filepath.Join(monitoring, file), 0o644); err != nil {
			return err
		}
	}
	return a.save(filepath.Join(o.Out, name+".tar.gz"))
}

// archive is a tar.gz in memory.
type archive struct {
	packed bytes.Buffer
	gzip   *gzip.Writer
	tar    *tar.Writer
	time   time.Time
}

func newArchive(at time.Time) *archive {
	a := &archive{time: at}
	a.gzip = gzip.NewWriter(&a.packed)
	a.tar = tar.NewWriter(a.gzip)
	return a
}

func (a *archive) add(name, file string, mode int64) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return a.addContent(name, content, mode)
}

func (a *archive) addContent(name string, content []byte, mode int64) error {
	if err := a.tar.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(content)), ModTime: a.time,
		Format: tar.FormatUSTAR}); err != nil {
		return err
	}
	_, err := a.tar.Write(content)
	return err
}

func (a *archive) save(file string) error {
	if err := a.tar.Close(); err != nil {
		return err
	}
	if err := a.gzip.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, a.packed.Bytes(), 0o644)
}
