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

// saving has a submitted form of the offer. It also has what is needed to save the form, to ask for confirmation, and
// to show the form again.
type saving struct {
	posted  url.Values
	written *form.Result                                    // fields of the offer with the typed values
	within  func(document.Fields) string                    // returns the path of the object that the form edits
	again   func(status int, wrong map[string]string) error // shows the form again with errors; nil if there is no form
	back    string                                          // path of the page after saving
	action  string                                          // address to which the browser sends the form
	always  bool                                            // ask for confirmation even if no bookings are affected
	item    string                                          // key of the object that the form edits; "" for none
	// The function `draft` returns the draft to publish. The function `wrong` shows the page with the problems of this
	// draft. Both functions are nil for a form that edits fields of the offer; publishOffer then makes the draft from
	// the changed fields.
	draft func() (*offer.OfferDraft, error)
	wrong func([]manifest.Problem) error
}

// publishAttempts is the maximum number of attempts to merge a change with the newest version and to publish it. An
// attempt fails if another person publishes at the same time.
const publishAttempts = 3

// publishOffer publishes the fields that a form has changed in `o`. All forms that edit the offer use publishOffer.
//
// publishOffer merges the change with the changes that other people have published since the form was shown. It first
// asks the person if the form and another person have changed the same field differently, or if the change affects
// customers' bookings.
func (p *Pages) publishOffer(c *fiber.Ctx, o *offered, s saving) error {
	wrong := map[string]string{}
	for name, sentence := range s.written.FieldErrors {
		wrong[name] = o.page.Words.Say(sentence)
	}
	if len(wrong) > 0 {
		o.page.Wrong = o.page.Words.Say("check")
		return s.again(fiber.StatusUnprocessableEntity, wrong)
	}
	if s.posted.Has("again") { // the person returns from the confirmation page to the form
		return s.again(fiber.StatusOK, nil)
	}
	slug, newest := o.page.Business.Slug, o.offer
	if s.draft == nil {
		s.draft = func() (*offer.OfferDraft, error) {
			change := changeOf(o, s.posted)
			if newest != nil && newest.Version == o.page.Business.Version {
				change.Newest = newest
			}
			newest = nil // read the newest version again: another person has published one in the meantime
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
		if len(draft.Problems) > 0 && s.wrong != nil {
			return s.wrong(draft.Problems)
		}
		if len(draft.Problems) > 0 {
			o.about.Problems = o.place(draft, s.within(draft.Fields), s.written, wrong)
			o.page.Wrong = o.page.Words.Say("check")
			return s.again(fiber.StatusUnprocessableEntity, wrong)
		}
		if asked, err := p.asksFirst(c, o, s, draft); asked || err != nil {
			return err
		}
		published, err := p.rooms.Offer.PublishOffer(c.UserContext(), authorize.Principal(c), o.page.Business, draft)
		if err == nil {
			says := url.Values{"saved": {strconv.FormatInt(published.Version, 10)},
				"since": {strconv.FormatInt(o.offer.Version, 10)}}
			if s.item != "" {
				says.Set("item", s.item)
			}
			return toOffer(c, o, s.back, says)
		}
		if !fault.Is(err, fault.PreconditionFailed) {
			return err
		}
	}
	o.page.Wrong = o.page.Words.Say("changed")
	return s.again(fiber.StatusConflict, nil)
}

// changeOf returns the change that a form has made, and the person's decisions on conflicts with the changes of other
// people.
func changeOf(o *offered, posted url.Values) offer.OfferChange {
	change := offer.OfferChange{Base: o.offer.Version, Fields: o.fields, OverVersion: versionOf(posted.Get("over")),
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
func (p *Pages) askConflict(c *fiber.Ctx, o *offered, s saving, draft *offer.OfferDraft) error {
	between, err := p.differenceBetween(c, o.page.Business.Slug, o.offer.Version, draft.Before.Version)
	if err != nil {
		return err
	}
	o.about.Meanwhile = between
	return p.show(c, fiber.StatusConflict, o.page, view.ConflictOffer(o.page, view.OfferConflict{
		Offering: o.about, Conflicts: draft.Conflicts, Posted: s.posted, Over: draft.Before.Version,
		Action: withoutBusiness(o, s.action), Back: s.back,
	}))
}

// place adds a message text for each problem to the map `wrong`, under the name of the input in which a person can
// correct the problem. It returns the message texts about problems for which the form has no input.
func (o *offered) place(
	draft *offer.OfferDraft,
	within string,
	written *form.Result,
	wrong map[string]string,
) []string {
	var others []string
	for _, problem := range draft.Problems {
		sentence := o.page.Problem(draft.Fields, problem)
		path, inside := strings.CutPrefix(fieldOfProblem(problem), within)
		if name := written.FindInput(path); inside && name != "" {
			wrong[name] = sentence
			continue
		}
		others = append(others, o.page.Named(draft.Fields, problem.Path)+": "+sentence)
	}
	return others
}

// fieldOfProblem returns the path of the field in which a person can correct a problem. If one of several fields is
// required, it returns the path of the first of these fields. If a translation is in a language that the business does
// not have, it returns the path of the list of the business's languages.
func fieldOfProblem(problem manifest.Problem) string {
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
