// Package build tells which build of Slotmesh runs.
package build

import (
	"runtime/debug"
	"strings"
)

// Version is the module's version where the program was built as one, else the revision, where that was noted; then Go's version.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value[:min(len(s.Value), 12)]
		}
	}
	return strings.TrimSpace(text) + " " + info.GoVersion
}
