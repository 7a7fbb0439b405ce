package dist

import (
	"os"
	"path/filepath"
	"strings"
)

// composeVersion is the text in compose.yaml that a release replaces by its version.
const composeVersion = "${SLOTMESH_VERSION:?}"

// writeCompose writes the archive with the compose file, its settings and Caddy's configuration.
func writeCompose(o Options) error {
	name := "slotmesh_" + o.Source.Version + "_compose"
	a := newArchive(o.Source.Created)
	text, err := os.ReadFile(o.file("compose/compose.yaml"))
	if err != nil {
		return err
	}
	content := strings.ReplaceAll(string(text), composeVersion, o.Source.Version)
	if err := a.addContent(name+"/compose.yaml", []byte(content), 0o644); err != nil {
		return err
	}
	for _, file := range []string{"Caddyfile", "slotmesh.env.example", "prepare"} {
		mode := int64(0o644)
		if file == "prepare" {
			mode = 0o755
		}
		if err := a.add(name+"/"+file, o.file("compose/"+file), mode); err != nil {
			return err
		}
	}
	return a.save(filepath.Join(o.Out, name+".tar.gz"))
}
