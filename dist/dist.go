// Package dist makes the files of a release for one machine: programs, archives, packages, images, bills of materials and
// checksums. The same commit, version, Go version and certificates give the same bytes, except for signatures.
//
// The package is a module of its own, so that the libraries for packages and compose files stay out of the product.
package dist

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/k8s/images"
)

// Options select what [Build] makes.
type Options struct {
	Source    images.Source // the checkout, with the version of the release
	Out       string        // folder for the files; Build empties it first
	Platforms []Platform    // platforms of the programs and archives
	// Key is the path of an armored OpenPGP private key that signs the packages and the checksums. If it is empty,
	// nothing is signed. Passphrase is the key's passphrase.
	Key, Passphrase string
	SkipImages      bool
}

// Platform is a pair of GOOS and GOARCH.
type Platform struct{ OS, Arch string }

// Platforms are the platforms of a release.
var Platforms = []Platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// versionPattern matches a semantic version without build metadata.
var versionPattern = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

// Build makes all files in the folder o.Out. The program and the bill of materials of each platform come first, because
// the archives and the packages contain them.
func Build(ctx context.Context, o Options) error {
	if !versionPattern.MatchString(o.Source.Version) {
		return fmt.Errorf("%q is no version: write a semantic version such as 1.2.0", o.Source.Version)
	}
	if o.Key != "" && strings.HasSuffix(o.Source.Revision, "-dirty") {
		return errors.New("files differ from the commit, and a release contains only a commit: commit or remove the files")
	}
	if err := os.RemoveAll(o.Out); err != nil {
		return err
	}
	programs, err := os.MkdirTemp("", "slotmesh-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(programs)
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return err
	}
	for _, platform := range o.Platforms {
		if err := buildPlatform(ctx, o, platform, programs); err != nil {
			return fmt.Errorf("%s/%s: %w", platform.OS, platform.Arch, err)
		}
	}
	if err := writeCompose(o); err != nil {
		return fmt.Errorf("compose: %w", err)
	}
	return writeChecksums(o)
}

// buildPlatform makes the files of one platform. The argument `programs` is a folder for the program.
func buildPlatform(ctx context.Context, o Options, p Platform, programs string) error {
	o.Source.Arch = p.Arch
	program := filepath.Join(programs, p.OS+"-"+p.Arch)
	if err := images.BuildOne(ctx, o.Source, p.OS, program); err != nil {
		return err
	}
	if err := writeFiles(o, p, program); err != nil {
		return err
	}
	if p.OS != "linux" || o.SkipImages {
		return nil
	}
	return saveImage(ctx, o, p)
}

// writeFiles writes the bill of materials, the archive and the packages of one platform.
func writeFiles(o Options, p Platform, program string) error {
	materials, err := images.Materials(program)
	if err != nil {
		return err
	}
	name := o.name(p)
	if err := os.WriteFile(filepath.Join(o.Out, name+".cdx.json"), materials, 0o644); err != nil {
		return err
	}
	if err := writeArchive(o, name, program); err != nil {
		return err
	}
	if p.OS != "linux" {
		return nil
	}
	return writePackages(o, p.Arch, program)
}

// name returns the beginning of the names of a platform's files.
func (o Options) name(p Platform) string {
	return "slotmesh_" + o.Source.Version + "_" + p.OS + "_" + p.Arch
}

// file returns the path of a file in this module's folder, or of another file of the checkout if `name` begins with a
// slash.
func (o Options) file(name string) string {
	if top, ok := strings.CutPrefix(name, "/"); ok {
		return filepath.Join(o.Source.Root, top)
	}
	return filepath.Join(o.Source.Root, "dist", name)
}

func saveImage(ctx context.Context, o Options, p Platform) error {
	folder, err := os.MkdirTemp("", "slotmesh-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if _, err := images.Save(ctx, o.Source, images.One, folder); err != nil {
		return err
	}
	return move(filepath.Join(folder, "slotmesh-"+images.One+".tar"), filepath.Join(o.Out, o.name(p)+".image.tar"))
}

// move copies a file to `to`, which may be on another file system.
func move(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

// checksums is the name of the file with the SHA-256 of each other file, in the format of sha256sum.
const checksums = "SHA256SUMS"

func writeChecksums(o Options) error {
	entries, err := os.ReadDir(o.Out)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(o.Out, e.Name()))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		lines = append(lines, hex.EncodeToString(sum[:])+"  "+e.Name()+"\n")
	}
	slices.Sort(lines)
	text := []byte(strings.Join(lines, ""))
	if err := os.WriteFile(filepath.Join(o.Out, checksums), text, 0o644); err != nil {
		return err
	}
	if o.Key == "" {
		return nil
	}
	return writeSignature(o, text)
}
