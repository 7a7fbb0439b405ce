package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// mountOffer adds the routes of the pages that edit the offer.
func (p *Pages) mountOffer(business *authorize.Router) {
	business.Get("/offer", access.ChangeOffer, p.showFirstOffer)
	business.Post("/offer/undo", access.ChangeOffer, p.undoOffer)
	for _, k := range offerKinds {
		at := "/offer/" + k.section
		business.Get(at, access.ChangeOffer, p.listOffer(k))
		if k.ordering != notOrdered {
			business.Post(at+"-order", access.ChangeOffer, p.orderObjects(k))
		}
		business.Get(at+"/new", access.ChangeOffer, p.askOffer(k))
		business.Post(at+"/new", access.ChangeOffer, p.saveOffer(k))
		business.Get(at+"/:id", access.ChangeOffer, p.askOffer(k))
		business.Post(at+"/:id", access.ChangeOffer, p.saveOffer(k))
		business.Get(at+"/:id/remove", access.ChangeOffer, p.askRemoval(k))
		business.Post(at+"/:id/remove", access.ChangeOffer, p.removeOffer(k))
	}
	p.mountVersions(business)
	p.mountText(business)
	business.Get("/offer/translations", access.ChangeOffer, p.askTranslations)
	business.Post("/offer/translations", access.ChangeOffer, p.saveTranslations)
	p.mountWords(business)
	for _, part := range offerParts {
		action := cmp.Or(part.action, access.ChangeOffer)
		business.Get("/offer/"+part.section, action, p.askPart(part))
		business.Post("/offer/"+part.section, action, p.savePart(part))
	}
}

// offerPage is a page about the offer, with the version of the offer that the page shows.
type offerPage struct {
	page   *view.Page
	offer  *offer.Offer
	fields document.Fields
	about  view.Offering
	// variant of the object that the form adds: one of the kind's variants, or "" for the form of an existing object
	variant string
}

// loadOfferPage reads a version of the offer for a page. If `version` is 0, it reads the newest version.
func (p *Pages) loadOfferPage(c *fiber.Ctx, section string, version int64) (*offerPage, error) {
	page, err := p.newPage(c, view.PlaceOfSection(section))
	if err != nil {
		return nil, err
	}
	offer, err := p.rooms.Offer.ReadOffer(c.UserContext(), page.Business.Slug, version)
	if err != nil {
		return nil, err
	}
	fields, err := offer.Fields()
	if err != nil {
		return nil, err
	}
	o := &offerPage{page: page, offer: offer, fields: fields, about: view.Offering{
		Section: section, Version: offer.Version, ManagedBy: string(offer.Manifest.ManagedBy),
		SavedVersion: parseVersion(c.Query("saved")), HasAffected: c.Query("affected") == "yes",
		Fields: fields,
	}}
	if o.about.SavedVersion > offer.Version {
		o.about.SavedVersion = 0
	}
	if o.about.SavedVersion > 0 {
		o.noteSaved(c.Query("item"), p.addresses.Pages)
	}
	if since := parseVersion(c.Query("since")); o.about.SavedVersion > 0 && since > 0 &&
		since < o.about.SavedVersion-1 {
		o.about.OtherChanges, err = p.compareVersions(c, page.Business.Slug, since, o.about.SavedVersion-1)
	}
	return o, err
}

// parseVersion parses the number of a version. It returns 0 if `s` is not a valid version number.
func parseVersion(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// compareVersions returns the differences between two published versions. The arguments `from` and `to` are the
// numbers of the versions.
func (p *Pages) compareVersions(c *fiber.Ctx, slug string, from, to int64) (*view.Difference, error) {
	before, err := p.rooms.Offer.ReadOffer(c.UserContext(), slug, from)
	if err != nil {
		return nil, err
	}
	after, err := p.rooms.Offer.ReadOffer(c.UserContext(), slug, to)
	if err != nil {
		return nil, err
	}
	return compareDocuments(before.Document, after.Document, maxChanges)
}

func (p *Pages) showFirstOffer(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceOffer)
	if err != nil {
		return err
	}
	return c.Redirect(view.Path(page.Business.Slug)+"/offer/"+offerKinds[0].section, fiber.StatusSeeOther)
}

// listOffer returns the handler that lists the objects of a kind, grouped by category.
func (p *Pages) listOffer(k offerKind) fiber.Handler {
	return func(c *fiber.Ctx) error {
		o, err := p.loadOfferPage(c, k.section, 0)
		if err != nil {
			return err
		}
		return p.showList(c, fiber.StatusOK, k, o)
	}
}

// showList shows the objects of a kind, grouped by category.
func (p *Pages) showList(c *fiber.Ctx, status int, k offerKind, o *offerPage) error {
	l := view.OfferList{Offering: o.about, New: "/offer/" + k.section + "/new"}
	isLocations := k.list == locationsKind.list
	if isLocations {
		l.Hint = o.page.Words.Say("offer_locations_hint")
	}
	if k.ordering != notOrdered {
		l.Order = "/offer/" + k.section + "-order"
	}
	places := map[string]int{}
	for i, item := range k.listItems(o.fields) {
		category, _ := item["category"].(string)
		place, exists := places[category]
		if !exists {
			place = len(l.Groups)
			places[category] = place
			l.Groups = append(l.Groups, view.OfferGroup{Name: category})
		}
		key, _ := item["key"].(string)
		line := view.OfferLine{
			Name: k.nameObject(o, item), About: k.summarize(o, item), Path: "/offer/" + k.section + "/" + key,
			IsOff: item["active"] == false, Key: key,
		}
		if isLocations && i == 0 {
			line.Mark = o.page.Words.Say("offer_main_location")
		}
		l.Groups[place].Lines = append(l.Groups[place].Lines, line)
	}
	return p.render(c, status, o.page, view.ListOffer(o.page, l))
}

// findObject returns the object whose key is in the path, from the version of the offer in `o`. If the path has no key,
// it returns a new object. The second result reports whether the object is new. Fault: not_found.
func (k offerKind) findObject(c *fiber.Ctx, o *offerPage) (document.Fields, bool, error) {
	key := c.Params("id")
	if key == "" {
		return k.newLastObject(o), true, nil
	}
	found, ok := document.Find(o.fields, k.list, key)
	if !ok {
		return nil, false, fault.New(fault.NotFound, "There is nothing at this path.")
	}
	return found, false, nil
}

// askOffer returns the handler that shows the form of an object.
func (p *Pages) askOffer(k offerKind) fiber.Handler {
	return func(c *fiber.Ctx) error {
		o, err := p.loadOfferPage(c, k.section, 0)
		if err != nil {
			return err
		}
		if k.variants != nil && c.Params("id") == "" {
			if o.variant = c.Query("kind"); !slices.Contains(k.variants, o.variant) {
				return p.showVariants(c, k, o)
			}
		}
		object, _, err := k.findObject(c, o)
		if err != nil {
			return err
		}
		f := newForm(k.adaptGroups(o, object), object)
		if o.about.ManagedBy == "" {
			f.Values = form.AddBlankRows(f.Shown, form.ListFields(f.Groups))
		}
		return p.showItem(c, fiber.StatusOK, k, o, object, f)
	}
}

func newForm(groups []form.Group, object document.Fields) view.Form {
	groups = dropBlankAddresses(groups, object)
	shown := form.Show(object, form.ListFields(groups))
	return view.Form{Groups: groups, Values: shown, Shown: shown}
}

func (p *Pages) showItem(c *fiber.Ctx, status int, k offerKind, o *offerPage, object document.Fields,
	f view.Form) error {
	list := "/offer/" + k.section
	f.IsLocked = o.about.ManagedBy != ""
	item := view.OfferItem{Offering: o.about, Form: f, Back: list, Action: list + "/new",
		Title: o.page.Words.Say("offer_add_" + k.section)}
	if key := c.Params("id"); key != "" {
		item.Action, item.Remove, item.Title = list+"/"+key, list+"/"+key+"/remove", k.nameObject(o, object)
	} else if o.variant != "" {
		item.Hidden = url.Values{"kind": {o.variant}}
	}
	if k.explain != nil {
		item.About = k.explain(o, object)
	}
	return p.render(c, status, o.page, view.EditOffer(o.page, item))
}

// saveOffer returns the handler that saves the form of an object. The handler writes the submitted values into the
// version of the offer that the form showed, and publishes the result.
func (p *Pages) saveOffer(k offerKind) fiber.Handler {
	return func(c *fiber.Ctx) error {
		posted, files, err := readOfferForm(c)
		if err != nil {
			return err
		}
		base := parseVersion(posted.Get("base"))
		if c.Params("id") == "" {
			base = 0 // add a new object to the newest version
		}
		o, err := p.loadOfferPage(c, k.section, base)
		if err != nil {
			return err
		}
		if k.variants != nil && c.Params("id") == "" {
			if o.variant = posted.Get("kind"); !slices.Contains(k.variants, o.variant) {
				return p.showVariants(c, k, o)
			}
		}
		object, added, err := k.findObject(c, o)
		if err != nil {
			return err
		}
		title := k.nameObject(o, object)
		f := newForm(k.adaptGroups(o, object), object)
		f.Values = posted
		isShown, err := p.handleFormButton(c, o, &f, files)
		if err != nil {
			return err
		}
		if isShown {
			return p.showItem(c, statusOf(f), k, o, object, f)
		}
		written := form.Write(object, form.ListFields(f.Groups), f.Shown, posted)
		if k.removeExcluded != nil {
			k.removeExcluded(object)
		}
		if added && len(written.FieldErrors) == 0 {
			items, _ := o.fields[k.list].([]any)
			object["key"] = form.NewKey(k.word, object, items)
			if len(items) == 0 {
				offer.EnableModule(o.fields, k.list)
			}
			o.fields[k.list] = append(items, object)
		}
		key, _ := object["key"].(string)
		back := "/offer/" + k.section
		return p.publishOffer(c, o, submission{
			posted: posted, result: written, back: back, action: string(c.Request().URI().Path()), item: key,
			findEditedPath: func(fields document.Fields) string {
				items, _ := fields[k.list].([]any)
				i := slices.IndexFunc(items, func(item any) bool {
					name, _ := document.NameOf(item)
					return name == key
				})
				return k.list + "[" + strconv.Itoa(i) + "]."
			},
			showForm: func(status int, wrong map[string]string) error {
				f.FieldErrors = wrong
				if !added {
					object["name"] = title
				}
				return p.showItem(c, status, k, o, object, f)
			},
		})
	}
}

// undoOffer reverts the changes that one version made. If the revert affects customers' bookings, sales or data, it
// first asks for confirmation, as all forms of the offer do.
func (p *Pages) undoOffer(c *fiber.Ctx) error {
	posted, err := web.Form(c)
	if err != nil {
		return err
	}
	section := posted.Get("section")
	if !isSection(section) {
		section = offerKinds[0].section
	}
	o, err := p.loadOfferPage(c, section, 0)
	if err != nil {
		return err
	}
	s := submission{posted: posted, back: "/offer/" + section, action: "/offer/undo"}
	if section == wordsSection {
		w := newMessageWords(c, o)
		s.back, s.action = w.Path(w.Kind, w.Language), s.action+w.Query
	}
	draft, err := p.rooms.Offer.UndoOffer(c.UserContext(), o.page.Business.Slug, parseVersion(posted.Get("version")))
	if err != nil && !fault.Is(err, fault.Conflict) {
		return err
	}
	if err != nil || len(draft.Conflicts)+len(draft.Problems) > 0 { // later versions change the same fields
		return toOffer(c, o, s.back, url.Values{"wrong": {"changed"}})
	}
	if isAsked, err := p.askConfirmation(c, o, s, draft); isAsked || err != nil {
		return err
	}
	published, err := p.rooms.Offer.PublishOffer(c.UserContext(), authorize.Principal(c), o.page.Business, draft,
		posted.Has(view.NotifyCustomers))
	if fault.Is(err, fault.PreconditionFailed) {
		return toOffer(c, o, s.back, url.Values{"wrong": {"changed"}})
	}
	if err != nil {
		return err
	}
	return toOffer(c, o, s.back, url.Values{"saved": {strconv.FormatInt(published.Version, 10)}})
}

// isSection reports whether a text is the name of a section of the offer.
func isSection(name string) bool {
	return slices.Contains([]string{wordsSection, "translations", "text", "versions"}, name) ||
		slices.ContainsFunc(offerParts, func(part offerPart) bool { return part.section == name }) ||
		slices.ContainsFunc(offerKinds, func(k offerKind) bool { return k.section == name })
}

// toOffer redirects to a page of the offer. The argument `says` has the query parameters that tell this page the result
// of an action.
func toOffer(c *fiber.Ctx, o *offerPage, path string, says url.Values) error {
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	return c.Redirect(view.Path(o.page.Business.Slug)+path+join+says.Encode(), fiber.StatusSeeOther)
}

// trimBusinessPath removes the path of the business from the beginning of `path`.
func trimBusinessPath(o *offerPage, path string) string {
	return strings.TrimPrefix(path, view.Path(o.page.Business.Slug))
}
