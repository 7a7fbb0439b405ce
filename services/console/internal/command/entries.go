package command

import (
	"context"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// newBusinessCommand returns a command whose first argument is the slug of a business.
func (c *command) newBusinessCommand(use, short string, arguments int,
	run func(cmd *cobra.Command, args []string, client *client) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(arguments), ValidArgsFunction: c.completeArgument,
		RunE: c.withClient(func(cmd *cobra.Command, args []string, client *client) error {
			err := run(cmd, args, client)
			if fault.Is(err, fault.BusinessNotFound) {
				return client.suggestSlug(cmd.Context(), args[0], err)
			}
			return err
		}),
	}
}

// suggestSlug returns the error for an unknown slug. If a business has a similar slug, the error suggests this slug.
func (c *client) suggestSlug(ctx context.Context, slug string, refused error) error {
	businesses, err := readPages[catalog.Business](ctx, c, "/admin/businesses", "businesses", url.Values{})
	if err != nil {
		return refused
	}
	slugs := make([]string, len(businesses))
	for i, b := range businesses {
		slugs[i] = b.Slug
	}
	if near := manifest.Nearest(slug, slugs); near != "" {
		return fault.Newf(fault.BusinessNotFound, "Business not found: %s; did you mean %s?", slug, near)
	}
	return refused
}

// newListEntriesCommand returns a command that lists the objects of a business, such as bookings. The keys of the map
// `filters` are the names of the request's query parameters. The values of the map point to the values of the flags
// that set these parameters.
func newListEntriesCommand[T any](c *command, list, short string, filters map[string]*string, all func([]T) any,
	show func(...T) table) *cobra.Command {
	return c.newBusinessCommand("list SLUG", short, 1, func(cmd *cobra.Command, args []string, client *client) error {
		called := client.newNameResolver(args[0])
		for parameter, kind := range map[string]string{"service_id": kindService, "staff_id": kindMember,
			"event_id": kindEvent} {
			if value := filters[parameter]; value != nil {
				if err := called.resolve(cmd.Context(), kind, value); err != nil {
					return err
				}
			}
		}
		if value := filters["location_id"]; value != nil {
			if err := called.resolveAmong(cmd.Context(), "location", (*contents).listLocations, value); err != nil {
				return err
			}
		}
		query := url.Values{}
		for name, value := range filters {
			if *value != "" {
				query.Set(name, *value)
			}
		}
		entries, err := readPages[T](cmd.Context(), client, buildPath(args[0], list), list, query)
		if err != nil {
			return err
		}
		return c.print(all(entries), show(entries...))
	})
}

// newTransitionCommand returns a command that changes the status of an object, such as a booking. The command prints
// the object as it is after the change.
func newTransitionCommand[T any](c *command, list, transition, short string, show func(...T) table) *cobra.Command {
	notify := true
	cmd := c.newBusinessCommand(transition+" SLUG ID", short, 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			var (
				moved T
				body  any
			)
			if !notify {
				body = map[string]bool{"notify": false}
			}
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], list, args[1], transition), body,
				&moved); err != nil {
				return err
			}
			return c.print(moved, show(moved))
		})
	if transition == booking.TransitionConfirm {
		addNotifyFlag(cmd, &notify)
	}
	return cmd
}

// mustRequire makes flags required. It panics if a flag does not exist.
func mustRequire(cmd *cobra.Command, flags ...string) *cobra.Command {
	for _, name := range flags {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag does not exist, which is a bug
		}
	}
	return cmd
}

// addCustomer adds the flags for a customer's e-mail address, phone number and language.
func addCustomer(flags *pflag.FlagSet, address, phone, locale *string) {
	flags.StringVar(address, "email", "", "the customer's e-mail address, for messages")
	flags.StringVar(phone, "phone", "", "the customer's telephone number")
	flags.StringVar(locale, "locale", "", "the customer's language, such as pt; else the business's default")
}
