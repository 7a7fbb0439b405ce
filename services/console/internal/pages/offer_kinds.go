package pages

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// offerKind describes a kind of objects of the offer, such as services or events, and how the pages list and edit these
// objects.
type offerKind struct {
	// path segment of the pages, and a part of the ids of the message texts on these pages
	section string
	list    string // name of the list in the manifest
	// key of a new object if the object's name has no letter that is valid in a key
	word      string
	newObject func(*offerPage) document.Fields // returns a new object, which has the initial values of the form
	// reports whether the pages show an object of `list`; if nil, they show all
	isShown func(item document.Fields) bool
	groups  func(*offerPage) []form.Group
	// adapts a field of the form to an object; the second result is false if the form does not show the field. If nil,
	// the form shows all fields.
	adapt func(*offerPage, document.Fields, form.Field) (form.Field, bool)
	// values of the field `kind`, one of which a person chooses before the form for a new object opens; nil for none
	variants  []string
	ordering  ordering
	name      func(*offerPage, document.Fields) string // returns the name on the page; if nil, it is the field `name`
	summarize func(*offerPage, document.Fields) string // returns the line below the name
	explain   func(*offerPage, document.Fields) string // returns a text above the form; if nil, there is no text
	// returns the sort key of an object; if sortKey is nil, objects are sorted by their field `order`
	sortKey func(document.Fields) int
	// removes a field if another field excludes it; nil if no field of the kind excludes another
	removeExcluded func(document.Fields)
}

var offerKinds = []offerKind{serviceKind, classesKind, eventsKind, rentalsKind, teamKind, rulesKind, locationsKind,
	packagesKind}

func init() {
	for _, k := range offerKinds {
		registerLabels(k.groups(&offerPage{fields: document.Fields{}}))
	}
	for _, part := range offerParts {
		registerLabels(part.groups(&offerPage{fields: document.Fields{}}))
	}
}

// registerLabels registers the labels of the fields in `groups` in [view.FieldLabels], for the pages that list changes.
func registerLabels(groups []form.Group) {
	var note func([]form.Field)
	note = func(fields []form.Field) {
		for _, f := range fields {
			name := f.Name[strings.LastIndex(f.Name, ".")+1:]
			if _, exists := view.FieldLabels[name]; !exists {
				view.FieldLabels[name] = f.Label
			}
			view.NoteOptions(f)
			note(f.Fields)
		}
	}
	note(form.ListFields(groups))
}

// adaptGroups returns the fields of the form for an object.
func (k offerKind) adaptGroups(o *offerPage, object document.Fields) []form.Group {
	groups := k.groups(o)
	if k.adapt == nil {
		return groups
	}
	var adapted []form.Group
	for _, group := range groups {
		var fields []form.Field
		for _, f := range group.Fields {
			if own, isShown := k.adapt(o, object, f); isShown {
				fields = append(fields, own)
			}
		}
		if group.Fields = fields; len(fields) > 0 {
			adapted = append(adapted, group)
		}
	}
	return adapted
}

// newLastObject returns a new object of the kind. The object comes last in its list.
func (k offerKind) newLastObject(o *offerPage) document.Fields {
	object := k.newObject(o)
	offer.PlaceLast(o.fields, k.list, object)
	return object
}

// listItems returns the objects of the kind, sorted as the pages show them.
func (k offerKind) listItems(fields document.Fields) []document.Fields {
	list, _ := fields[k.list].([]any)
	var items []document.Fields
	for _, item := range list {
		if object, ok := item.(document.Fields); ok && (k.isShown == nil || k.isShown(object)) {
			items = append(items, object)
		}
	}
	order := k.sortKey
	if order == nil {
		order = func(item document.Fields) int { return toInt(item["order"]) }
	}
	slices.SortStableFunc(items, func(a, b document.Fields) int { return cmp.Compare(order(a), order(b)) })
	return items
}

func toInt(value any) int {
	n, _ := value.(json.Number)
	i, err := strconv.Atoi(n.String())
	if err != nil {
		return 0
	}
	return i
}

func (k offerKind) nameObject(o *offerPage, object document.Fields) string {
	if k.name != nil {
		return k.name(o, object)
	}
	name, _ := object["name"].(string)
	return name
}

// listLanguages returns the languages of the owner's pages and the languages of the business as options. The
// label of each option is the language's own name for itself, such as Deutsch.
func (o *offerPage) listLanguages() []form.Option {
	if o.page == nil {
		return nil
	}
	codes := slices.Clone(o.page.Words.Languages())
	languages, _ := o.fields["languages"].([]any)
	for _, language := range append([]any{o.fields["default_language"]}, languages...) {
		if own := toText(language); own != "" && !slices.Contains(codes, own) {
			codes = append(codes, own)
		}
	}
	options := make([]form.Option, len(codes))
	for i, code := range codes {
		options[i] = form.Option{Value: code, Label: cmp.Or(words.NameOf(code), code)}
	}
	return options
}

// listKeys returns the values of options as a list of keys for the manifest.
func listKeys(options []form.Option) []any {
	keys := make([]any, len(options))
	for i, o := range options {
		keys[i] = o.Value
	}
	return keys
}

// listChoices returns the objects of a list as options. The value of an option is the key of the object.
func (o *offerPage) listChoices(list string) []form.Option {
	var options []form.Option
	items, _ := o.fields[list].([]any)
	for _, item := range items {
		object, _ := item.(document.Fields)
		key, _ := object["key"].(string)
		name, _ := object["name"].(string)
		options = append(options, form.Option{Value: key, Label: name})
	}
	return options
}

// newOptions returns one option for each value in `values`. The label of an option is the message text with the id
// `word` followed by the value.
func (o *offerPage) newOptions(word string, values ...string) []form.Option {
	options := make([]form.Option, len(values))
	for i, value := range values {
		options[i] = form.Option{Value: value, Sentence: word + value}
		if o.page != nil {
			options[i].Label = o.page.Words.Say(word + value)
		}
	}
	return options
}

// formatPrice formats an amount in the business's currency. If `value` is not a number, formatPrice returns the word
// for "free of charge".
func (o *offerPage) formatPrice(value any) string {
	amount, ok := value.(json.Number)
	if !ok {
		return o.page.Words.Say("offer_free")
	}
	return o.page.Words.Amount(amount.String(), o.page.Business.Currency)
}

// formatNames returns the names of some objects of a list, joined by commas. The argument `keys` has the keys of these
// objects.
func (o *offerPage) formatNames(list string, keys any) string {
	var names []string
	all, _ := keys.([]any)
	for _, option := range o.listChoices(list) {
		if slices.Contains(all, any(option.Value)) {
			names = append(names, option.Label)
		}
	}
	return strings.Join(names, ", ")
}

// joinTexts joins the texts that are not empty, with a dot between them.
func joinTexts(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

func formatMinutes(o *offerPage, value any) string {
	return o.page.Words.Count("offer_minutes", toInt(value))
}

// newPriceFields returns the fields of a service's price. The argument `per` is the default value of the field
// `price_per`.
func (o *offerPage) newPriceFields(per string) []form.Field {
	return []form.Field{
		o.newAmountField("price", "offer_price", "offer_price_hint"),
		{Name: "price_per", Kind: form.Choice, Label: "offer_price_per", Default: per,
			Options: o.newOptions("offer_price_per_", "person", "booking")},
	}
}

// newAmountField returns a field for an amount in the business's currency.
func (o *offerPage) newAmountField(name, label, hint string) form.Field {
	return form.Field{Name: name, Kind: form.Decimal, Label: label, Hint: hint, Currency: toText(o.fields["currency"])}
}

// newPaymentFields returns the field for the payment that a customer must make when booking.
func (o *offerPage) newPaymentFields() []form.Field {
	return []form.Field{
		{Name: "payment_requirement", Kind: form.Choice, Label: "offer_payment", Default: "none",
			Options: o.newOptions("offer_payment_", "none", "full", "deposit_percent", "deposit_fixed")},
		o.newAmountField("deposit_value", "offer_deposit", "offer_deposit_hint"),
	}
}

// newListingFields returns two fields: the position of an object in the list, and whether customers see the object.
func newListingFields() []form.Field {
	return []form.Field{
		{Name: "order", Kind: form.Integer, Label: "offer_order", Default: "0", Hint: "offer_order_hint"},
		{Name: "active", Kind: form.Switch, Label: "offer_active", Default: "yes"},
	}
}

// newTextFields returns the fields for the texts and the picture of an object. The arguments are the name and the label
// of the field for the picture.
func newTextFields(picture, label string) []form.Field {
	return append([]form.Field{
		{Name: "name", Label: "offer_name", Required: true},
		{Name: "category", Label: "offer_category"},
		{Name: "description_html", Kind: form.Prose, Label: "offer_description"},
	}, newPictureFields(picture, label, "image_url")...)
}
