package pages

import (
	"cmp"
	"log/slog"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// mountVersions adds the routes of the pages about the offer's versions.
func (p *Pages) mountVersions(business *authorize.Router) {
	business.Get("/offer/versions", access.ChangeOffer, p.listVersions)
	business.Get("/offer/versions/:id", access.ChangeOffer, p.askVersion)
	business.Post("/offer/versions/:id", access.ChangeOffer, p.restoreVersion)
}

// versionsPageSize is the number of versions on one page of the list.
const versionsPageSize = 25

// maxVersionChanges is the maximum number of differences that the page of an old version lists.
const maxVersionChanges = 60

// listVersions lists the published versions, newest first.
func (p *Pages) listVersions(c *fiber.Ctx) error {
	o, err := p.loadOfferPage(c, "versions", 0)
	if err != nil {
		return err
	}
	cursor := c.Query("cursor")
	list, next, err := p.rooms.Offer.ListVersions(c.UserContext(), o.page.Business.Slug,
		request.Page{Limit: versionsPageSize, Cursor: cursor})
	if err != nil {
		return err
	}
	shown := view.Versions{Offering: o.about, IsPaged: cursor != "", Next: next}
	names := p.findTeamNames(c, o.page)
	for _, v := range list {
		shown.List = append(shown.List, view.Version{Version: v.Version, By: namePublisher(o.page, names, v.By)})
	}
	return p.render(c, fiber.StatusOK, o.page, view.ListVersions(o.page, shown))
}

// findTeamNames returns the names of the team members by id. If the principal may not see the team, it returns only the
// name of the signed-in person.
func (p *Pages) findTeamNames(c *fiber.Ctx, page *view.Page) map[uuid.UUID]string {
	by := authorize.Principal(c)
	names := map[uuid.UUID]string{by.ID: page.Person}
	if !page.May(access.ManageTeam) {
		return names
	}
	team, _, err := p.rooms.Accounts.ListMembers(c.UserContext(), by, page.Business, request.Page{Limit: 1000})
	if err != nil {
		p.rooms.Logger.WarnContext(c.UserContext(), "the names of the team members are unknown", slog.Any("error", err))
	}
	for _, m := range team {
		names[m.Person.ID] = cmp.Or(m.Person.Name, m.Person.Email)
	}
	return names
}

// namePublisher returns the name of the person who published a version. If a program published the version, it returns
// a word for the kind of program. It returns "" if the publisher is not recorded.
func namePublisher(page *view.Page, names map[uuid.UUID]string, by actor.Actor) string {
	switch {
	case by.Kind == "":
		return ""
	case by.ID != uuid.Nil && names[by.ID] != "":
		return names[by.ID]
	}
	return page.Words.Say("actor_" + string(by.Kind))
}

// loadOldVersion returns the newest version, and the published version whose number is in the path. Fault: not_found.
func (p *Pages) loadOldVersion(c *fiber.Ctx) (*offerPage, *offer.Offer, error) {
	number := parseVersion(c.Params("id"))
	if number == 0 {
		return nil, nil, fault.New(fault.NotFound, "There is nothing at this path.")
	}
	o, err := p.loadOfferPage(c, "versions", 0)
	if err != nil {
		return nil, nil, err
	}
	old, err := p.rooms.Offer.ReadOffer(c.UserContext(), o.page.Business.Slug, number)
	return o, old, err
}

// askVersion shows what publishing an old version again would change.
func (p *Pages) askVersion(c *fiber.Ctx) error {
	o, old, err := p.loadOldVersion(c)
	if err != nil {
		return err
	}
	return p.showVersion(c, fiber.StatusOK, o, old)
}

func (p *Pages) showVersion(c *fiber.Ctx, status int, o *offerPage, old *offer.Offer) error {
	difference, err := compareDocuments(o.offer.Document, old.Document, maxVersionChanges)
	if err != nil {
		return err
	}
	return p.render(c, status, o.page,
		view.ShowVersion(o.page, view.OldVersion{Offering: o.about, Number: old.Version, Difference: difference}))
}

// restoreVersion publishes an old version again. The page has compared the old version with the newest version; if
// another version was published in the meantime, restoreVersion publishes nothing. If the change affects customers'
// bookings, sales or data, restoreVersion first asks for confirmation, as all forms of the offer do.
func (p *Pages) restoreVersion(c *fiber.Ctx) error {
	posted, err := web.Form(c)
	if err != nil {
		return err
	}
	o, old, err := p.loadOldVersion(c)
	if err != nil {
		return err
	}
	isChanged := parseVersion(posted.Get("over")) != o.offer.Version || o.about.ManagedBy != ""
	if !isChanged {
		s := submission{posted: posted, back: "/offer/versions/" + c.Params("id"),
			action: string(c.Request().URI().Path())}
		if isAsked, err := p.askConfirmation(c, o, s, &offer.OfferDraft{Document: old.Document, Before: o.offer}); isAsked ||
			err != nil {
			return err
		}
		published, err := p.rooms.Offer.Rollback(c.UserContext(), authorize.Principal(c), o.page.Business.Slug,
			old.Version,
			strconv.Quote(strconv.FormatInt(o.offer.Version, 10)), posted.Has(view.NotifyCustomers))
		if err == nil {
			return toOffer(c, o, "/offer/versions", url.Values{"saved": {strconv.FormatInt(published.Version, 10)}})
		}
		if fault.Is(err, fault.Forbidden) {
			section, _, _ := strings.Cut(fault.Of(err).Sentence, ":")
			o.page.ErrorText = o.page.RefusedSectionText(section)
			return p.showVersion(c, fiber.StatusConflict, o, old)
		}
		if !fault.Is(err, fault.PreconditionFailed) {
			return err
		}
	}
	o, old, err = p.loadOldVersion(c)
	if err != nil {
		return err
	}
	o.page.ErrorText = o.page.Words.Say("changed")
	return p.showVersion(c, fiber.StatusConflict, o, old)
}
