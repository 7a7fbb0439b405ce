package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// serviceUser is the uid and gid with which every service runs. No file in the image belongs to this user.
const serviceUser = "65532:65532"

// certificates is the path, in the image, of the CA certificates that a service trusts for TLS.
const certificates = "etc/ssl/certs/ca-certificates.crt"

// readMachineCertificates returns the CA certificates of this machine. It looks for the files of Debian, Red Hat and
// macOS.
func readMachineCertificates() ([]byte, error) {
	for _, file := range []string{"/" + certificates, "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"} {
		bundle, err := os.ReadFile(file)
		if !errors.Is(err, fs.ErrNotExist) {
			return bundle, err
		}
	}
	return nil, errors.New("this machine has no CA certificates: install the package ca-certificates")
}

// Services returns the names of the services in the checkout at `root` that run in a cluster. These are all services
// that have a command with the service's name, except allinone, which runs all services in one process.
func Services(root string) ([]string, error) {
	dirs, err := filepath.Glob(filepath.Join(root, "services", "*", "cmd", "*", "main.go"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, main := range dirs {
		command := filepath.Dir(main)
		service := filepath.Dir(filepath.Dir(command))
		if name := filepath.Base(service); name == filepath.Base(command) && name != "allinone" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no services: name the top of a checkout", root)
	}
	return names, nil
}

// buildService builds the image of a service, or of all services in one process. The argument `what` is the service's
// name or [One]. The service's command is /service in the image; other commands keep their names.
func buildService(ctx context.Context, src Source, what string) (v1.Image, error) {
	commands, err := compile(ctx, src, what)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(commands)
	files, err := buildCommandFiles(commands, what)
	if err != nil {
		return nil, err
	}
	trust, err := readMachineCertificates()
	if err != nil {
		return nil, err
	}
	cfg := newServiceConfig(src, what)
	if what == One {
		cfg, files = newOneConfig(src), append(files, oneFolders...)
	}
	return assemble([][]entry{{{path: certificates, mode: 0o644, content: trust}}, files}, cfg, src)
}

func newServiceConfig(src Source, what string) v1.Config {
	return v1.Config{
		Entrypoint: []string{"/service"},
		User:       serviceUser,
		WorkingDir: "/",
		Env:        []string{"PATH=/", "SSL_CERT_FILE=/" + certificates},
		Labels:     src.listLabels(what),
	}
}

// listLabels returns the labels of the image of a service or store, as the Open Container Initiative defines them.
func (src Source) listLabels(what string) map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title":       "slotmesh-" + what,
		prefix + "description": "Slotmesh's " + what + " service",
		prefix + "source":      "https://github.com/slotmesh/slotmesh",
		prefix + "version":     src.Version,
		prefix + "revision":    src.Revision,
		prefix + "created":     src.Created.UTC().Format("2006-01-02T15:04:05Z"),
		prefix + "base.name":   "scratch",
		"io.slotmesh.sbom":     "/sbom",
	}
}

// compile builds the commands of a service outside the Go workspace, in a temporary folder. It returns the path of this
// folder, which the caller must remove.
func compile(ctx context.Context, src Source, what string) (string, error) {
	module, commands := filepath.Join(src.Root, "services", what), "./cmd/..."
	if what == One {
		module, commands = filepath.Join(src.Root, "services", "allinone"), "./"+oneProgram
	} else if _, err := os.Stat(filepath.Join(module, "cmd", what)); err != nil {
		return "", errors.New("there is no service of that name")
	}
	out, err := os.MkdirTemp("", "slotmesh-image-")
	if err != nil {
		return "", err
	}
	if err := runBuild(ctx, module, "linux", src.Arch, listBuildArgs(out+"/", src.Version, commands)); err != nil {
		return "", errors.Join(err, os.RemoveAll(out))
	}
	return out, nil
}

// BuildOne builds the program that is server and client, for the system `goos` and the architecture src.Arch, and
// writes it to `file`.
func BuildOne(ctx context.Context, src Source, goos, file string) error {
	module, err := filepath.Abs(filepath.Join(src.Root, "services", "allinone"))
	if err != nil {
		return err
	}
	return runBuild(ctx, module, goos, src.Arch, listBuildArgs(file, src.Version, "./"+oneProgram))
}

// runBuild runs the go command with the given arguments, outside the Go workspace.
func runBuild(ctx context.Context, module, goos, arch string, args []string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOOS="+goos, "GOARCH="+arch,
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

// listBuildArgs returns the arguments of the go command that builds commands. The Dockerfile uses the same arguments.
//
// The tag grpcnotrace leaves out the pages of gRPC's own traces. They use text/template, which calls methods by their
// names. The linker would then keep every exported method, and programs would be a quarter larger.
func listBuildArgs(out, version, commands string) []string {
	return []string{
		"build", "-trimpath", "-buildvcs=false", "-tags=grpcnotrace", "-ldflags",
		"-s -w -X github.com/slotmesh/slotmesh/libs/platform/build.release=" + version, "-o", out, commands,
	}
}

// buildCommandFiles returns the image's entries for the commands in the folder `dir`, and for the bill of materials of
// each command.
func buildCommandFiles(dir, service string) ([]entry, error) {
	commands, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []entry
	for _, command := range commands {
		program, err := os.ReadFile(filepath.Join(dir, command.Name()))
		if err != nil {
			return nil, err
		}
		materials, err := Materials(filepath.Join(dir, command.Name()))
		if err != nil {
			return nil, err
		}
		at := command.Name()
		if at == service {
			at = "service"
		}
		files = append(files,
			entry{path: at, mode: 0o755, content: program},
			entry{path: "sbom/" + command.Name() + ".cdx.json", mode: 0o644, content: materials})
	}
	return files, nil
}

// assemble builds an image from layers and a configuration. Each element of the argument `layers` contains the entries
// of one layer.
func assemble(layers [][]entry, cfg v1.Config, src Source) (v1.Image, error) {
	var adds []mutate.Addendum
	for _, entries := range layers {
		packed, err := packLayer(entries)
		if err != nil {
			return nil, err
		}
		history := v1.History{Created: v1.Time{Time: src.Created}, CreatedBy: "slotmesh k8s/images",
			Comment: entries[0].path}
		adds = append(adds, mutate.Addendum{Layer: packed, History: history})
	}
	img, err := mutate.Append(empty.Image, adds...)
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created, file.Config = "linux", src.Arch, v1.Time{Time: src.Created}, cfg
	return mutate.ConfigFile(img, file)
}
