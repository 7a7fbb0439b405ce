package cli

import (
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/services/console/internal/changes"
)

// difference is what diff tells programs.
type difference struct {
	Changes []changes.Change `json:"changes"` // by path
	More    int              `json:"more"`    // changes that are not listed
}

func (c *command) diff() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "diff -f FILE",
		Short: "Say what publishing a manifest would change, field by field; publish nothing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			src, err := c.readManifest(file)
			if err != nil {
				return err
			}
			wanted, problems := manifest.Parse(src.text)
			if len(problems) > 0 {
				return c.refused(src, problems)
			}
			return c.compare(cmd, wanted)
		},
	}
	fileFlag(cmd, &file)
	return cmd
}

// compare holds a manifest against the newest version of its business.
func (c *command) compare(cmd *cobra.Command, wanted *manifest.Manifest) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.close()
	r := call{method: http.MethodGet, path: at(string(wanted.Slug)), header: map[string]string{"Accept": catalog.MediaJSON}}
	text, err := client.do(cmd.Context(), r)
	if err != nil {
		return err
	}
	newest, problems := manifest.Parse(text)
	if len(problems) > 0 {
		return c.refused(&source{name: "the newest version"}, problems)
	}
	var d difference
	if d.Changes, d.More, err = changes.Between(newest, wanted); err != nil {
		return err
	}
	if len(d.Changes) == 0 {
		return c.done(d, "%s: nothing would change", wanted.Slug)
	}
	t := table{head: []string{"CHANGE", "FIELD", "BEFORE", "AFTER"}}
	for _, change := range d.Changes {
		t.rows = append(t.rows, []string{change.Change, change.Path, shortly(change.Before), shortly(change.After)})
	}
	return c.print(d, t)
}

// shortly writes a value in a cell of a table; "-" stands for none.
func shortly(value any) string {
	if value == nil {
		return "-"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "-"
	}
	const most = 60
	if cell := []rune(string(text)); len(cell) > most {
		return string(cell[:most]) + "…"
	}
	return string(text)
}
