package cli

import (
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ofBusiness is a command on one business, which is its first argument.
func (c *command) ofBusiness(use, short string, arguments int, run func(cmd *cobra.Command, args []string, client *client) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(arguments), ValidArgsFunction: c.completeSlug, RunE: c.withClient(run),
	}
}

// listEntries lists the entries of a business that the flags do not leave out; filters are their values by parameter.
func listEntries[T any](c *command, list, short string, filters map[string]*string, all func([]T) any, show func(...T) table) *cobra.Command {
	return c.ofBusiness("list SLUG", short, 1, func(cmd *cobra.Command, args []string, client *client) error {
		query := url.Values{}
		for name, value := range filters {
			if *value != "" {
				query.Set(name, *value)
			}
		}
		entries, err := pages[T](cmd.Context(), client, at(args[0], list), list, query)
		if err != nil {
			return err
		}
		return c.print(all(entries), show(entries...))
	})
}

// moveEntry makes one of the moves of an entry, and shows it as it is then.
func moveEntry[T any](c *command, list, move, short string, show func(...T) table) *cobra.Command {
	return c.ofBusiness(move+" SLUG ID", short, 2, func(cmd *cobra.Command, args []string, client *client) error {
		var moved T
		if err := client.call(cmd.Context(), http.MethodPost, at(args[0], list, args[1], move), nil, &moved); err != nil {
			return err
		}
		return c.print(moved, show(moved))
	})
}

// mustRequire makes flags required.
func mustRequire(cmd *cobra.Command, flags ...string) *cobra.Command {
	for _, name := range flags {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // only for a flag that does not exist
		}
	}
	return cmd
}

// addCustomer adds the flags that say where messages to a customer go, and in which language.
func addCustomer(flags *pflag.FlagSet, address, locale *string) {
	flags.StringVar(address, "email", "", "the customer's e-mail address, for messages")
	flags.StringVar(locale, "locale", "", "the customer's language, such as pt; else the business's default")
}
