package offer

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// PublishedVersion is one version of the offer with the person or program that published it.
type PublishedVersion struct {
	catalog.Version
	By actor.Actor // publisher; the zero value if the event of the version is no longer stored
}

// ListVersions lists the versions of the offer, newest first. It also returns the cursor of the next page, or "" after
// the last page. If the events cannot be read, ListVersions returns the versions without their publishers. Fault:
// invalid_parameter for an invalid page.
func (o *UseCases) ListVersions(ctx context.Context, slug string,
	page request.Page) ([]PublishedVersion, string, error) {
	list, err := o.Businesses.Versions(ctx, slug, page)
	if err != nil || len(list.Versions) == 0 {
		return nil, "", err
	}
	by, err := o.findPublishers(ctx, slug, list.Versions)
	if err != nil {
		o.Logger.WarnContext(ctx, "the publishers of the versions are unknown", slog.String("slug", slug),
			slog.Any("error", err))
	}
	versions := make([]PublishedVersion, len(list.Versions))
	for i, v := range list.Versions {
		versions[i] = PublishedVersion{v, by[v.Version]}
	}
	return versions, list.NextCursor, nil
}

// findPublishers returns the publisher of each version, by version number. It reads the publishers from the events of
// the business. The argument `versions` must be sorted, newest first. A version without an event is missing from the
// result.
func (o *UseCases) findPublishers(ctx context.Context, slug string,
	versions []catalog.Version) (map[int64]actor.Actor, error) {
	const about = time.Minute // maximum difference between the time of a version and the time of its event
	filter := event.Filter{
		Type: event.BusinessPublished, From: versions[len(versions)-1].PublishedAt.Add(-about),
		To: versions[0].PublishedAt.Add(about),
	}
	list, err := o.ListBusinessEvents(ctx, slug, filter, request.Page{Limit: 2 * len(versions)})
	if err != nil {
		return nil, err
	}
	by := make(map[int64]actor.Actor, len(versions))
	for _, e := range list.Events {
		var line catalog.Business
		if json.Unmarshal(e.Data, &line) == nil {
			by[line.Version] = e.Actor
		}
	}
	return by, nil
}
