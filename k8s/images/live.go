package images

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// serviceID is the numeric uid and gid with which every service runs.
const serviceID = 65532

// Live lists the files of a development image. The program in this image can be replaced while the container runs
// (package internal/live).
type Live struct {
	Supervisor string   // path of the program cmd/live, built for Linux
	Program    string   // path of the service
	Commands   []string // paths of additional programs, which keep their file names
}

// Push builds the development image and pushes it to the reference `ref`. If the registry is on this machine, Push uses
// HTTP.
func (l Live) Push(ctx context.Context, ref string) error {
	img, err := l.buildImage()
	if err != nil {
		return err
	}
	tag, err := name.ParseReference(ref)
	if err != nil {
		return err
	}
	if err := remote.Write(tag, img, remote.WithContext(ctx)); err != nil {
		return fmt.Errorf("sending the image to %s: %w: make the cluster with its registry, as k8s/README.md says",
			tag.Context().RegistryStr(), err)
	}
	return nil
}

func (l Live) buildImage() (v1.Image, error) {
	trust, err := readMachineCertificates()
	if err != nil {
		return nil, err
	}
	supervisor, err := os.ReadFile(l.Supervisor)
	if err != nil {
		return nil, err
	}
	tools := []entry{
		{path: certificates, mode: 0o644, content: trust},
		{path: "service", mode: 0o755, content: supervisor},
		{path: "tar", link: "service"},
	}
	for _, command := range l.Commands {
		content, err := os.ReadFile(command)
		if err != nil {
			return nil, err
		}
		tools = append(tools, entry{path: filepath.Base(command), mode: 0o755, content: content})
	}
	program, err := os.ReadFile(l.Program)
	if err != nil {
		return nil, err
	}
	service := []entry{
		{path: "live", mode: 0o755, owner: serviceID, folder: true},
		{path: "live/service", mode: 0o755, owner: serviceID, content: program},
	}
	src := Source{Version: "live", Created: time.Unix(0, 0), Arch: runtime.GOARCH}
	return assemble([][]entry{tools, service}, newServiceConfig(src, filepath.Base(filepath.Dir(l.Program))), src)
}
