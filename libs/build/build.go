// Package build tells which build of Slotmesh runs.
package build

import (
	"runtime/debug"
	"strings"
)

// release is the version that the linker writes into the programs of images (k8s/images), as 0.1.0.
var release string

// Version is the version that the image was made as, else the module's where the program was built as one; then the revision, where that was
// noted, and Go's version.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	if release != "" {
		text = release
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value[:min(len(s.Value), 12)]
		}
	}
	return strings.TrimSpace(text) + " " + info.GoVersion
}
