package offer

import (
	"bytes"
	"context"
	"log/slog"
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// Offer is one version of a business's manifest, as its owner wrote it.
type Offer struct {
	*document.Document
	Version int64
}

// Offer reads a version of the manifest; 0 is the newest. Fault: not_found for an unknown version.
func (o *UseCases) Offer(ctx context.Context, slug string, version int64) (*Offer, error) {
	got, err := o.Businesses.Get(ctx, slug, version, catalog.MediaYAML)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseInt(strings.Trim(got.ETag, `"`), 10, 64)
	if err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, err, "The catalog service gave an unreadable answer; try again "+
			"shortly.")
	}
	read, problems, err := documentOf(ctx, slug, got.Text)
	if err == nil && len(problems) > 0 {
		err = manifest.Invalid(problems)
	}
	return &Offer{read, number}, err
}

// OfferChange is a change of the offer, made on one of its versions.
type OfferChange struct {
	Base   int64           // the version that the change starts from
	Fields document.Fields // the fields after the change
	// TakeTheirs has the decisions on conflicts: the paths that both sides changed differently. true takes the change
	// that another person has published, false takes the change in Fields. A conflict without a decision is returned in
	// the draft.
	TakeTheirs map[string]bool
	// Over is the number of the newest version when the person decided the conflicts; 0 if there was no decision. If a
	// newer version exists, the person must decide again.
	Over int64
	// Newest is the newest version, if the caller has just read it; if it is nil, it is read. If it is outdated,
	// publishing the draft fails.
	Newest *Offer
}

// OfferDraft is a change as it would be published, compared with the newest version.
type OfferDraft struct {
	*document.Document        // nil if there are problems
	Before             *Offer // the newest version; the draft is only published over it
	// Conflicts are the paths that both sides changed differently, if the person has not decided all of them. A draft
	// with conflicts cannot be published.
	Conflicts []document.Conflict
	// Problems are the errors that prevent publishing. Their paths count from 0 in Fields.
	Problems []manifest.Problem
	Fields   document.Fields
}

// DraftOffer compares a change with the newest version of the offer, and publishes nothing. If another person has
// published since the change began, it merges both changes, and lists the conflicts in the draft. Faults: conflict if
// another system manages the offer; not_found for an unknown version.
func (o *UseCases) DraftOffer(ctx context.Context, slug string, change OfferChange) (*OfferDraft, error) {
	var err error
	newest := change.Newest
	if newest == nil {
		if newest, err = o.Offer(ctx, slug, 0); err != nil {
			return nil, err
		}
	}
	if by := newest.Manifest.ManagedBy; by != "" {
		return nil, fault.Newf(fault.Conflict, "This offer is managed by %s; change it there.", by)
	}
	base := newest
	if change.Base != newest.Version {
		if base, err = o.Offer(ctx, slug, change.Base); err != nil {
			return nil, err
		}
	}
	draft := &OfferDraft{Before: newest}
	if err := draft.merge(base, change); err != nil || len(draft.Conflicts) > 0 {
		return draft, err
	}
	draft.Document, draft.Problems, err = rewritten(ctx, slug, newest.Document, draft.Fields)
	return draft, err
}

// merge sets the fields and conflicts of a draft.
func (d *OfferDraft) merge(base *Offer, change OfferChange) error {
	before, err := base.Fields()
	if err != nil {
		return err
	}
	theirs, err := d.Before.Fields()
	if err != nil {
		return err
	}
	merged, conflicts := document.Merge(before, change.Fields, theirs, func(path string) bool {
		return change.TakeTheirs[path]
	})
	for _, c := range conflicts {
		if _, decided := change.TakeTheirs[c.Path()]; !decided || change.Over != d.Before.Version {
			d.Conflicts = conflicts
		}
	}
	d.Fields = merged
	return nil
}

// PublishOffer publishes a draft, if the version that the draft was compared with is still the newest. The draft must
// have neither conflicts nor problems. If it changes nothing, nothing is published. business is the business as it was
// read for this request. Faults: precondition_failed if another version is the newest; those of [UseCases.Publish].
func (o *UseCases) PublishOffer(
	ctx context.Context, by peers.Principal, business *catalog.Offer, draft *OfferDraft,
) (*catalog.Published, error) {
	slug := business.Slug
	if bytes.Equal(draft.Text, draft.Before.Text) {
		return &catalog.Published{ID: draft.Manifest.BusinessID(), Slug: slug, Version: draft.Before.Version}, nil
	}
	if draft.Before.Version != business.Version { // another business may have the slug by now
		var err error
		if business, err = o.Business(ctx, slug); err != nil {
			return nil, err
		}
	}
	if !by.Operator {
		if err := mayChange(by, business.ID, draft.Before.Manifest, draft.Manifest); err != nil {
			return nil, err
		}
	}
	ifMatch := strconv.Quote(strconv.FormatInt(draft.Before.Version, 10))
	published, err := o.Businesses.Binding(by.Operator).Publish(ctx, slug, draft.Text, catalog.MediaYAML, ifMatch)
	if err == nil {
		o.LogChange(ctx, by, "publish", slug, slog.Int64("version", published.Version))
		o.mailChanges(ctx, published, watchedIn(draft.Before.Manifest), watchedIn(draft.Manifest))
	}
	return published, err
}

// UndoOffer makes a draft that reverts the changes of one version, and keeps the changes of later versions. The draft
// and the faults are those of [UseCases.DraftOffer]. Fault: also conflict for the first version.
func (o *UseCases) UndoOffer(ctx context.Context, slug string, version int64) (*OfferDraft, error) {
	if version < 2 {
		return nil, fault.New(fault.Conflict, "There is no version before the first.")
	}
	before, err := o.Offer(ctx, slug, version-1)
	if err != nil {
		return nil, err
	}
	fields, err := before.Fields()
	if err != nil {
		return nil, err
	}
	draft, err := o.DraftOffer(ctx, slug, OfferChange{Base: version, Fields: fields})
	if err == nil && draft.Document != nil && document.Same(fields, draft.Fields) {
		draft.Document = before.Document // keep the text of the version before, because its fields are the same
	}
	return draft, err
}
