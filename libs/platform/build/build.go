// Package build provides the version of the running Slotmesh program.
package build

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// release is the version of Slotmesh, such as 0.1.0. The linker sets release for images (k8s/images) and packages (dist).
var release string

// Release returns the version of Slotmesh, such as 0.1.0, or "dev" for a program that is not a release.
func Release() string { return cmp.Or(release, "dev") }

// Version returns a text such as "0.1.0 3f2a… go1.25". The text begins with release, or with the version of the Go
// module if release is empty. The Git revision follows if it is known. The version of Go comes last.
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
