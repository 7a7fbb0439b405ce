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

// Offer is one version of the manifest of a business, with the text that the owner wrote.
type Offer struct {
	*document.Document
	Version int64
}

// ReadOffer reads a version of the manifest. The version 0 is the newest one. Fault: not_found if the version does not
// exist.
func (o *UseCases) ReadOffer(ctx context.Context, slug string, version int64) (*Offer, error) {
	got, err := o.Businesses.Get(ctx, slug, version, catalog.MediaYAML)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseInt(strings.Trim(got.ETag, `"`), 10, 64)
	if err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, err, "The catalog service gave an unreadable answer; try again "+
			"shortly.")
	}
	read, problems, err := readDocument(ctx, slug, got.Text)
	if err == nil && len(problems) > 0 {
		err = manifest.Invalid(problems)
	}
	return &Offer{read, number}, err
}

// OfferChange is a change of the offer. A person has made the change, starting from one version of the offer.
type OfferChange struct {
	Base   int64           // number of the version that the person started from
	Fields document.Fields // fields of the manifest after the change
	// TakeTheirs has the person's decisions on conflicts. The keys are the paths that this person and another person
	// changed differently. The value true takes the published change of the other person, and false takes the change in
	// Fields. The draft lists each conflict without a decision.
	TakeTheirs map[string]bool
	// OverVersion is the number of the version that was the newest one when the person decided the conflicts.
	// OverVersion is 0 if the person has decided no conflict. If a newer version was published after the decision, the
	// person must decide again.
	OverVersion int64
	// Newest is the newest version, if the caller has just read this version. If Newest is nil, the use case reads the
	// newest version. If Newest is outdated, publishing the draft fails.
	Newest *Offer
}

// OfferDraft is the offer after a change, before it is published. An OfferDraft also has the newest version, for a
// comparison.
type OfferDraft struct {
	*document.Document        // nil if Problems is not empty
	Before             *Offer // the newest version; the draft can only replace this version
	// Conflicts are the paths that this person and another person changed differently, without the conflicts that the
	// person has decided. A draft with conflicts cannot be published.
	Conflicts []document.Conflict
	// Problems are the errors that prevent publishing. If a path names an item of a list, it has the index of the item
	// in Fields, from 0.
	Problems []manifest.Problem
	Fields   document.Fields
}

// DraftOffer returns a draft of a change of the offer, and publishes nothing. If another person has published a newer
// version than change.Base, DraftOffer merges both changes and lists the conflicts in the draft. Faults: conflict if
// another system manages the offer; not_found if the version change.Base does not exist.
func (o *UseCases) DraftOffer(ctx context.Context, slug string, change OfferChange) (*OfferDraft, error) {
	var err error
	newest := change.Newest
	if newest == nil {
		if newest, err = o.ReadOffer(ctx, slug, 0); err != nil {
			return nil, err
		}
	}
	if by := newest.Manifest.ManagedBy; by != "" {
		return nil, fault.Newf(fault.Conflict, "This offer is managed by %s; change it there.", by)
	}
	base := newest
	if change.Base != newest.Version {
		if base, err = o.ReadOffer(ctx, slug, change.Base); err != nil {
			return nil, err
		}
	}
	draft := &OfferDraft{Before: newest}
	if err := draft.merge(base, change); err != nil || len(draft.Conflicts) > 0 {
		return draft, err
	}
	draft.Document, draft.Problems, err = rewriteFields(ctx, slug, newest.Document, draft.Fields)
	return draft, err
}

// merge merges the argument `change` with the changes that were published after the version `base`. merge sets Fields
// and Conflicts of the draft.
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
		if _, decided := change.TakeTheirs[c.Path()]; !decided || change.OverVersion != d.Before.Version {
			d.Conflicts = conflicts
		}
	}
	d.Fields = merged
	return nil
}

// PublishOffer publishes a draft if draft.Before is still the newest version. The draft must have no conflicts and no
// problems. If the draft changes nothing, PublishOffer publishes nothing. The argument `business` is the business that
// the caller read for this request. The argument `notifies` is as for [UseCases.Publish]. Faults: precondition_failed if another version is the newest; the faults of
// [UseCases.Publish].
func (o *UseCases) PublishOffer(
	ctx context.Context, by peers.Principal, business *catalog.Snapshot, draft *OfferDraft, notifies bool,
) (*catalog.Published, error) {
	slug := business.Slug
	if bytes.Equal(draft.Text, draft.Before.Text) {
		return &catalog.Published{ID: draft.Manifest.BusinessID(), Slug: slug, Version: draft.Before.Version}, nil
	}
	if draft.Before.Version != business.Version { // if not equal, another business may have the slug by now
		var err error
		if business, err = o.FindBusiness(ctx, slug); err != nil {
			return nil, err
		}
	}
	if !by.IsOperator {
		if err := checkChange(by, business.ID, draft.Before.Manifest, draft.Manifest); err != nil {
			return nil, err
		}
	}
	ifMatch := strconv.Quote(strconv.FormatInt(draft.Before.Version, 10))
	published, err := o.Businesses.Binding(by.IsOperator).Publish(ctx, slug, draft.Text, catalog.MediaYAML, ifMatch)
	if err == nil {
		o.LogChange(ctx, by, "publish", slug, slog.Int64("version", published.Version))
		o.mailChanges(ctx, published, readWatched(draft.Before.Manifest), readWatched(draft.Manifest))
	}
	if err == nil && notifies {
		err = o.notifyCustomers(ctx, by, published)
	}
	return published, err
}

// UndoOffer makes a draft that reverts the changes of one version and keeps the changes of later versions. Faults:
// conflict for the first version; the faults of [UseCases.DraftOffer].
func (o *UseCases) UndoOffer(ctx context.Context, slug string, version int64) (*OfferDraft, error) {
	if version < 2 {
		return nil, fault.New(fault.Conflict, "There is no version before the first.")
	}
	before, err := o.ReadOffer(ctx, slug, version-1)
	if err != nil {
		return nil, err
	}
	fields, err := before.Fields()
	if err != nil {
		return nil, err
	}
	draft, err := o.DraftOffer(ctx, slug, OfferChange{Base: version, Fields: fields})
	if err == nil && draft.Document != nil && document.Equal(fields, draft.Fields) {
		draft.Document = before.Document // use the text of the previous version, because the fields are equal
	}
	return draft, err
}
