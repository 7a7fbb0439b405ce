package pages

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// translatable maps the name of each list of the manifest to the names of the translatable fields that the objects in
// the list have.
var translatable = map[string][]string{
	"services": {"name", "category", "description_html"}, "staff": {"name", "category", "description_html"},
	"events": {"name", "description_html"},
	"tiers":  {"name"}, "rentals": {"name", "description_html"}, "form": {"label"}, "options": {"label"},
	"page":     {"about_html"},
	"variants": {"name"}, "packages": {"name", "description"}, "pricing_rules": {"label"},
	"business":  {"name", "policy_text"},
	"locations": {"name", "directions_html"},
	"legal":     {"imprint", "privacy", "terms"},
}

// translatedLists has the names of the lists with translatable texts. The pages show the texts of one list at a time.
var translatedLists = []string{"services", "packages", "staff", "events", "rentals", "pricing_rules", "form", "page"}

// translationsPageSize is the maximum number of objects on one page of translations.
const translationsPageSize = 40

// translatedObject is an object of the offer with translatable texts. The field `name` is the prefix of the names of
// the object's inputs. The field `title` is the name of the object on the page.
type translatedObject struct {
	name, title string
	object      document.Fields
	fields      []string
}

// listTexts returns the objects of a list that have translatable texts. The inner objects of an object, such as the
// variants of a service, follow the object.
func listTexts(fields document.Fields, list string) []translatedObject {
	var all []translatedObject
	if list == "page" { // the page shows the texts of the business, too
		return listBusinessTexts(fields)
	}
	inner := map[string]string{"services": "variants", "events": "tiers", "form": "options"}[list]
	items, _ := fields[list].([]any)
	for _, item := range items {
		object, _ := item.(document.Fields)
		key, called := toText(object["key"]), toText(object["name"])+toText(object["label"])
		all = append(all, translatedObject{list + "." + key, called, object, translatable[list]})
		within, _ := object[inner].([]any)
		for _, part := range within {
			o, _ := part.(document.Fields)
			all = append(all, translatedObject{list + "." + key + "." + toText(o["key"]),
				called + " · " + toText(o["name"]) +
					toText(o["label"]), o, translatable[inner]})
		}
	}
	return all
}

// listBusinessTexts returns the business, its booking page, its legal texts and its places.
func listBusinessTexts(fields document.Fields) []translatedObject {
	all := []translatedObject{{"business", "", fields, translatable["business"]}}
	for _, name := range []string{"page", "legal"} {
		if object, ok := fields[name].(document.Fields); ok {
			all = append(all, translatedObject{name, "", object, translatable[name]})
		}
	}
	locations, _ := fields["locations"].([]any)
	for _, item := range locations {
		if object, ok := item.(document.Fields); ok {
			all = append(all, translatedObject{"locations." + toText(object["key"]), toText(object["name"]), object,
				translatable["locations"]})
		}
	}
	return all
}

// longTexts has the names of the translatable fields whose texts may have several lines but are not HTML.
var longTexts = []string{"description", "policy_text", "imprint", "privacy", "terms"}

// findTranslation returns the translation of a field into a language, or "" if there is no translation.
func (t translatedObject) findTranslation(language, field string) string {
	all, _ := t.object["translations"].(document.Fields)
	own, _ := all[language].(document.Fields)
	return form.TextFromHTML(toText(own[field]))
}

// translate writes the translation of a field into a language. If `input` is "", translate removes the translation.
func (t translatedObject) translate(language, field, input string) {
	all, _ := t.object["translations"].(document.Fields)
	if all == nil {
		all = document.Fields{}
	}
	own, _ := all[language].(document.Fields)
	if own == nil {
		own = document.Fields{}
	}
	own[field] = input
	if strings.HasSuffix(field, "_html") {
		own[field] = form.HTMLFromText(input)
	}
	if input == "" {
		delete(own, field)
	}
	all[language] = own
	if len(own) == 0 {
		delete(all, language)
	}
	t.object["translations"] = all
	if len(all) == 0 {
		delete(t.object, "translations")
	}
}

// parseTranslationsQuery reads three query parameters of a page of translations: the list, the position of the first
// object to show, and the language.
func (o *offerPage) parseTranslationsQuery(c *fiber.Ctx) view.Translations {
	t := view.Translations{Offering: o.about, Lists: translatedLists, List: c.Query("of"),
		Language: c.Query("language")}
	languages, _ := o.fields["languages"].([]any)
	for _, l := range languages {
		if l != o.fields["default_language"] {
			t.Languages = append(t.Languages, toText(l))
		}
	}
	if !slices.Contains(t.Languages, t.Language) && len(t.Languages) > 0 {
		t.Language = t.Languages[0]
	}
	if !slices.Contains(translatedLists, t.List) {
		t.List = translatedLists[0]
	}
	t.From, _ = strconv.Atoi(c.Query("from"))
	t.Default = toText(o.fields["default_language"])
	return t
}

// fillTranslations adds the texts and their translations to a page. If `typed` is not nil, the page shows the
// translations that the person has submitted; otherwise the page shows the translations of the offer.
func (o *offerPage) fillTranslations(t *view.Translations, typed url.Values, wrong map[string]string) {
	all := listTexts(o.fields, t.List)
	t.From = max(0, min(t.From, len(all)))
	to := min(len(all), t.From+translationsPageSize)
	if to < len(all) {
		t.Next = to
	}
	for _, item := range all[t.From:to] {
		for _, field := range item.fields {
			original, name := form.TextFromHTML(toText(item.object[field])), item.name+"."+field
			value := item.findTranslation(t.Language, field)
			if original == "" && value == "" {
				continue
			}
			if typed != nil {
				value = typed.Get(name)
			}
			t.Texts = append(t.Texts, view.Translation{
				Name: name, Title: item.title, Field: field, Original: original, Value: value,
				IsLong: strings.HasSuffix(field, "_html") || slices.Contains(longTexts, field), ErrorText: wrong[name],
			})
		}
	}
}

func (p *Pages) askTranslations(c *fiber.Ctx) error {
	o, err := p.loadOfferPage(c, "translations", 0)
	if err != nil {
		return err
	}
	t := o.parseTranslationsQuery(c)
	o.fillTranslations(&t, nil, nil)
	return p.render(c, fiber.StatusOK, o.page, view.TranslateOffer(o.page, t))
}

// saveTranslations writes the translations that the person has changed in the form, and publishes the result.
func (p *Pages) saveTranslations(c *fiber.Ctx) error {
	posted, err := web.Form(c)
	if err != nil {
		return err
	}
	o, err := p.loadOfferPage(c, "translations", parseVersion(posted.Get("base")))
	if err != nil {
		return err
	}
	t := o.parseTranslationsQuery(c)
	for _, item := range listTexts(o.fields, t.List) {
		for _, field := range item.fields {
			name := item.name + "." + field
			input := strings.TrimSpace(strings.ReplaceAll(posted.Get(name), "\r\n", "\n"))
			if posted.Has(name) && input != item.findTranslation(t.Language, field) {
				item.translate(t.Language, field, input)
			}
		}
	}
	at := "/offer/translations?" + t.Query(t.Language, t.List, t.From)
	return p.publishOffer(c, o, submission{
		posted: posted, result: &form.Result{}, back: at, action: at,
		findEditedPath: func(document.Fields) string { return "-" },
		showForm: func(status int, wrong map[string]string) error {
			t.Offering = o.about
			o.fillTranslations(&t, posted, wrong)
			return p.render(c, status, o.page, view.TranslateOffer(o.page, t))
		},
	})
}
