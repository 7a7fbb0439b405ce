// Package images makes the container images of Slotmesh, as tar archives that `docker load` and `ctr images import` read,
// without a container engine: what Dockerfile beside it makes where there is one.
//
// The image of a service is made of nothing (FROM scratch): its commands, linked statically and built outside the
// workspace, the CA certificates of this machine, and a bill of materials of each command. Time zones are inside the
// commands (time/tzdata in libs/timespan). The same commit, Go version and certificates give the same bytes.
//
// The images of PostgreSQL and Redis are for trials and tests where no registry can be reached. They are made of the Debian
// packages installed on this machine and answer to the conventions of the official images that the chart uses.
package images

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Source is what images are made of: a checkout, and what is said about it in labels.
type Source struct {
	Root     string    // folder of the checkout
	Version  string    // label org.opencontainers.image.version, and the images' tag
	Revision string    // commit, with "-dirty" behind it where files differ from it
	Created  time.Time // of the commit
	Arch     string    // GOARCH of the commands
}

// Save makes the image called what, a service, postgres or redis, and writes it to dir/<repository>.tar. It returns the
// reference that the image has in the archive, such as localhost/slotmesh-catalog:dev.
func Save(ctx context.Context, src Source, what, dir string) (string, error) {
	img, ref, err := build(ctx, src, what)
	if err != nil {
		return "", fmt.Errorf("image of %s: %w", what, err)
	}
	repository, _, _ := strings.Cut(filepath.Base(ref), ":")
	if err := write(img, ref, filepath.Join(dir, repository+".tar")); err != nil {
		return "", fmt.Errorf("image of %s: %w", what, err)
	}
	return ref, nil
}

// SaveProgram writes an image that holds nothing but one statically linked program of this machine's kind, under the name
// ref, to the archive called file.
func SaveProgram(ref, program, file string) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	layers := [][]entry{{{path: "service", mode: 0o755, content: content}}}
	img, err := assemble(layers, v1.Config{Entrypoint: []string{"/service"}, User: nobody}, Source{Arch: runtime.GOARCH, Created: time.Unix(0, 0)})
	if err != nil {
		return err
	}
	return write(img, ref, file)
}

// write puts an archive at file, where there is only ever a whole one.
func write(img v1.Image, ref, file string) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := tarball.WriteToFile(file+".part", tag, img); err != nil {
		return err
	}
	return os.Rename(file+".part", file)
}

func build(ctx context.Context, src Source, what string) (v1.Image, string, error) {
	if store, ok := stores[what]; ok {
		img, err := store.image(ctx)
		return img, "localhost/" + what + ":" + store.tag, err
	}
	img, err := service(ctx, src, what)
	return img, "localhost/slotmesh-" + what + ":" + src.Version, err
}
