package pages

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// mountText adds the routes of the page on which a person edits the whole manifest as text.
func (p *Pages) mountText(business *authorize.Router) {
	business.Get("/offer/text", access.ChangeOffer, p.askText)
	business.Post("/offer/text", access.ChangeOffer, p.saveText)
}

func (p *Pages) askText(c *fiber.Ctx) error {
	o, err := p.loadOfferPage(c, "text", 0)
	if err != nil {
		return err
	}
	warnings, err := offer.FindWarnings(c.UserContext(), o.page.Business.Slug, o.offer.Text, p.rooms.Clock.Now())
	if err != nil {
		return err
	}
	t := view.OfferText{Offering: o.about, Text: string(o.offer.Text), Warnings: warnings}
	return p.render(c, fiber.StatusOK, o.page, view.TextOffer(o.page, t))
}

// saveText handles a submitted text of the whole manifest. If the text has problems, saveText shows each problem beside
// its line. Otherwise it shows the changes, and publishes the text after the person has confirmed them.
func (p *Pages) saveText(c *fiber.Ctx) error {
	posted, err := web.Form(c)
	if err != nil {
		return err
	}
	o, err := p.loadOfferPage(c, "text", parseVersion(posted.Get("base")))
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(posted.Get("text"), "\r\n", "\n")
	again := func(status int, problems []manifest.Problem) error {
		return p.render(c, status, o.page,
			view.TextOffer(o.page, view.OfferText{Offering: o.about, Text: text, Problems: problems}))
	}
	s := submission{
		posted: posted, result: &form.Result{}, back: "/offer/text", action: string(c.Request().URI().Path()),
		alwaysAsks:     true,
		findEditedPath: func(document.Fields) string { return "-" },
		showForm:       func(status int, _ map[string]string) error { return again(status, nil) },
		draft: func() (*offer.OfferDraft, error) {
			return p.rooms.Offer.DraftText(c.UserContext(), authorize.Principal(c), o.page.Business.Slug,
				offer.TextChange{OfferChange: newOfferChange(o, posted), Text: []byte(text)})
		},
		showProblems: func(problems []manifest.Problem) error {
			o.page.ErrorText = o.page.Words.Say("check")
			return again(fiber.StatusUnprocessableEntity, problems)
		},
	}
	err = p.publishOffer(c, o, s)
	if fault.Is(err, fault.InvalidParameter) || fault.Is(err, fault.Forbidden) { // catalog has refused the text
		return s.showProblems([]manifest.Problem{{Line: 1, Message: fault.Of(err).Sentence}})
	}
	return err
}
