package pages

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/text/currency"
	"golang.org/x/text/language"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/libs/values/zone"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/template"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// firstStep is one of the five forms of the first visit, in which a person sets up a new business. Each form edits
// fields of the offer.
type firstStep struct {
	name   string
	groups func(*offerPage) []form.Group
	// write writes the submitted form, as [offerPart.write] does; nil if the form needs no other change.
	write func(document.Fields, func() *form.Result) *form.Result
	// updateFields changes other fields of the offer after the submitted values are written. For example, it adds a new
	// member to all services. Its argument `before` has the keys of the members before the change. If updateFields is
	// nil, the form changes no other fields.
	updateFields func(fields document.Fields, before []string)
}

// firstSteps are the five forms of the first visit, in order. The first form, which creates the business, has its own
// route, /business.
var firstSteps = []firstStep{
	{name: "business", write: writePlace, groups: func(o *offerPage) []form.Group {
		return filterFields(slices.Concat(businessPart.groups(o), languagesPart.groups(o)), "name",
			place+"address.street", place+"address.postal_code", place+"address.city", countryField, "timezone", "currency", "default_language")
	}, updateFields: func(fields document.Fields, _ []string) {
		normalizeCodes(fields)
		fields["languages"] = []any{fields["default_language"]}
	}},
	{name: "hours", groups: func(o *offerPage) []form.Group { return filterFields(hoursPart.groups(o), "hours") }},
	{name: "team", groups: func(o *offerPage) []form.Group {
		return []form.Group{{Fields: []form.Field{newRowsField("staff", "team", "reports_member", "member",
			filterFields(newTeamGroups(o), "name", "category"))}}}
	}, updateFields: func(fields document.Fields, before []string) {
		offer.UpdateStaff(fields, before)
		offer.PlaceNewObjects(fields, "staff")
	}},
	{name: "services", groups: newSellableGroups, updateFields: func(fields document.Fields, _ []string) {
		offer.PlaceNewObjects(fields, "services", "rentals")
	}},
	{name: "policies", groups: func(o *offerPage) []form.Group {
		groups := filterFields(
			policiesPart.groups(o),
			"bookings.confirm",
			"bookings.min_notice_minutes",
			"bookings.advance_days",
			"self_service.cancel_until_hours",
			"self_service.reschedule_until_hours",
		)
		return slices.Concat(groups,
			o.filterPermitted(filterFields(notificationsPart.groups(o), "notifications.owner_emails")))
	}, updateFields: func(fields document.Fields, _ []string) { offer.OpenBookings(fields) }},
}

// filterFields returns the groups with only those fields whose names are in the argument `names`. It omits a group if
// no field of the group remains.
func filterFields(groups []form.Group, names ...string) []form.Group {
	var filtered []form.Group
	for _, g := range groups {
		g.Fields = slices.DeleteFunc(slices.Clone(g.Fields), func(f form.Field) bool {
			return !slices.Contains(names, f.Name)
		})
		if len(g.Fields) > 0 {
			g.Title, g.Hint = "", ""
			filtered = append(filtered, g)
		}
	}
	return filtered
}

// newRowsField returns a form field for a list of objects in a section of the offer. Each object has the fields in
// `groups`.
func newRowsField(list, section, label, key string, groups []form.Group) form.Field {
	return form.Field{Name: list, Kind: form.Rows, Label: label, Add: "offer_add_" + section, Key: key,
		Fields: form.ListFields(groups)}
}

// newSellableGroups returns the fields of the form in which a person enters what the business sells. The form always
// has services. It has events or rentals only if the offer, which was made from the template of the trade, has them.
func newSellableGroups(o *offerPage) []form.Group {
	services := filterFields(newServiceGroups(o), "name", "category", "duration_minutes", "price", "staff")
	if len(o.listChoices("staff")) == 0 {
		services = filterFields(services, "name", "category", "duration_minutes", "price")
	}
	if list, _ := o.fields["services"].([]any); slices.ContainsFunc(list,
		func(item any) bool { return item.(document.Fields)["classes"] != nil }) {
		sessions := form.ListFields(filterFields(newClassGroups(o), "classes"))[0]
		sessions.Required, sessions.Hint = false, "first_sessions_hint"
		sessions.Fields = filterFields([]form.Group{{Fields: sessions.Fields}}, "weekday", "time", "capacity",
			"staff")[0].Fields
		services = append(services, form.Group{Fields: []form.Field{sessions}})
	}
	groups := []form.Group{{Fields: []form.Field{newRowsField("services", "services", "service", "service", services)}}}
	if _, exists := o.fields["rentals"]; exists {
		of := filterFields(newRentalGroups(o), "name", "price", "price_type", "quantity", "units_count")
		groups = append([]form.Group{{Fields: []form.Field{
			newRowsField("rentals", "rentals", "first_rental", "rental", of)}}}, groups...)
	}
	if _, exists := o.fields["events"]; exists {
		of := filterFields(eventsKind.groups(o), "name", "date", "start_time", "end_time", "total_capacity", "tiers")
		groups = append([]form.Group{{Fields: []form.Field{newRowsField("events", "events", "first_event", "event", of)}}},
			groups...)
	}
	return groups
}

// mountFirst adds the routes of the first visit: five forms in which a person creates a business and opens it for
// bookings (pages.md).
func (p *Pages) mountFirst(all, business *authorize.Router) {
	all.Get("/business", access.CreateBusiness, p.askBusiness)
	all.Post("/business", access.CreateBusiness, p.beginBusiness)
	business.Get("/first", access.ChangeOffer, p.continueFirst)
	business.Get("/first/done", access.ChangeOffer, p.showFirstDone)
	for i, step := range firstSteps {
		business.Get("/first/"+step.name, access.ChangeOffer, p.askStep(i))
		business.Post("/first/"+step.name, access.ChangeOffer, p.saveStep(i))
	}
}

// askBusiness shows the first form of the first visit. The browser's language decides the language, the country and the
// currency that the form presets.
func (p *Pages) askBusiness(c *fiber.Ctx) error {
	page := p.newPlainPage(c, "")
	businessForm := view.BusinessForm{Base: p.addresses.Pages, NewBusiness: offer.NewBusiness{Trade: "salon",
		Language: page.Words.Code, Country: findCountry(page.Words.Requested)}, Key: rand.Text(), IsNew: true}
	businessForm.Currency = view.FindCurrency(businessForm.Country)
	return p.render(c, fiber.StatusOK, page, view.NewBusiness(page, businessForm))
}

// findCountry returns the country (ISO 3166-1) in a language tag, or "" if the tag has no country.
func findCountry(tag string) string {
	region, sure := language.Make(tag).Region()
	if sure < language.High || !postal.IsCountry(region.String()) {
		return ""
	}
	return region.String()
}

// normalizeCodes replaces the time zone and the currency that a person has typed by their codes.
func normalizeCodes(fields document.Fields) {
	for name, parse := range map[string]func(string) string{"timezone": parseZone, "currency": parseCurrency} {
		if typed, ok := fields[name].(string); ok {
			fields[name] = parse(typed)
		}
	}
}

// parseCurrency returns the ISO 4217 code of a currency that a person has typed. The person may type the code in upper
// or lower case, or a symbol that only one currency has. parseCurrency returns any other text in upper case.
func parseCurrency(input string) string {
	var found []string
	for _, code := range money.Codes() {
		if strings.EqualFold(code, input) {
			return code
		}
		if unit, err := currency.ParseISO(code); err == nil && fmt.Sprint(currency.Symbol(unit)) == input {
			found = append(found, code)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return strings.ToUpper(input)
}

// parseZone returns the IANA name of a time zone that a person has typed. The person may type the name in upper or
// lower case, or a city that only one zone has, such as Lisbon. parseZone returns any other text unchanged.
func parseZone(input string) string {
	var found []string
	for _, name := range zone.Names() {
		if strings.EqualFold(name, input) {
			return name
		}
		if city := name[strings.LastIndexByte(name, '/')+1:]; strings.EqualFold(
			strings.ReplaceAll(city, "_", " "),
			input,
		) {
			found = append(found, name)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return input
}

// beginBusiness creates a business from the first form of the first visit. The form has an Idempotency-Key, so that
// sending the form twice creates only one business.
func (p *Pages) beginBusiness(c *fiber.Ctx) error {
	posted, err := web.Form(c)
	if err != nil {
		return err
	}
	businessForm := view.BusinessForm{Base: p.addresses.Pages, FieldErrors: map[string]string{}, Key: posted.Get("key"),
		NewBusiness: readNewBusiness(posted)}
	if signed := signin.SignedInPerson(c); signed != nil {
		businessForm.Email = signed.Person.Email
	}
	page := p.newPlainPage(c, "")
	again := func(status int) error {
		page.ErrorText = page.Words.Say("check")
		return p.render(c, status, page, view.NewBusiness(page, businessForm))
	}
	for name, value := range map[string]string{"name": businessForm.Name, "currency": businessForm.Currency,
		"timezone": businessForm.Timezone, "default_language": businessForm.Language} {
		if value == "" {
			businessForm.FieldErrors[name] = page.Words.Say(form.RequiredValue)
		}
	}
	if !slices.Contains(template.ListTrades(), businessForm.Trade) {
		businessForm.FieldErrors["trade"] = page.Words.Say(form.RequiredValue)
	}
	if len(businessForm.FieldErrors) > 0 {
		return again(fiber.StatusUnprocessableEntity)
	}
	published, problems, err := p.rooms.Offer.CreateBusiness(idempotency.With(c.UserContext(),
		idempotency.Request{Key: businessForm.Key}),
		authorize.Principal(c), businessForm.NewBusiness)
	if refused := manifest.ProblemsOf(err); len(refused) > 0 {
		problems, err = refused, nil
	}
	switch {
	case errors.Is(err, store.ErrTooManyBusinesses):
		businessForm.OtherProblems = []string{page.Words.With("first_too_many", "Number",
			page.Words.Number(identity.MaxOwnBusinesses))}
		return again(fiber.StatusConflict)
	case fault.Is(err, fault.PreconditionFailed):
		businessForm.FieldErrors["slug"], businessForm.Key = page.Words.Say("first_taken"), rand.Text()
		return again(fiber.StatusConflict)
	case err != nil:
		return err
	case len(problems) > 0:
		businessForm.OtherProblems = addProblems(page, problems, businessForm.FieldErrors)
		businessForm.Key = rand.Text()
		return again(fiber.StatusUnprocessableEntity)
	}
	return c.Redirect(view.Path(published.Slug)+"/first/"+firstSteps[1].name, fiber.StatusSeeOther)
}

// readNewBusiness returns the values of the first form. If the person typed no time zone or no currency, the country
// decides it.
func readNewBusiness(posted url.Values) offer.NewBusiness {
	line := func(name string) string { return strings.TrimSpace(posted.Get(name)) }
	b := offer.NewBusiness{
		Trade: line("trade"), Name: line("name"), Address: line("slug"), Language: line("default_language"),
		Street: line("street"), PostalCode: line("postal_code"), City: line("city"), Country: line("country"),
	}
	b.Currency = cmp.Or(parseCurrency(line("currency")), view.FindCurrency(b.Country))
	b.Timezone = cmp.Or(parseZone(line("timezone")), locale.OnlyZoneOf(b.Country))
	return b
}

// addProblems adds a message text for each problem to the map `wrong`. The key of the text is the name of the input
// that has the problem. addProblems returns the message texts about problems for which the form has no input.
func addProblems(page *view.Page, problems []manifest.Problem, wrong map[string]string) []string {
	var others []string
	for _, problem := range problems {
		sentence := page.Problem(nil, problem)
		name, _, _ := strings.Cut(problem.Path, "[")
		if field, isAddress := strings.CutPrefix(problem.Path, "locations[0].address."); isAddress {
			name = field
		}
		switch name {
		case "name", "slug", "currency", "timezone", "default_language", "street", "postal_code", "city", "country":
			wrong[name] = sentence
		case "languages":
			wrong["default_language"] = sentence
		default:
			others = append(others, page.NameField(nil, problem.Path)+": "+sentence)
		}
	}
	return others
}

// continueFirst continues an interrupted first visit. It redirects to the second form, because the first form has
// already created the business.
func (p *Pages) continueFirst(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceOffer)
	if err != nil {
		return err
	}
	return c.Redirect(view.Path(page.Business.Slug)+"/first/"+firstSteps[1].name, fiber.StatusSeeOther)
}

// loadStep reads the offer that a form of the first visit edits. The argument `version` is the number of the version to
// read; 0 means the newest version. If another system manages the offer, loadStep redirects to the list of services and
// returns nil. If the business is already open for bookings, loadStep redirects to the last page of the first visit and
// returns nil.
func (p *Pages) loadStep(c *fiber.Ctx, version int64) (*offerPage, error) {
	o, err := p.loadOfferPage(c, "", version)
	if err != nil {
		return nil, err
	}
	switch {
	case o.about.ManagedBy != "":
		return nil, c.Redirect(view.Path(o.page.Business.Slug)+"/offer/services", fiber.StatusSeeOther)
	case !o.page.Business.NotYetOpen:
		return nil, c.Redirect(view.Path(o.page.Business.Slug)+"/first/done", fiber.StatusSeeOther)
	}
	return o, nil
}

func (p *Pages) askStep(i int) fiber.Handler {
	return func(c *fiber.Ctx) error {
		o, err := p.loadStep(c, 0)
		if err != nil || o == nil {
			return err
		}
		f := newForm(firstSteps[i].groups(o), o.fields)
		f.Values = form.AddBlankRows(f.Shown, form.ListFields(f.Groups))
		if firstSteps[i].name == businessPart.section {
			businessPart.suggest(o, f.Values)
		}
		return p.showStep(c, fiber.StatusOK, i, o, f)
	}
}

func (p *Pages) showStep(c *fiber.Ctx, status, i int, o *offerPage, f view.Form) error {
	names := make([]string, len(firstSteps))
	for n, step := range firstSteps {
		names[n] = step.name
	}
	return p.render(c, status, o.page,
		view.First(o.page, view.FirstStep{Offering: o.about, Form: f, Names: names, Position: i}))
}

// missingToOpen maps the results of offer.FindMissingToOpen to the ids of message texts.
var missingToOpen = map[string]string{offer.LacksOffer: "offer_none_services", offer.LacksHours: "first_no_hours"}

// saveStep returns the handler that saves the form with the index `i` of the first visit. The handler writes the
// submitted values into the version of the offer that the form showed, publishes the result, and redirects to the next
// form.
func (p *Pages) saveStep(i int) fiber.Handler {
	step := firstSteps[i]
	next := "/first/done"
	if i+1 < len(firstSteps) {
		next = "/first/" + firstSteps[i+1].name
	}
	return func(c *fiber.Ctx) error {
		posted, err := web.Form(c)
		if err != nil {
			return err
		}
		o, err := p.loadStep(c, parseVersion(posted.Get("base")))
		if err != nil || o == nil {
			return err
		}
		f := newForm(step.groups(o), o.fields)
		f.Values = posted
		if more := posted.Get("more"); more != "" {
			form.HandleButton(f.Values, form.ListFields(f.Groups), more)
			f.AddedRow = more
			return p.showStep(c, fiber.StatusOK, i, o, f)
		}
		before := offer.ListKeys(o.fields, "staff")
		written := offerPart{write: step.write}.writeForm(o.fields, func() *form.Result {
			return form.Write(o.fields, form.ListFields(f.Groups), f.Shown, posted)
		})
		if step.updateFields != nil {
			step.updateFields(o.fields, before)
		}
		if missing := offer.FindMissingToOpen(o.fields); missing != "" && i+1 == len(firstSteps) {
			o.about.Problems = []string{o.page.Words.Say(missingToOpen[missing])}
			o.page.ErrorText = o.page.Words.Say("check")
			return p.showStep(c, fiber.StatusUnprocessableEntity, i, o, f)
		}
		return p.publishOffer(c, o, submission{
			posted: posted, result: written, back: next, action: string(c.Request().URI().Path()),
			findEditedPath: func(document.Fields) string { return "" },
			showForm: func(status int, wrong map[string]string) error {
				f.FieldErrors = wrong
				return p.showStep(c, status, i, o, f)
			},
		})
	}
}

// showFirstDone shows the last page of the first visit. The page shows the URL of the booking page, and suggests next
// steps.
func (p *Pages) showFirstDone(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceOffer)
	if err != nil {
		return err
	}
	if page.Business.NotYetOpen {
		return p.continueFirst(c)
	}
	return p.render(c, fiber.StatusOK, page, view.FirstDone(page, p.addresses.Pages))
}
