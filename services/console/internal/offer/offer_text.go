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

// TextChange is the text of the whole manifest after a person edited one version of the manifest.
type TextChange struct {
	OfferChange // Fields is not set
	Text        []byte
}

// DraftText returns a draft from the text of a whole manifest, and publishes nothing. The problems in the draft have
// the line numbers of this text. Faults: the faults of [UseCases.DraftOffer].
//
// If another person has published a newer version than change.Base, DraftText merges both changes. If both people
// changed a field differently, the draft lists this conflict. If there are no conflicts, DraftText merges the texts
// line by line. If the fields in the merged lines differ from the merged fields, DraftText writes the merged fields
// into the text instead.
func (o *UseCases) DraftText(ctx context.Context, by peers.Principal, slug string, change TextChange) (*OfferDraft,
	error) {
	newest, err := o.ReadOffer(ctx, slug, 0)
	if err != nil {
		return nil, err
	}
	if managed := newest.Manifest.ManagedBy; managed != "" {
		return nil, fault.Newf(fault.Conflict, "This offer is managed by %s; change it there.", managed)
	}
	draft := &OfferDraft{Before: newest}
	text := convertLineBreaks(change.Text, newest.Text)
	written, problems, err := readDocument(ctx, slug, text)
	if err != nil || len(problems) > 0 {
		draft.Problems = problems
		return draft, err
	}
	if draft.Problems, err = findReservedChanges(by, newest, written); err != nil || len(draft.Problems) > 0 {
		return draft, err
	}
	if draft.Document = written; change.Base == newest.Version {
		return draft, nil
	}
	base, err := o.ReadOffer(ctx, slug, change.Base)
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
		merged, problems, err := readDocument(ctx, slug, lines)
		if err != nil {
			return nil, err
		}
		if len(problems) == 0 {
			if fields, err := merged.Fields(); err == nil && document.Equal(fields, draft.Fields) {
				draft.Document = merged
				return draft, nil
			}
		}
	}
	draft.Document, draft.Problems, err = rewriteFields(ctx, slug, written, draft.Fields)
	return draft, err
}

// convertLineBreaks converts the line breaks of a text from an HTML form. The result has the line breaks (CRLF or LF)
// of the text in the argument `like`.
func convertLineBreaks(typed, like []byte) []byte {
	text := bytes.ReplaceAll(typed, []byte("\r\n"), []byte("\n"))
	if bytes.Contains(like, []byte("\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	return text
}

// findReservedChanges returns a problem for each change that the principal must not make by editing the text: a change
// of a section that the principal's role may not change, and a change of the business's slug or id.
func findReservedChanges(by peers.Principal, newest *Offer, written *document.Document) ([]manifest.Problem, error) {
	var problems []manifest.Problem
	refuse := func(field, message string) {
		top, _, _ := strings.Cut(field, ".")
		problems = append(problems, manifest.Problem{Path: field, Line: max(1, written.FindLine(top)),
			Message: message})
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
	refused, err := findRefusedSection(by, newest.Manifest.BusinessID(), newest.Manifest, written.Manifest)
	if refused != nil {
		refuse(refused.path, refused.sentence)
	}
	return problems, err
}
