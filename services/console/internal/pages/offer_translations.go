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

// translatable maps the name of each list of the manifest to the translatable fields of its objects.
var translatable = map[string][]string{
	"services": {"name", "category", "description_html"}, "staff": {"name", "category", "description_html"},
	"events": {"name", "description_html"},
	"tiers":  {"name"}, "rentals": {"name", "description_html"}, "form": {"label"}, "options": {"label"},
	"page":     {"about_html"},
	"variants": {"name"}, "packages": {"name", "description"}, "business": {"name"}, "pricing_rules": {"label"},
}

// translatedLists has the names of the lists with translatable texts. The pages show the texts of one list at a time.
var translatedLists = []string{"services", "packages", "staff", "events", "rentals", "pricing_rules", "form", "page"}

// onTranslations is the maximum number of objects on one page of translations.
const onTranslations = 40

// translated is an object of the offer with translatable texts. The field `name` is the prefix of the names of its
// inputs. The field `called` is the name of the object on the page.
type translated struct {
	name, called string
	object       document.Fields
	fields       []string
}

// textsOf returns the objects of a list that have translatable texts. The objects inside an object follow this object.
func textsOf(fields document.Fields, list string) []translated {
	var all []translated
	if list == "page" { // the page shows the business's name as its heading
		all = append(all, translated{"business", "", fields, translatable["business"]})
		if page, ok := fields["page"].(document.Fields); ok {
			all = append(all, translated{"page", "", page, translatable["page"]})
		}
		return all
	}
	inner := map[string]string{"services": "variants", "events": "tiers", "form": "options"}[list]
	items, _ := fields[list].([]any)
	for _, item := range items {
		object, _ := item.(document.Fields)
		key, called := worded(object["key"]), worded(object["name"])+worded(object["label"])
		all = append(all, translated{list + "." + key, called, object, translatable[list]})
		within, _ := object[inner].([]any)
		for _, part := range within {
			o, _ := part.(document.Fields)
			all = append(all, translated{list + "." + key + "." + worded(o["key"]), called + " · " + worded(o["name"]) +
				worded(o["label"]), o, translatable[inner]})
		}
	}
	return all
}

// translation returns the translation of a field into a language, or "" if there is no translation.
func (t translated) translation(language, field string) string {
	all, _ := t.object["translations"].(document.Fields)
	own, _ := all[language].(document.Fields)
	return form.TextFromHTML(worded(own[field]))
}

// translate writes the translation of a field into a language. If `typed` is "", translate removes the translation.
func (t translated) translate(language, field, typed string) {
	all, _ := t.object["translations"].(document.Fields)
	if all == nil {
		all = document.Fields{}
	}
	own, _ := all[language].(document.Fields)
	if own == nil {
		own = document.Fields{}
	}
	own[field] = typed
	if strings.HasSuffix(field, "_html") {
		own[field] = form.HTMLFromText(typed)
	}
	if typed == "" {
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

// asked reads three choices for a page of translations from the address: the list, the objects of this list, and the
// language.
func (o *offered) asked(c *fiber.Ctx) view.Translations {
	t := view.Translations{Offering: o.about, Lists: translatedLists, Of: c.Query("of"), Language: c.Query("language")}
	languages, _ := o.fields["languages"].([]any)
	for _, l := range languages {
		if l != o.fields["default_language"] {
			t.Languages = append(t.Languages, worded(l))
		}
	}
	if !slices.Contains(t.Languages, t.Language) && len(t.Languages) > 0 {
		t.Language = t.Languages[0]
	}
	if !slices.Contains(translatedLists, t.Of) {
		t.Of = translatedLists[0]
	}
	t.From, _ = strconv.Atoi(c.Query("from"))
	t.Default = worded(o.fields["default_language"])
	return t
}

// fill adds the texts and their translations to a page. If `typed` is not nil, the page shows the translations that the
// person has submitted; otherwise the page shows the translations of the offer.
func (o *offered) fill(t *view.Translations, typed url.Values, wrong map[string]string) {
	all := textsOf(o.fields, t.Of)
	t.From = max(0, min(t.From, len(all)))
	to := min(len(all), t.From+onTranslations)
	if to < len(all) {
		t.Next = to
	}
	for _, item := range all[t.From:to] {
		for _, field := range item.fields {
			original, name := form.TextFromHTML(worded(item.object[field])), item.name+"."+field
			value := item.translation(t.Language, field)
			if original == "" && value == "" {
				continue
			}
			if typed != nil {
				value = typed.Get(name)
			}
			t.Texts = append(t.Texts, view.Translation{
				Name: name, Called: item.called, Field: field, Original: original, Value: value,
				Long: strings.HasSuffix(field, "_html") || field == "description", Wrong: wrong[name],
			})
		}
	}
}

func (p *Pages) askTranslations(c *fiber.Ctx) error {
	o, err := p.offered(c, "translations", 0)
	if err != nil {
		return err
	}
	t := o.asked(c)
	o.fill(&t, nil, nil)
	return p.show(c, fiber.StatusOK, o.page, view.TranslateOffer(o.page, t))
}

// saveTranslations writes the translations that the person has changed in the form, and publishes the result.
func (p *Pages) saveTranslations(c *fiber.Ctx) error {
	posted, err := web.Form(c)
	if err != nil {
		return err
	}
	o, err := p.offered(c, "translations", versionOf(posted.Get("base")))
	if err != nil {
		return err
	}
	t := o.asked(c)
	for _, item := range textsOf(o.fields, t.Of) {
		for _, field := range item.fields {
			name := item.name + "." + field
			typed := strings.TrimSpace(strings.ReplaceAll(posted.Get(name), "\r\n", "\n"))
			if posted.Has(name) && typed != item.translation(t.Language, field) {
				item.translate(t.Language, field, typed)
			}
		}
	}
	at := "/offer/translations?" + t.Query(t.Language, t.Of, t.From)
	return p.publishOffer(c, o, saving{
		posted: posted, written: &form.Result{}, back: at, action: at,
		within: func(document.Fields) string { return "-" },
		again: func(status int, wrong map[string]string) error {
			t.Offering = o.about
			o.fill(&t, posted, wrong)
			return p.show(c, status, o.page, view.TranslateOffer(o.page, t))
		},
	})
}
