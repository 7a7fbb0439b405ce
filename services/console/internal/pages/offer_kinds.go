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
	section string                          // path segment of the pages, and a part of the ids of their message texts
	list    string                          // name of the list of the manifest
	word    string                          // key of a new object whose name has no letter that is valid in keys
	fresh   func(*offered) document.Fields  // returns a new object, which has the initial values of the form
	shows   func(item document.Fields) bool // reports whether `section` shows an object of `list`; nil if all
	groups  func(*offered) []form.Group
	name    func(*offered, document.Fields) string // returns the name in the list; nil for the field `name`
	about   func(*offered, document.Fields) string // returns the line below the name
	told    func(*offered, document.Fields) string // returns a text above the form; nil for no text
	ordered func(document.Fields) int              // returns the sort key of an object; nil for the field `order`
	settle  func(document.Fields)                  // removes a field that another field excludes; nil for no such field
}

var offerKinds = []offerKind{serviceKind, classesKind, eventsKind, rentalsKind, teamKind, rulesKind}

func init() {
	for _, k := range offerKinds {
		labels(k.groups(&offered{fields: document.Fields{}}))
	}
	for _, part := range offerParts {
		labels(part.groups(&offered{fields: document.Fields{}}))
	}
}

// labels registers the labels of the fields in `groups` in [view.FieldLabels], for the pages that list changes.
func labels(groups []form.Group) {
	var note func([]form.Field)
	note = func(fields []form.Field) {
		for _, f := range fields {
			name := f.Name[strings.LastIndex(f.Name, ".")+1:]
			if _, there := view.FieldLabels[name]; !there {
				view.FieldLabels[name] = f.Label
			}
			view.NoteOptions(f)
			note(f.Fields)
		}
	}
	note(form.ListFields(groups))
}

// begin returns a new object of the kind. The object comes after all others of its list.
func (k offerKind) begin(o *offered) document.Fields {
	object := k.fresh(o)
	offer.PlaceLast(o.fields, k.list, object)
	return object
}

// items returns the objects of the kind, sorted as the pages show them.
func (k offerKind) items(fields document.Fields) []document.Fields {
	list, _ := fields[k.list].([]any)
	var items []document.Fields
	for _, item := range list {
		if object, ok := item.(document.Fields); ok && (k.shows == nil || k.shows(object)) {
			items = append(items, object)
		}
	}
	order := k.ordered
	if order == nil {
		order = func(item document.Fields) int { return whole(item["order"]) }
	}
	slices.SortStableFunc(items, func(a, b document.Fields) int { return cmp.Compare(order(a), order(b)) })
	return items
}

func whole(value any) int {
	n, _ := value.(json.Number)
	i, err := strconv.Atoi(n.String())
	if err != nil {
		return 0
	}
	return i
}

func (k offerKind) called(o *offered, object document.Fields) string {
	if k.name != nil {
		return k.name(o, object)
	}
	name, _ := object["name"].(string)
	return name
}

// languages returns the languages of the owner's pages and the default language of the business as options. The label
// of each option is the name of a language in the language itself.
func (o *offered) languages() []form.Option {
	if o.page == nil {
		return nil
	}
	codes := o.page.Words.Languages()
	if own := worded(o.fields["default_language"]); own != "" && !slices.Contains(codes, own) {
		codes = append(codes, own)
	}
	options := make([]form.Option, len(codes))
	for i, code := range codes {
		options[i] = form.Option{Value: code, Label: cmp.Or(words.NameOf(code), code)}
	}
	return options
}

// keysOf returns the values of options as a list of keys for the manifest.
func keysOf(options []form.Option) []any {
	keys := make([]any, len(options))
	for i, o := range options {
		keys[i] = o.Value
	}
	return keys
}

// choices returns the objects of a list as options. The value of an option is the key of the object.
func (o *offered) choices(list string) []form.Option {
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

// says returns options with the values in `values`. The id of the text of an option is `word`, followed by the option's
// value.
func (o *offered) says(word string, values ...string) []form.Option {
	options := make([]form.Option, len(values))
	for i, value := range values {
		options[i] = form.Option{Value: value, Sentence: word + value}
		if o.page != nil {
			options[i].Label = o.page.Words.Say(word + value)
		}
	}
	return options
}

// price formats an amount in the business's currency. If `value` is not a number, price returns the word for "free of
// charge".
func (o *offered) price(value any) string {
	amount, ok := value.(json.Number)
	if !ok {
		return o.page.Words.Say("offer_free")
	}
	return o.page.Words.Amount(amount.String(), o.page.Business.Currency)
}

// names returns the names of some objects of a list, joined by commas. The argument `keys` has the keys of these
// objects.
func (o *offered) names(list string, keys any) string {
	var names []string
	all, _ := keys.([]any)
	for _, option := range o.choices(list) {
		if slices.Contains(all, any(option.Value)) {
			names = append(names, option.Label)
		}
	}
	return strings.Join(names, ", ")
}

// joined joins the texts that are not empty, with a dot between them.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

func minutes(o *offered, value any) string { return o.page.Words.Count("offer_minutes", whole(value)) }

// prices returns the fields of a service's price. The argument `per` is the default value of the field `price_per`.
func (o *offered) prices(per string) []form.Field {
	return []form.Field{
		o.amount("price", "offer_price", "offer_price_hint"),
		{Name: "price_per", Kind: form.Choice, Label: "offer_price_per", Default: per,
			Options: o.says("offer_price_per_", "person", "booking")},
	}
}

// amount returns a field for an amount in the business's currency.
func (o *offered) amount(name, label, hint string) form.Field {
	return form.Field{Name: name, Kind: form.Decimal, Label: label, Hint: hint, Currency: worded(o.fields["currency"])}
}

// payments returns the field for the payment that a customer must make when booking.
func (o *offered) payments() []form.Field {
	return []form.Field{
		{Name: "payment_requirement", Kind: form.Choice, Label: "offer_payment", Default: "none",
			Options: o.says("offer_payment_", "none", "full", "deposit_percent", "deposit_fixed")},
		o.amount("deposit_value", "offer_deposit", "offer_deposit_hint"),
	}
}

// listed returns two fields: the position of an object in the list, and whether customers see the object.
func listed() []form.Field {
	return []form.Field{
		{Name: "order", Kind: form.Integer, Label: "offer_order", Default: "0", Hint: "offer_order_hint"},
		{Name: "active", Kind: form.Switch, Label: "offer_active", Default: "yes"},
	}
}

// wordsOf returns the fields for the texts and the picture of an object.
func wordsOf() []form.Field {
	return []form.Field{
		{Name: "name", Label: "offer_name", Required: true},
		{Name: "category", Label: "offer_category"},
		{Name: "description_html", Kind: form.Prose, Label: "offer_description"},
		{Name: "image_url", Kind: form.Address, Label: "offer_picture", Hint: "offer_picture_hint"},
	}
}
