package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/template"
)

// newInitCommand returns the init command, which prints the first manifest of a new business. The command needs no
// server.
func (c *command) newInitCommand() *cobra.Command {
	b := template.Business{}
	cmd := &cobra.Command{
		Use:   "init TRADE",
		Short: "Print a first manifest with comments, by trade: " + strings.Join(template.ListTrades(), ", "),
		Long: `init prints a manifest to begin with. Keep it in a file, change what it says, then check and publish it:

  slotmesh init salon --slug harbor --name "Harbor Studio" > harbor.yaml
  slotmesh validate -f harbor.yaml
  slotmesh apply -f harbor.yaml`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: template.ListTrades(),
		RunE: func(_ *cobra.Command, args []string) error {
			b.Today = timespan.DateOf(clock.System().Now(), clock.System().Now().UTC().Location())
			text, err := template.RenderManifest(args[0], b)
			if err != nil {
				return err
			}
			if _, problems := manifest.Parse([]byte(text)); len(problems) > 0 { // values of the flags are invalid
				return c.reportProblems(&source{name: "manifest"}, problems)
			}
			server, err := c.resolveServer()
			if err != nil {
				return err
			}
			return c.write([]byte(buildEditorLine(server) + "\n" + text))
		},
	}
	cmd.Flags().StringVar(&b.Slug, "slug", "my-business", "the business in addresses: a-z, 0-9 and -")
	cmd.Flags().StringVar(&b.Name, "name", "My business", "its name")
	cmd.Flags().StringVar(&b.Currency, "currency", "EUR", "ISO 4217")
	cmd.Flags().StringVar(&b.Timezone, "timezone", "Europe/Lisbon", "an IANA name")
	return cmd
}
