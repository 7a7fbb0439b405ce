package pages

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/changes"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/plan"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// askConfirmation asks for confirmation before a draft is published, if confirmation is needed (pages.md, "What will
// change"). askConfirmation reports whether it has shown the confirmation page.
//
// Confirmation is needed if the draft affects customers' bookings, sales or data, or if `s.alwaysAsks` is true. It is
// not needed if the draft changes nothing. It is also not needed if the person has already confirmed the draft and no
// other version was published in the meantime.
func (p *Pages) askConfirmation(c *fiber.Ctx, o *offerPage, s submission, draft *offer.OfferDraft) (bool, error) {
	if parseVersion(s.posted.Get("agreed")) == draft.Before.Version || bytes.Equal(draft.Text, draft.Before.Text) {
		return false, nil
	}
	isAffected, err := offer.AffectsSales(draft.Before.Manifest, draft.Manifest)
	if err != nil || !isAffected && !s.alwaysAsks {
		return false, err
	}
	found, err := p.planDraft(c, o.page.Business.Slug, draft)
	if err != nil || !s.alwaysAsks && found != nil && found.Conflicts.CountNew() == 0 && found.Kept == nil &&
		!found.ErasesCustomers() && found.Relocated == 0 {
		return false, err
	}
	difference, err := compareDocuments(draft.Before.Document, draft.Document, maxChanges)
	if err != nil {
		return false, err
	}
	question := view.OfferQuestion{
		Posted: s.posted, OverVersion: draft.Before.Version, Action: trimBusinessPath(o, s.action), Back: s.back,
		IsForm: s.showForm != nil, Difference: difference,
	}
	if found != nil {
		question.Conflicts, question.KeptSales, question.Erasure = &found.Conflicts, found.Kept, found.Erasure
		question.Relocated = found.Relocated
	}
	return true, p.render(c, fiber.StatusConflict, o.page, view.AskOffer(o.page, question))
}

// planDraft returns what publishing a draft would change, or nil if the services cannot determine it now. It uses at
// most half of the time until the request's deadline, because showing or publishing the result needs the other half.
func (p *Pages) planDraft(c *fiber.Ctx, slug string, draft *offer.OfferDraft) (*plan.Plan, error) {
	ctx := c.UserContext()
	if deadline, ok := ctx.Deadline(); ok {
		within, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
		ctx = within
	}
	found, err := p.rooms.Offer.Plan(ctx, authorize.Principal(c), slug, draft.Text)
	if kind := fault.KindOf(err); err != nil && (kind.Status >= fiber.StatusInternalServerError ||
		kind == fault.RateLimited) {
		p.rooms.Logger.WarnContext(ctx, "the conflicts of a new offer are unknown", slog.String("slug", slug),
			slog.Any("error", err))
		return nil, nil
	}
	return found, err
}

// maxChanges is the maximum number of changes that a page lists beside its other content.
const maxChanges = 12

// compareDocuments returns the differences between two versions of the offer, or nil if the versions are equal. The
// argument `most` is the maximum number of changes that it lists.
func compareDocuments(before, after *document.Document, most int) (*view.Difference, error) {
	list, more, err := changes.Compare(before.Manifest, after.Manifest)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	if len(list) > most {
		list, more = list[:most], more+len(list)-most
	}
	d := &view.Difference{Changes: list, Omitted: more}
	if d.Before, err = before.Fields(); err != nil {
		return nil, err
	}
	d.After, err = after.Fields()
	return d, err
}
