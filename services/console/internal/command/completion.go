package command

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// maxCompleted is the maximum number of ids that the completion offers.
const maxCompleted = "100"

// complete returns the words with which a shell completes the current argument. The argument `words` is the function
// that reads these words from the server.
func (c *command) complete(cmd *cobra.Command, words func(ctx context.Context, client *client) ([]string,
	error)) ([]string, cobra.ShellCompDirective) {
	client, err := c.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer client.close()
	offered, err := words(cmd.Context(), client)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// completeSlug offers the slugs of businesses for the first argument of a command.
func (c *command) completeSlug(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(cmd, func(ctx context.Context, client *client) ([]string, error) {
		businesses, err := readPages[catalog.Business](ctx, client, "/admin/businesses", "businesses", url.Values{})
		words := make([]string, 0, len(businesses))
		for _, b := range businesses {
			words = append(words, cobra.CompletionWithDesc(b.Slug, printable(b.Name)))
		}
		return words, err
	})
}

// completeArgument completes the arguments of a command in the shell. It completes the first argument with slugs of
// businesses. It completes the second argument with ids of objects if the usage line names this argument ID. It
// completes the second argument with versions of the business if the usage line names this argument VERSION.
func (c *command) completeArgument(cmd *cobra.Command, args []string,
	input string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return c.completeSlug(cmd, args, input)
	}
	switch second := strings.Fields(cmd.Use); {
	case len(second) > 2 && second[2] == "VERSION":
		return c.completeVersions(cmd, args, input)
	case len(second) > 2 && second[2] == "ID" && idLists[cmd.Parent().Name()] != "":
		return c.complete(cmd, func(ctx context.Context, client *client) ([]string, error) {
			return client.listIDs(ctx, args[0], idLists[cmd.Parent().Name()])
		})
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// idLists maps the name of a group of commands to the name of a list in the admin API. The list has the objects whose
// ids the commands of the group take.
var idLists = map[string]string{
	"keys": "keys", "calendars": "calendars", "webhooks": "webhooks", "messages": "messages", "bookings": "bookings",
	"reservations": "reservations",
	"tickets":      "tickets", "users": "members",
}

// listIDs returns the ids on the first page of a list, each with a description, for the completion. The descriptions do
// not name customers, because the completion can stay visible on the screen.
func (c *client) listIDs(ctx context.Context, slug, list string) ([]string, error) {
	var page map[string]json.RawMessage
	if err := c.call(ctx, http.MethodGet, buildPath(slug, list)+"?limit="+maxCompleted, nil, &page); err != nil {
		return nil, err
	}
	var entries []struct{ ID, Name, URL, Kind, Date, Time, Status string }
	if err := c.read(page[list], &entries); err != nil {
		return nil, err
	}
	words := make([]string, len(entries))
	for i, e := range entries {
		says := strings.Fields(strings.Join([]string{e.Name, e.URL, e.Kind, e.Date, e.Time, e.Status}, " "))
		words[i] = cobra.CompletionWithDesc(e.ID, printable(strings.Join(says, " ")))
	}
	return words, nil
}

// completeVersions completes the second argument of a command with versions of a business. The first argument is the
// slug of the business.
func (c *command) completeVersions(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(cmd, func(ctx context.Context, client *client) ([]string, error) {
		versions, err := readPages[catalog.Version](ctx, client, buildPath(args[0], "versions"), "versions",
			url.Values{})
		words := make([]string, 0, len(versions))
		for _, v := range versions {
			words = append(words, cobra.CompletionWithDesc(strconv.FormatInt(v.Version, 10),
				formatInstant(&v.PublishedAt)))
		}
		return words, err
	})
}

// flagKinds maps each flag that takes an object of an offer to the kind of the object.
var flagKinds = map[string]string{"service": kindService, "staff": kindMember, "event": kindEvent, "rental": kindRental}

// completeFlags adds shell completion to those flags of `cmd` and of its subcommands whose value is an object of an
// offer, such as a service. The words are the keys of these objects. They come from the offer of the business whose
// slug is the first argument.
func (c *command) completeFlags(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		c.completeFlags(below)
	}
	if !strings.Contains(cmd.Use, " SLUG") {
		return
	}
	for flag, kind := range flagKinds {
		if cmd.Flags().Lookup(flag) != nil {
			c.mustCompleteBy(cmd, flag, func(o *contents) []entry { return o.listKind(kind) })
		}
	}
	if cmd.Flags().Lookup("session") != nil {
		c.mustCompleteBy(cmd, "session", (*contents).listSessions)
	}
	if cmd.Flags().Lookup("tier") != nil {
		c.mustCompleteBy(cmd, "tier", (*contents).listAllTiers)
	}
}

// mustCompleteBy adds completion to a flag. The function `entries` returns the objects of the offer whose keys complete
// the flag. mustCompleteBy panics if the command has no such flag, which is a bug.
func (c *command) mustCompleteBy(cmd *cobra.Command, flag string, entries func(*contents) []entry) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, args []string, _ string) ([]string,
		cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.complete(cmd, func(ctx context.Context, client *client) ([]string, error) {
			offer, err := client.loadContents(ctx, args[0])
			if err != nil {
				return nil, err
			}
			var words []string
			for _, e := range entries(offer) {
				words = append(words, cobra.CompletionWithDesc(e.Key, printable(e.Name)))
			}
			return words, nil
		})
	})
	if err != nil {
		panic(err)
	}
}
