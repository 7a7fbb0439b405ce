package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/services/console/internal/reports/reportcsv"
)

// format is the output format that the user has requested. If the format is "", each command uses its default: the
// published text for a manifest, and a table for everything else.
type format string

const (
	tableFormat format = "table"
	jsonFormat  format = "json"
	yamlFormat  format = "yaml"
	csvFormat   format = "csv"
)

var formats = []string{string(tableFormat), string(jsonFormat), string(yamlFormat), string(csvFormat)}

// Set implements pflag.Value: it sets the format from the text of the flag.
func (f *format) Set(text string) error {
	switch format(text) {
	case tableFormat, jsonFormat, yamlFormat, csvFormat:
		*f = format(text)
		return nil
	}
	return fmt.Errorf("write %s", strings.Join(formats, ", "))
}

// String implements pflag.Value: it returns the text of the flag.
func (f *format) String() string { return string(*f) }

// Type implements pflag.Value: it returns the possible values of the flag, for the help.
func (f *format) Type() string { return strings.Join(formats, "|") }

// table is the output for a person: the names of the columns, and rows with one cell for each column.
type table struct {
	head []string
	rows [][]string
}

// print prints a result in the requested format: the argument `value` as JSON or YAML, or the argument `t` as CSV or as
// a table.
func (c *command) print(value any, t table) error {
	switch c.output {
	case jsonFormat:
		return c.printJSON(value)
	case yamlFormat:
		return c.printYAML(value)
	case csvFormat:
		return c.write(reportcsv.FormatTable(t.head, t.rows))
	default: // the format tableFormat, or no requested format
	}
	return c.printTable(t)
}

// printDone prints the result of a change: the argument `value` as JSON or YAML, or otherwise one line of text. The
// argument `line` is the format string of this text, and `args` are the values for the format string.
func (c *command) printDone(value any, line string, args ...any) error {
	if c.output == jsonFormat || c.output == yamlFormat {
		return c.print(value, table{})
	}
	return c.write([]byte(printable(fmt.Sprintf(line, args...)) + "\n"))
}

func (c *command) printJSON(value any) error {
	text, err := encodeJSON(value)
	if err != nil {
		return err
	}
	return c.write(text)
}

// printYAML prints a value as YAML. It converts the value's JSON, so that both formats have the same names in the same
// order.
func (c *command) printYAML(value any) error {
	text, err := encodeJSON(value)
	if err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return err
	}
	setBlockStyle(&document)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return err
	}
	return c.write(out.Bytes())
}

func setBlockStyle(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		setBlockStyle(child)
	}
}

func encodeJSON(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	return out.Bytes(), err
}

func (c *command) printTable(t table) error {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.head}, t.rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printable(cell)
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) // a write to a buffer never fails
	}
	_ = w.Flush()
	return c.write(out.Bytes())
}

// printable replaces unprintable characters by spaces. Without this, texts from customers could control the terminal or
// break the table.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

func (c *command) write(text []byte) error {
	if _, err := c.host.Stdout.Write(text); err != nil {
		return &localError{fmt.Errorf("the output cannot be written: %w", err)}
	}
	return nil
}

// formatInstant returns a time as text for a table, or "-" for nil.
func formatInstant(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// formatYes returns "yes" for true and "no" for false.
func formatYes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
