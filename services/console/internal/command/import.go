package command

import (
	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/foreign"
)

// newImportCommand returns the command that drafts a manifest from files of another booking program. It needs no
// server.
func (c *command) newImportCommand() *cobra.Command {
	b := foreign.Business{}
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Draft a manifest from the services of another booking program",
		Long: `import prints a manifest with the services, prices and people of another program. Look at it, complete it, then
publish it with slotmesh apply. It reads the JSON of services and providers of Easy!Appointments, that of event types of
Cal.com, the item library of Square as CSV, and any CSV file with the columns name, duration, price and staff.`,
		Example: `  slotmesh import services.json providers.json --slug harbor --name "Harbor Studio" > harbor.yaml
  slotmesh validate -f harbor.yaml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var files [][]byte
			for _, name := range args {
				content, err := readImport(name)
				if err != nil {
					return err
				}
				files = append(files, content)
			}
			offer, err := foreign.Read(files...)
			if err != nil {
				return err
			}
			return c.write([]byte(offer.Draft(b)))
		},
	}
	cmd.Flags().StringVar(&b.Slug, "slug", "my-business", "the business in addresses: a-z, 0-9 and -")
	cmd.Flags().StringVar(&b.Name, "name", "My business", "its name")
	cmd.Flags().StringVar(&b.Currency, "currency", "", "ISO 4217; that of the files, or EUR, when left out")
	cmd.Flags().StringVar(&b.Timezone, "timezone", "Europe/Lisbon", "an IANA name")
	return cmd
}
