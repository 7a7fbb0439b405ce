package pages

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// offerPart describes a form that edits fields of the business itself, such as its opening hours or its policies.
type offerPart struct {
	section string
	title   string        // id of the message text with the title; "" for the title of the section
	action  access.Action // the permission that the form needs; "" for the permission to change the offer
	groups  func(*offerPage) []form.Group
	suggest func(*offerPage, url.Values) // fills inputs with suggested values; nil for no suggestions
	// write writes the submitted form into the fields: it calls the function in its second argument. Before and after
	// this call, write may add or remove objects, such as the place of the business. If write is nil, the form needs no
	// other change, and writeForm calls the second argument itself.
	write func(document.Fields, func() *form.Result) *form.Result
}

func (part offerPart) writeForm(fields document.Fields, write func() *form.Result) *form.Result {
	if part.write == nil {
		return write()
	}
	return part.write(fields, write)
}

var offerParts = []offerPart{hoursPart, businessPart, policiesPart, paymentsPart, bookingPagePart, languagesPart,
	privacyPart, notificationsPart}

// hoursPart is the form for the opening hours of the business, the dates with other hours, and blocked times.
var hoursPart = offerPart{section: "hours", groups: func(o *offerPage) []form.Group {
	return []form.Group{
		{Fields: []form.Field{{Name: "hours", Kind: form.Week, Label: "offer_open"}}},
		{Title: "offer_dates", Hint: "offer_dates_hint", Fields: []form.Field{newSingleDatesField()}},
		{Title: "offer_blocks", Hint: "offer_blocks_hint", Fields: []form.Field{
			{Name: "blocks", Kind: form.Rows, Label: "offer_block", Fields: []form.Field{
				{Name: "from", Kind: form.DateTime, Label: "offer_from", Required: true},
				{Name: "to", Kind: form.DateTime, Label: "offer_to", Required: true},
				{Name: "reason", Label: "offer_reason"},
				{Name: "staff", Kind: form.Checkboxes, Label: "offer_whose", Options: o.listChoices("staff")},
			}},
		}},
	}
}}

// filterPermitted returns the groups without the fields that the person's role may not change (access.ActionForField).
func (o *offerPage) filterPermitted(groups []form.Group) []form.Group {
	var shown []form.Group
	for _, group := range groups {
		group.Fields = slices.DeleteFunc(slices.Clone(group.Fields), func(f form.Field) bool {
			return !o.page.May(access.ActionForField(f.Name))
		})
		if len(group.Fields) > 0 {
			shown = append(shown, group)
		}
	}
	return shown
}

// askPart returns the handler that shows the form of a part.
func (p *Pages) askPart(part offerPart) fiber.Handler {
	return func(c *fiber.Ctx) error {
		o, err := p.loadOfferPage(c, part.section, 0)
		if err != nil {
			return err
		}
		f := newForm(o.filterPermitted(part.groups(o)), o.fields)
		if o.about.ManagedBy == "" {
			f.Values = form.AddBlankRows(f.Shown, form.ListFields(f.Groups))
			if part.suggest != nil {
				part.suggest(o, f.Values)
			}
		}
		return p.showPart(c, fiber.StatusOK, part, o, f)
	}
}

func (p *Pages) showPart(c *fiber.Ctx, status int, part offerPart, o *offerPage, f view.Form) error {
	at := "/offer/" + part.section
	f.IsLocked = o.about.ManagedBy != ""
	return p.render(c, status, o.page, view.EditOffer(o.page, view.OfferItem{
		Offering: o.about, Form: f, Back: at, Action: at,
		Title:    o.page.Words.Say(cmp.Or(part.title, "offer_"+part.section)),
		HasWords: part.section == notificationsPart.section,
	}))
}

// savePart returns the handler that saves the form of a part. The handler writes the submitted values into the version
// of the offer that the form showed, and publishes the result.
func (p *Pages) savePart(part offerPart) fiber.Handler {
	return func(c *fiber.Ctx) error {
		posted, files, err := readOfferForm(c)
		if err != nil {
			return err
		}
		o, err := p.loadOfferPage(c, part.section, parseVersion(posted.Get("base")))
		if err != nil {
			return err
		}
		f := newForm(o.filterPermitted(part.groups(o)), o.fields)
		f.Values = posted
		isShown, err := p.handleFormButton(c, o, &f, files)
		if err != nil {
			return err
		}
		if isShown {
			return p.showPart(c, statusOf(f), part, o, f)
		}
		written := part.writeForm(o.fields, func() *form.Result {
			return form.Write(o.fields, form.ListFields(f.Groups), f.Shown, posted)
		})
		at := "/offer/" + part.section
		return p.publishOffer(c, o, submission{
			posted: posted, result: written, back: at, action: string(c.Request().URI().Path()),
			findEditedPath: func(document.Fields) string { return "" },
			showForm: func(status int, wrong map[string]string) error {
				f.FieldErrors = wrong
				return p.showPart(c, status, part, o, f)
			},
		})
	}
}
