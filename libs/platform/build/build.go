// Package build identifies the running build of Slotmesh.
package build

import (
	"runtime/debug"
	"strings"
)

// release is the version that the linker sets in programs for images (k8s/images), such as 0.1.0.
var release string

// Version returns the version of the image, or the version of the module if
// there is no image. The revision, if known, and the version of Go follow.
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
