package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/libs/values/zone"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
)

func (c *command) newPauseCommand() *cobra.Command {
	var until string
	cmd := c.newBusinessCommand("pause SLUG --until DATE",
		"Take no online bookings before a date; what is booked stays", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			first, err := timespan.ParseDate(until)
			if err != nil {
				return fmt.Errorf("--until: %q is no date; write the first day that can be booked on again, such as "+
					"2027-03-01", until)
			}
			p, err := client.setPause(cmd.Context(), args[0], &first)
			if err != nil {
				return err
			}
			return c.printDone(p, "%s: online bookings are paused until %s (version %d)", args[0], until, p.Version)
		})
	cmd.Long = `Publish the newest version with bookings.paused_until set; all else of it, its comments too, stays. Until that date customers see that bookings
are paused. Owners go on booking. slotmesh resume ends it.`
	cmd.Example = "  slotmesh pause harbor --until 2027-03-01"
	cmd.Flags().StringVar(&until, "until", "", "the date from which on online bookings are taken again, YYYY-MM-DD")
	return mustRequire(cmd, "until")
}

func (c *command) newResumeCommand() *cobra.Command {
	return c.newBusinessCommand("resume SLUG", "End a pause of online bookings", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			p, err := client.setPause(cmd.Context(), args[0], nil)
			if err != nil {
				return err
			}
			return c.printDone(p, "%s: online bookings are taken (version %d)", args[0], p.Version)
		})
}

// setPause pauses online bookings until a date, or ends the pause. The argument `first` is the first date that
// customers can book again; nil ends the pause. setPause publishes a new version that differs from the newest version
// only in bookings.paused_until.
//
// If another version is published after setPause has read the newest one, setPause fails. If bookings.paused_until
// already has the requested value, setPause publishes nothing.
func (c *client) setPause(ctx context.Context, slug string, first *timespan.Date) (*published, error) {
	newest, err := c.findNewestVersion(ctx, slug)
	if err != nil {
		return nil, err
	}
	fields, read, err := c.readOffer(ctx, slug, newest)
	if err != nil {
		return nil, err
	}
	until := ""
	if first != nil {
		if until = first.String(); *first <= findToday(fields) {
			return nil, fmt.Errorf("--until: %s is not ahead; write the first day that can be booked on again, %s or "+
				"later", until, findToday(fields)+1)
		}
	}
	settings, _ := fields["bookings"].(document.Fields)
	if settings == nil {
		settings = document.Fields{}
	}
	if now, _ := settings["paused_until"].(string); now == until {
		return &published{Slug: slug, Version: newest}, nil
	}
	if settings["paused_until"] = until; until == "" {
		delete(settings, "paused_until")
	}
	fields["bookings"] = settings
	paused, problems, err := read.WithFields(fields)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, &localError{fmt.Errorf("%s: %s", problems[0].Path, problems[0].Message)}
	}
	body, err := c.do(ctx, adminapi.Request{Method: http.MethodPut, Path: buildPath(slug), Body: paused.Text,
		Header: map[string]string{
			"Content-Type": catalog.MediaYAML, "If-Match": strconv.Quote(strconv.FormatInt(newest, 10)),
		}})
	if err != nil {
		return nil, err
	}
	p := new(published)
	return p, c.read(body, p)
}

// readOffer reads one version of a business's manifest. It returns the fields of the manifest, and the document that
// contains these fields.
func (c *client) readOffer(ctx context.Context, slug string,
	version int64) (document.Fields, *document.Document, error) {
	text, err := c.do(ctx, adminapi.Request{
		Method: http.MethodGet, Path: buildPath(slug) + "?version=" + strconv.FormatInt(version, 10),
		Header: map[string]string{"Accept": catalog.MediaYAML},
	})
	if err != nil {
		return nil, nil, err
	}
	read, problems, err := document.Read(text)
	if err != nil {
		return nil, nil, err
	}
	if len(problems) > 0 {
		return nil, nil,
			&localError{fmt.Errorf("the offer of %s needs a newer slotmesh: %s", slug, problems[0].Message)}
	}
	fields, err := read.Fields()
	return fields, read, err
}

// findToday returns the current date in the time zone of the business with this offer.
func findToday(offer document.Fields) timespan.Date {
	name, _ := offer["timezone"].(string)
	location, err := zone.Load(name)
	if err != nil {
		location = time.UTC
	}
	return timespan.DateOf(clock.System().Now(), location)
}

// findNewestVersion returns the number of the newest version of a business.
func (c *client) findNewestVersion(ctx context.Context, slug string) (int64, error) {
	var list struct {
		Versions []struct {
			Version json.Number `json:"version"`
		} `json:"versions"`
	}
	if err := c.call(ctx, http.MethodGet, buildPath(slug, "versions")+"?"+url.Values{"limit": {"1"}}.Encode(), nil,
		&list); err != nil {
		return 0, err
	}
	if len(list.Versions) == 0 {
		return 0, nil
	}
	return list.Versions[0].Version.Int64()
}
