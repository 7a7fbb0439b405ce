package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// withClient returns the function that runs a command. The function opens a client of the server, runs `action` with
// this client, and closes the client.
func (c *command) withClient(action func(cmd *cobra.Command, args []string,
	client *client) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		client, err := c.client()
		if err != nil {
			return err
		}
		defer client.close()
		return action(cmd, args, client)
	}
}

func (c *command) newListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the businesses",
		Args:  cobra.NoArgs,
		RunE: c.withClient(func(cmd *cobra.Command, _ []string, client *client) error {
			list, err := readPages[catalog.Business](cmd.Context(), client, "/admin/businesses", "businesses",
				url.Values{})
			if err != nil {
				return err
			}
			t := table{head: []string{"SLUG", "NAME", "VERSION", "UPDATED", "ID"}}
			for _, b := range list {
				t.rows = append(t.rows, []string{b.Slug, b.Name, strconv.FormatInt(b.Version, 10),
					formatInstant(&b.UpdatedAt), b.ID.String()})
			}
			return c.print(catalog.BusinessList{Businesses: list}, t)
		}),
	}
}

func (c *command) newGetCommand() *cobra.Command {
	var version int64
	cmd := c.newBusinessCommand("get SLUG", "Print a business's manifest, as YAML where nothing else is asked for", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			path := buildPath(args[0])
			if version != 0 {
				path += "?version=" + strconv.FormatInt(version, 10)
			}
			accept := catalog.MediaYAML
			if c.output == jsonFormat || c.output == tableFormat {
				accept = catalog.MediaJSON
			}
			text, err := client.do(cmd.Context(), adminapi.Request{Method: http.MethodGet, Path: path,
				Header: map[string]string{"Accept": accept}})
			if err != nil {
				return err
			}
			return c.printManifest(client, text)
		})
	cmd.Flags().Int64Var(&version, "version", 0, "this version instead of the newest")
	if err := cmd.RegisterFlagCompletionFunc("version", c.completeVersions); err != nil {
		panic(err) // the flag does not exist, which is a bug
	}
	return cmd
}

// printManifest prints a manifest. If the user has requested a table, it prints a summary of the manifest. Otherwise it
// prints the published text, and indents the text if it is JSON.
func (c *command) printManifest(client *client, text []byte) error {
	if c.output == tableFormat {
		return c.printContents(client, text)
	}
	if c.output == jsonFormat {
		var indented bytes.Buffer
		if err := json.Indent(&indented, bytes.TrimSpace(text), "", "  "); err != nil {
			return client.read(text, new(any))
		}
		text = indented.Bytes()
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	return c.write(text)
}

func (c *command) printContents(client *client, text []byte) error {
	var m struct {
		Slug, Name, Currency, Timezone string
		Staff, Services                []json.RawMessage
		Events, Rentals                []json.RawMessage
	}
	if err := client.read(text, &m); err != nil {
		return err
	}
	return c.printTable(table{
		head: []string{"SLUG", "NAME", "CURRENCY", "TIMEZONE", "STAFF", "SERVICES", "EVENTS", "RENTALS"},
		rows: [][]string{{m.Slug, m.Name, m.Currency, m.Timezone, strconv.Itoa(len(m.Staff)),
			strconv.Itoa(len(m.Services)),
			strconv.Itoa(len(m.Events)), strconv.Itoa(len(m.Rentals))}},
	})
}

func (c *command) newRollbackCommand() *cobra.Command {
	var notifies bool
	cmd := c.newBusinessCommand("rollback SLUG VERSION", "Publish an old version again as the newest", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			version, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil || version < 1 {
				return fmt.Errorf("VERSION: %q is not a version; write a whole number from 1 on, as history lists them",
					args[1])
			}
			var p published
			if err := client.call(cmd.Context(), http.MethodPost, addNotification(buildPath(args[0], "rollback"), notifies),
				catalog.Rollback{Version: version}, &p); err != nil {
				return err
			}
			return c.printDone(p, "%s: version %d is published again as version %d", p.Slug, version, p.Version)
		})
	addAddressFlag(cmd, &notifies)
	return cmd
}

func (c *command) newDeleteCommand() *cobra.Command {
	var force bool
	cmd := c.newBusinessCommand("delete SLUG", "Remove a business, its offer and its keys", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			path := buildPath(args[0])
			if force {
				path += "?force=true"
			}
			if err := client.call(cmd.Context(), http.MethodDelete, path, nil, nil); err != nil {
				return err
			}
			return c.printDone(map[string]any{"slug": args[0], "removed": true}, "%s is removed", args[0])
		})
	cmd.Flags().BoolVar(&force, "force", false, "also while bookings, tickets or reservations lie ahead")
	return cmd
}
