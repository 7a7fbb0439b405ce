package offer

import (
	"bytes"
	"context"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// TextChange is the whole manifest as a person has written it, based on one of its versions.
type TextChange struct {
	OfferChange // without Fields
	Text        []byte
}

// DraftText compares a whole text of the manifest with the newest version, and publishes nothing. The problems in the
// draft have the line numbers of the text. Faults: those of [UseCases.DraftOffer].
//
// If another person has published since the change began, DraftText merges both changes. Fields that both changed
// differently are listed as conflicts. Otherwise it merges the texts line by line; if that gives another result than
// merging the fields, it writes the merged fields into the text.
func (o *UseCases) DraftText(ctx context.Context, by peers.Principal, slug string, change TextChange) (*OfferDraft,
	error) {
	newest, err := o.Offer(ctx, slug, 0)
	if err != nil {
		return nil, err
	}
	if managed := newest.Manifest.ManagedBy; managed != "" {
		return nil, fault.Newf(fault.Conflict, "This offer is managed by %s; change it there.", managed)
	}
	draft := &OfferDraft{Before: newest}
	text := asWritten(change.Text, newest.Text)
	written, problems, err := documentOf(ctx, slug, text)
	if err != nil || len(problems) > 0 {
		draft.Problems = problems
		return draft, err
	}
	if draft.Problems, err = reserved(by, newest, written); err != nil || len(draft.Problems) > 0 {
		return draft, err
	}
	if draft.Document = written; change.Base == newest.Version {
		return draft, nil
	}
	base, err := o.Offer(ctx, slug, change.Base)
	if err != nil {
		return nil, err
	}
	if change.Fields, err = written.Fields(); err != nil {
		return nil, err
	}
	if err := draft.merge(base, change.OfferChange); err != nil || len(draft.Conflicts) > 0 {
		return draft, err
	}
	if lines, ok := document.MergeLines(base.Text, text, newest.Text); ok {
		merged, problems, err := documentOf(ctx, slug, lines)
		if err != nil {
			return nil, err
		}
		if len(problems) == 0 {
			if says, err := merged.Fields(); err == nil && document.Same(says, draft.Fields) {
				draft.Document = merged
				return draft, nil
			}
		}
	}
	draft.Document, draft.Problems, err = rewritten(ctx, slug, written, draft.Fields)
	return draft, err
}

// asWritten returns a text from a form with the line breaks of the text like.
func asWritten(typed, like []byte) []byte {
	text := bytes.ReplaceAll(typed, []byte("\r\n"), []byte("\n"))
	if bytes.Contains(like, []byte("\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	return text
}

// reserved returns the problems of a text that changes a section that the principal's role may not change, or that
// names another business.
func reserved(by peers.Principal, newest *Offer, written *document.Document) ([]manifest.Problem, error) {
	var problems []manifest.Problem
	refuse := func(field, message string) {
		top, _, _ := strings.Cut(field, ".")
		problems = append(problems, manifest.Problem{Path: field, Line: max(1, written.Line(top)), Message: message})
	}
	if written.Manifest.Slug != newest.Manifest.Slug {
		refuse("slug", "is "+string(written.Manifest.Slug)+", and this business is "+string(newest.Manifest.Slug)+
			"; leave it as it is.")
	}
	if written.Manifest.BusinessID() != newest.Manifest.BusinessID() && written.Manifest.Slug == newest.Manifest.Slug {
		refuse("id", "is another one than this business has; leave it as it is.")
	}
	if len(problems) > 0 {
		return problems, nil
	}
	refused, err := refusedSection(by, newest.Manifest.BusinessID(), newest.Manifest, written.Manifest)
	if refused != nil {
		refuse(refused.path, refused.sentence)
	}
	return problems, err
}
