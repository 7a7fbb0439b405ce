// Package images builds the container images of Slotmesh without a container engine, as tar archives for `docker
// load` and `ctr images import`. With a container engine, the Dockerfile in this folder builds the same images.
//
// The image of a service has no base image (FROM scratch). It contains the commands of the service, the CA certificates
// of this machine, and a bill of materials for each command. The commands are linked statically and built outside the
// Go workspace. They include the time zone database (time/tzdata in libs/values/timespan). Builds with the same commit,
// Go version and certificates produce the same bytes.
//
// The images of PostgreSQL and Redis are for trials and tests without a registry. They are built from the Debian
// packages that are installed on this machine. They follow the conventions of the official images on which the Helm
// chart relies.
package images

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Source is the checkout from which images are built, with the values of the images' labels.
type Source struct {
	Root     string    // folder of the checkout
	Version  string    // label org.opencontainers.image.version and tag of the images
	Revision string    // commit, with the suffix "-dirty" if docs, libs or services have uncommitted changes
	Created  time.Time // time of the commit
	Arch     string    // GOARCH of the commands
}

// Save builds the image of `what`, which is the name of a service, postgres or redis. It writes the image to the
// archive dir/<repository>.tar. Save returns the reference of the image in the archive, such as
// localhost/slotmesh-catalog:dev.
func Save(ctx context.Context, src Source, what, dir string) (string, error) {
	img, ref, err := buildImage(ctx, src, what)
	if err != nil {
		return "", fmt.Errorf("image of %s: %w", what, err)
	}
	repository, _, _ := strings.Cut(filepath.Base(ref), ":")
	if err := write(img, ref, filepath.Join(dir, repository+".tar")); err != nil {
		return "", fmt.Errorf("image of %s: %w", what, err)
	}
	return ref, nil
}

// SaveProgram writes an image to the archive `file`. The argument `ref` is the image's reference. The image contains
// the statically linked program at the path `program`, for this machine's platform. The argument `further` adds files
// of this machine, and the libraries that these files load. It maps paths in the image, without a leading slash, to
// paths on this machine. If `further` is not empty, the program is also on the PATH of the image.
func SaveProgram(ctx context.Context, ref, program, file string, further map[string]string) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	layers := [][]entry{{{path: "service", mode: 0o755, content: content}}}
	if len(further) > 0 {
		beside, err := readFurtherFiles(ctx, further)
		if err != nil {
			return err
		}
		layers = append([][]entry{append(beside, entry{path: "usr/local/bin/" + filepath.Base(program),
			link: "/service"})}, layers...)
	}
	img, err := assemble(layers, v1.Config{
		Entrypoint: []string{"/service"}, User: serviceUser, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
	}, Source{Arch: runtime.GOARCH, Created: time.Unix(0, 0)})
	if err != nil {
		return err
	}
	return write(img, ref, file)
}

// readFurtherFiles returns an entry for each file in the argument `further`, and for each library that these files
// load. The keys of `further` are the paths in the image; the values are the paths on this machine.
func readFurtherFiles(ctx context.Context, further map[string]string) ([]entry, error) {
	entries := slices.Clone(baseEntries)
	for at, file := range further {
		e, err := readMachineFile(file)
		if err != nil {
			return nil, err
		}
		e.path, e.mode = at, e.mode|0o444 // every user may read the file
		entries = append(entries, e)
	}
	libraries, err := listSharedLibraries(ctx, slices.Collect(maps.Values(further)))
	if err != nil {
		return nil, err
	}
	for _, library := range libraries {
		e, err := readMachineFile(library)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// write writes the archive under a temporary name and then renames it, so that the archive is never incomplete.
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

func buildImage(ctx context.Context, src Source, what string) (v1.Image, string, error) {
	if store, ok := stores[what]; ok {
		img, err := store.buildImage(ctx)
		return img, "localhost/" + what + ":" + store.tag, err
	}
	img, err := buildService(ctx, src, what)
	return img, "localhost/slotmesh-" + what + ":" + src.Version, err
}
