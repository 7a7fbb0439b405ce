package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/changes"
)

// historyEntry is one version of a business's offer in the output of the command `history`.
type historyEntry struct {
	catalog.Version
	By      string   `json:"by,omitempty"`   // publisher; omitted if unknown or if the token may not read events
	Changes []string `json:"what,omitempty"` // changes of the version; omitted unless requested
}

// maxHistoryChanges is the maximum number of versions for which the command `history` shows the changes. The command
// reads each of these versions from the server, so the number must be small.
const maxHistoryChanges = 20

func (c *command) newHistoryCommand() *cobra.Command {
	var what bool
	cmd := c.newBusinessCommand("history SLUG", "List the versions of a business, newest first, and who published them",
		1,
		func(cmd *cobra.Command, args []string, client *client) error {
			versions, err := readPages[catalog.Version](cmd.Context(), client, buildPath(args[0], "versions"),
				"versions",
				url.Values{})
			if err != nil {
				return err
			}
			by := client.findPublishers(cmd.Context(), args[0])
			list := make([]historyEntry, len(versions))
			for i, v := range versions {
				list[i] = historyEntry{Version: v, By: by[v.Version]}
			}
			if what {
				if err := client.describeChanges(cmd.Context(), args[0], list); err != nil {
					return err
				}
			}
			return c.print(map[string]any{"versions": list}, newHistoryTable(list, what))
		})
	cmd.Flags().BoolVar(&what, "what", false, fmt.Sprintf("say what each of the newest %d versions changed",
		maxHistoryChanges))
	return cmd
}

func newHistoryTable(list []historyEntry, what bool) table {
	t := table{head: []string{"VERSION", "PUBLISHED", "BY"}}
	if what {
		t.head = append(t.head, "WHAT")
	}
	for _, v := range list {
		row := []string{strconv.FormatInt(v.Version.Version, 10), formatInstant(&v.PublishedAt), orDash(v.By)}
		if what {
			row = append(row, orDash(strings.Join(v.Changes, "; ")))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// findPublishers returns a map from version numbers to the names of the publishers. If the token may read the team, the
// name of a team member is the member's e-mail address. If the token may not read the events, the map is empty.
func (c *client) findPublishers(ctx context.Context, slug string) map[int64]string {
	by := map[int64]string{}
	events, err := readPages[event.Event](ctx, c, buildPath(slug, "events"), "events",
		url.Values{"type": {string(event.BusinessPublished)}})
	if err != nil {
		return by
	}
	called := map[uuid.UUID]string{}
	if team, err := readPages[user](ctx, c, buildPath(slug, "members"), "members", url.Values{}); err == nil {
		for _, u := range team {
			called[u.ID] = u.Email
		}
	}
	for _, e := range events {
		var line catalog.Business
		if json.Unmarshal(e.Data, &line) != nil {
			continue
		}
		if by[line.Version] = e.Actor.String(); called[e.Actor.ID] != "" {
			by[line.Version] = called[e.Actor.ID]
		}
	}
	return by
}

// describeChanges sets the field Changes of the newest versions in `list`. It compares each of these versions with the
// previous version.
func (c *client) describeChanges(ctx context.Context, slug string, list []historyEntry) error {
	var newer *manifest.Manifest
	for i := range list[:min(len(list), maxHistoryChanges+1)] {
		text, err := c.do(ctx, adminapi.Request{
			Method: http.MethodGet, Path: buildPath(slug) + "?version=" + strconv.FormatInt(list[i].Version.Version,
				10),
			Header: map[string]string{"Accept": catalog.MediaJSON},
		})
		if err != nil {
			return err
		}
		m, problems := manifest.Parse(text)
		if len(problems) > 0 {
			newer = nil // this command does not know the manifest format of the version
			continue
		}
		if newer != nil {
			if list[i-1].Changes, err = describeDifferences(m, newer); err != nil {
				return err
			}
		}
		newer = m
	}
	return nil
}

// describeDifferences returns the first three changes between two versions as text. If there are further changes, the
// last text is their number. If there are no changes, the only text is "nothing".
func describeDifferences(before, after *manifest.Manifest) ([]string, error) {
	const most = 3
	all, more, err := changes.Compare(before, after)
	if err != nil {
		return nil, err
	}
	words := []string{}
	for _, c := range all[:min(len(all), most)] {
		words = append(words, c.Path+": "+c.Summary)
	}
	if more += len(all) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	if len(words) == 0 {
		words = append(words, "nothing")
	}
	return words, nil
}
