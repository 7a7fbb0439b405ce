package pages

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// submission has a submitted form of the offer. It also has the data and the functions that are needed to save the
// form, to ask for confirmation, and to show the form again.
type submission struct {
	posted         url.Values
	result         *form.Result                 // fields of the offer with the submitted values
	findEditedPath func(document.Fields) string // returns the path of the object that the form edits
	// shows the form again with errors; nil if there is no form
	showForm func(status int, wrong map[string]string) error
	back     string // path of the page after saving
	action   string // URL to which the browser sends the form
	// true if publishing needs a confirmation even if the change affects no bookings
	alwaysAsks bool
	item       string // key of the object that the form edits; "" for none
	// draft returns the draft to publish. showProblems shows the page with the problems of this draft. Both functions
	// are nil for a form that edits fields of the offer. For such a form, publishOffer makes the draft from the changed
	// fields.
	draft        func() (*offer.OfferDraft, error)
	showProblems func([]manifest.Problem) error
}

// publishAttempts is the maximum number of attempts to merge a change with the newest version and to publish it. An
// attempt fails if another person publishes at the same time.
const publishAttempts = 3

// publishOffer publishes the fields that a form has changed in `o`. All forms that edit the offer use publishOffer.
//
// publishOffer merges the change with the changes that other people have published since the form was shown. If another
// person has changed the same field differently, publishOffer first asks the person to decide this conflict. If the
// change affects customers' bookings, sales or data, publishOffer first asks for confirmation.
func (p *Pages) publishOffer(c *fiber.Ctx, o *offerPage, s submission) error {
	wrong := map[string]string{}
	for name, sentence := range s.result.FieldErrors {
		wrong[name] = o.page.Words.Say(sentence)
	}
	if len(wrong) > 0 {
		o.page.ErrorText = o.page.Words.Say("check")
		return s.showForm(fiber.StatusUnprocessableEntity, wrong)
	}
	if s.posted.Has("again") { // the person returns from the confirmation page to the form
		return s.showForm(fiber.StatusOK, nil)
	}
	slug, newest := o.page.Business.Slug, o.offer
	if s.draft == nil {
		s.draft = func() (*offer.OfferDraft, error) {
			change := newOfferChange(o, s.posted)
			if newest != nil && newest.Version == o.page.Business.Version {
				change.Newest = newest
			}
			newest = nil // the next attempt reads the newest version again, because another person has published one
			return p.rooms.Offer.DraftOffer(c.UserContext(), slug, change)
		}
	}
	for range publishAttempts {
		draft, err := s.draft()
		if fault.Is(err, fault.Conflict) { // another system manages the offer now; the page shows this
			return toOffer(c, o, s.back, url.Values{"wrong": {"changed"}})
		}
		if err != nil {
			return err
		}
		if len(draft.Conflicts) > 0 {
			return p.askConflict(c, o, s, draft)
		}
		if len(draft.Problems) > 0 && s.showProblems != nil {
			return s.showProblems(draft.Problems)
		}
		if len(draft.Problems) > 0 {
			o.about.Problems = o.placeProblems(draft, s.findEditedPath(draft.Fields), s.result, wrong)
			o.page.ErrorText = o.page.Words.Say("check")
			return s.showForm(fiber.StatusUnprocessableEntity, wrong)
		}
		if isAsked, err := p.askConfirmation(c, o, s, draft); isAsked || err != nil {
			return err
		}
		published, err := p.rooms.Offer.PublishOffer(c.UserContext(), authorize.Principal(c), o.page.Business, draft,
			s.posted.Has(view.NotifyCustomers))
		if err == nil {
			says := url.Values{"saved": {strconv.FormatInt(published.Version, 10)},
				"since": {strconv.FormatInt(o.offer.Version, 10)}}
			if s.item != "" {
				says.Set("item", s.item)
			}
			if s.posted.Get("affected") == "yes" {
				says.Set("affected", "yes")
			}
			return toOffer(c, o, s.back, says)
		}
		if !fault.Is(err, fault.PreconditionFailed) {
			return err
		}
	}
	o.page.ErrorText = o.page.Words.Say("changed")
	return s.showForm(fiber.StatusConflict, nil)
}

// newOfferChange returns the change that a form has made, and the person's decisions on conflicts with the changes of
// other people.
func newOfferChange(o *offerPage, posted url.Values) offer.OfferChange {
	change := offer.OfferChange{Base: o.offer.Version, Fields: o.fields, OverVersion: parseVersion(posted.Get("over")),
		TakeTheirs: map[string]bool{}}
	for name, values := range posted {
		path, chosen := strings.CutPrefix(name, "choose.")
		if chosen && len(values) == 1 && (values[0] == "mine" || values[0] == "theirs") {
			change.TakeTheirs[path] = values[0] == "theirs"
		}
	}
	return change
}

// askConflict shows a page on which the person decides each conflict. The page also shows the other changes that were
// published in the meantime.
func (p *Pages) askConflict(c *fiber.Ctx, o *offerPage, s submission, draft *offer.OfferDraft) error {
	between, err := p.compareVersions(c, o.page.Business.Slug, o.offer.Version, draft.Before.Version)
	if err != nil {
		return err
	}
	o.about.OtherChanges = between
	return p.render(c, fiber.StatusConflict, o.page, view.ConflictOffer(o.page, view.OfferConflict{
		Offering: o.about, Conflicts: draft.Conflicts, Posted: s.posted, OverVersion: draft.Before.Version,
		Action: trimBusinessPath(o, s.action), Back: s.back,
	}))
}

// placeProblems adds a message text for each problem to the map `wrong`. The key of the text is the name of the input
// in which a person can correct the problem. placeProblems returns the message texts about problems for which the form
// has no input.
func (o *offerPage) placeProblems(
	draft *offer.OfferDraft,
	editedPath string,
	written *form.Result,
	wrong map[string]string,
) []string {
	var others []string
	for _, problem := range draft.Problems {
		sentence := o.page.Problem(draft.Fields, problem)
		path, inside := strings.CutPrefix(findProblemField(problem), editedPath)
		if name := written.FindInput(path); inside && name != "" {
			wrong[name] = sentence
			continue
		}
		others = append(others, o.page.NameField(draft.Fields, problem.Path)+": "+sentence)
	}
	return others
}

// findProblemField returns the path of the field in which a person can correct a problem. If one of several fields is
// required, it returns the path of the first of these fields. If a translation is in a language that the business does
// not have, it returns the path of the list of the business's languages.
func findProblemField(problem manifest.Problem) string {
	switch problem.Code {
	case manifest.CodeOneOf:
		first, _, _ := strings.Cut(problem.Params["Fields"], " ")
		return problem.Path + "." + first
	case manifest.CodeForeignLanguage:
		return "languages"
	default: // a person corrects the other problems in the field that has the problem
	}
	return problem.Path
}
