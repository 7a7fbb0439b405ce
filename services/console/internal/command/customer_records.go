package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
)

// newShowCustomerCommand returns the command that prints the record of a customer. It prints YAML unless the user
// requests JSON, because a record has more fields than a table shows.
func (c *command) newShowCustomerCommand() *cobra.Command {
	var email, phone string
	cmd := c.newBusinessCommand("show SLUG {--email ADDRESS | --phone NUMBER}",
		"Show what is written about a customer, and the sums of what was booked", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			var found json.RawMessage
			path := buildPath(args[0], "customers", "one") + "?" + newCustomerQuery(email, phone)
			if err := client.call(cmd.Context(), http.MethodGet, path, nil, &found); err != nil {
				return err
			}
			if c.output == jsonFormat {
				return c.printJSON(found)
			}
			return c.printYAML(found)
		})
	cmd.Example = "  slotmesh customers show harbor --email ada@example.com"
	return addAddress(cmd, &email, &phone)
}

func (c *command) newChangeCustomerCommand() *cobra.Command {
	var (
		email, phone, name, language, notes string
		emails, phones, tags                []string
	)
	cmd := c.newBusinessCommand("change SLUG {--email ADDRESS | --phone NUMBER}",
		"Write about a customer: name, addresses, notes and tags", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			change := customer.Change{Customer: cmp.Or(email, phone)}
			for flag, set := range map[string]func(){
				"name": func() { change.Name = &name }, "language": func() { change.Language = &language },
				"notes": func() { change.Notes = &notes }, "tag": func() { change.Tags = &tags },
				"all-emails": func() { change.Emails = &emails }, "all-phones": func() { change.Phones = &phones },
			} {
				if cmd.Flags().Changed(flag) {
					set()
				}
			}
			var written customer.Written
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "customers", "change"), change,
				&written); err != nil {
				return err
			}
			return c.printDone(written, "%s", written.ID)
		})
	cmd.Long = "Writes about a customer. What no flag names stays as it is; a list replaces the whole list."
	cmd.Example = `  slotmesh customers change harbor --email ada@example.com --notes "Prefers mornings." --tag regular`
	flags := cmd.Flags()
	flags.StringVar(&name, "name", "", "the name")
	flags.StringVar(&language, "language", "", "the language, such as pt")
	flags.StringVar(&notes, "notes", "", "the notes")
	flags.StringSliceVar(&tags, "tag", nil, "all tags; repeat the flag for several")
	flags.StringSliceVar(&emails, "all-emails", nil, "all e-mail addresses")
	flags.StringSliceVar(&phones, "all-phones", nil, "all telephone numbers")
	return addAddress(cmd, &email, &phone)
}

func (c *command) newMergeCommand() *cobra.Command {
	cmd := c.newBusinessCommand("merge SLUG ADDRESS OTHER",
		"Make the customer with the address OTHER a part of another", 3,
		func(cmd *cobra.Command, args []string, client *client) error {
			var written customer.Written
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "customers", "merge"),
				customer.MergeRequest{Into: args[1], From: args[2]}, &written); err != nil {
				return err
			}
			return c.printDone(written, "%s", written.ID)
		})
	cmd.Example = `  slotmesh customers merge harbor ada@example.com "+351 210 000 000"`
	return cmd
}

func (c *command) newSeparateCommand() *cobra.Command {
	cmd := c.newBusinessCommand("separate SLUG ADDRESS MERGE-ID", "Undo a merge, which customers show names", 3,
		func(cmd *cobra.Command, args []string, client *client) error {
			id, err := uuid.Parse(args[2])
			if err != nil {
				return &localError{fmt.Errorf("%s is no id of a merge; customers show prints them", args[2])}
			}
			var written customer.Written
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "customers", "separate"),
				customer.Separate{Customer: args[1], MergeID: id}, &written); err != nil {
				return err
			}
			return c.printDone(written, "%s", written.ID)
		})
	cmd.Example = "  slotmesh customers separate harbor ada@example.com 0193a0d5-0a3e-7c11-9a52-5f5a8d1b7c23"
	return cmd
}

// importResult is the part of the answer to an import that the command prints.
type importResult struct {
	ID        *uuid.UUID      `json:"id"`
	DryRun    bool            `json:"dry_run"`
	Head      []string        `json:"head"`
	Columns   []string        `json:"columns"`
	Added     int             `json:"added"`
	Duplicate []int           `json:"duplicate"`
	Invalid   []importProblem `json:"invalid"`
}

type importProblem struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// maxImportBytes is more than the largest file that the admin API accepts. Its answer names the limit.
const maxImportBytes = 4 << 20

func (c *command) newImportCustomersCommand() *cobra.Command {
	var (
		isDry   bool
		columns string
	)
	cmd := c.newBusinessCommand("import SLUG FILE", "Import customers from a CSV file; nobody is notified", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			content, err := readImport(args[1])
			if err != nil {
				return err
			}
			query := url.Values{}
			if isDry {
				query.Set("dry_run", "true")
			}
			if columns != "" {
				query.Set("columns", columns)
			}
			answer, err := client.do(cmd.Context(), adminapi.Request{Method: http.MethodPost,
				Path:   buildPath(args[0], "customers", "import") + "?" + query.Encode(),
				Header: map[string]string{"Content-Type": "text/csv"}, Body: content})
			if err != nil {
				return err
			}
			var imported importResult
			if err := client.read(answer, &imported); err != nil {
				return err
			}
			return c.printImport(imported)
		})
	cmd.Long = `Makes a record for each line of a CSV file, except for customers who have a record: an import can be
repeated. The first line names the columns; they are recognized by their names in several languages, or by --columns.`
	cmd.Example = `  slotmesh customers import harbor customers.csv --dry-run
  slotmesh customers import harbor customers.csv --columns first_name,last_name,,email`
	cmd.Flags().BoolVar(&isDry, "dry-run", false, "only say what the import would do")
	cmd.Flags().StringVar(&columns, "columns", "", "what each column is, in the order of the file: name, first_name, "+
		"last_name, email, phone, language, notes, tags, or nothing for a column to leave out")
	return cmd
}

func readImport(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, &localError{fmt.Errorf("the file cannot be read: %w", err)}
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxImportBytes))
	if err != nil {
		return nil, &localError{fmt.Errorf("the file cannot be read: %w", err)}
	}
	return content, nil
}

// printImport prints what an import did or would do, and the lines that are left out.
func (c *command) printImport(imported importResult) error {
	line := "Imported: %d new customers; %d have a record already; %d lines are left out."
	if imported.DryRun {
		line = "An import would add %d customers; %d have a record already; %d lines would be left out."
	}
	err := c.printDone(imported, line, imported.Added, len(imported.Duplicate), len(imported.Invalid))
	if err != nil || c.output == jsonFormat || c.output == yamlFormat {
		return err
	}
	if imported.ID != nil {
		if err := c.printDone(nil, "To undo it: slotmesh customers undo-import SLUG %s", *imported.ID); err != nil {
			return err
		}
	}
	if len(imported.Invalid) == 0 {
		return nil
	}
	t := table{head: []string{"LINE", "LEFT OUT BECAUSE"}}
	for _, problem := range imported.Invalid {
		t.rows = append(t.rows, []string{strconv.Itoa(problem.Line), problem.Message})
	}
	return c.printTable(t)
}

func (c *command) newListImportsCommand() *cobra.Command {
	return c.newBusinessCommand("imports SLUG", "List the newest imports of customers", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			var list customer.ImportList
			if err := client.call(cmd.Context(), http.MethodGet, buildPath(args[0], "customers", "imports"), nil,
				&list); err != nil {
				return err
			}
			t := table{head: []string{"ID", "AT", "CUSTOMERS", "UNCHANGED", "UNDONE"}}
			for _, i := range list.Imports {
				t.rows = append(t.rows, []string{i.ID.String(), formatInstant(&i.At), strconv.Itoa(i.Customers),
					strconv.Itoa(i.Left), formatInstant(i.UndoneAt)})
			}
			return c.print(list, t)
		})
}

func (c *command) newUndoImportCommand() *cobra.Command {
	cmd := c.newBusinessCommand("undo-import SLUG ID",
		"Remove the customers of an import that were not changed since", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			var removed customer.Removed
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "customers", "imports", args[1], "undo"),
				nil, &removed); err != nil {
				return err
			}
			return c.printDone(removed, "Removed: %d customers.", removed.Records)
		})
	cmd.Example = "  slotmesh customers undo-import harbor 0193a0d5-0a3e-7c11-9a52-5f5a8d1b7c24"
	return cmd
}
