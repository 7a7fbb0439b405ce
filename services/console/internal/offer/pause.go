package offer

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// Pause publishes a version of the offer that differs from the newest one only in the pause of online bookings. The
// argument `until` is the date on which online bookings are possible again; nil ends the pause. Faults: conflict if
// another system manages the offer, or if another person publishes at the same time; invalid_parameter with the
// problems of the manifest; the faults of [UseCases.Publish].
func (o *UseCases) Pause(ctx context.Context, by peers.Principal, business *catalog.Snapshot, until *timespan.Date) error {
	newest, err := o.ReadOffer(ctx, business.Slug, 0)
	if err != nil {
		return err
	}
	fields, err := newest.Fields()
	if err != nil {
		return err
	}
	settings, _ := fields["bookings"].(document.Fields)
	if settings == nil {
		settings = document.Fields{}
	}
	if delete(settings, "paused_until"); until != nil {
		settings["paused_until"] = until.String()
	}
	if fields["bookings"] = settings; len(settings) == 0 {
		delete(fields, "bookings")
	}
	draft, err := o.DraftOffer(ctx, business.Slug, OfferChange{Base: newest.Version, Fields: fields, Newest: newest})
	switch {
	case err != nil:
		return err
	case len(draft.Problems) > 0:
		return manifest.Invalid(draft.Problems)
	case len(draft.Conflicts) > 0:
		return fault.New(fault.Conflict, "The offer has changed meanwhile; try again.")
	}
	_, err = o.PublishOffer(ctx, by, business, draft, false)
	return err
}
