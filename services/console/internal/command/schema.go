package command

import (
	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// newSchemaCommand returns the command that prints the JSON Schema of manifests. The command needs no server.
func (c *command) newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of manifests, for editors and other programs",
		Long: `schema prints the JSON Schema of manifests: every field, what it is for and what it may hold. A server has it, too, at /manifest.schema.json
of its admin address. Editors with the YAML language server check and complete a manifest whose first line is

  ` + buildEditorLine(defaultServer),
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.write(manifest.Schema) },
	}
}

// buildEditorLine returns the comment line of a manifest with the URL of the JSON Schema. Editors read this line to
// check the manifest.
func buildEditorLine(server string) string {
	return "# yaml-language-server: $schema=" + server + "/manifest.schema.json"
}
