package pages

import (
	"encoding/json"
	"slices"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
)

// serviceKind describes the pages of services that customers book at a time of their choice.
var serviceKind = offerKind{
	section: "services", list: "services", word: "service", ordering: orderedByField,
	newObject: func(o *offerPage) document.Fields {
		item := document.Fields{"duration_minutes": json.Number("60")}
		if team := listKeys(o.listChoices("staff")); len(team) > 0 {
			item["staff"] = team
		}
		return item
	},
	isShown: func(item document.Fields) bool { return item["classes"] == nil },
	groups:  newServiceGroups,
	summarize: func(o *offerPage, item document.Fields) string {
		return joinTexts(formatMinutes(o, item["duration_minutes"]), o.formatPrice(item["price"]),
			o.formatNames("staff", item["staff"]))
	},
}

func newServiceGroups(o *offerPage) []form.Group {
	return slices.Concat([]form.Group{
		{Fields: newTextFields("picture", "offer_picture")},
		{Title: "offer_time", Fields: []form.Field{
			{Name: "duration_minutes", Kind: form.Integer, Label: "offer_duration", Unit: "offer_unit_minutes", Required: true},
			{Name: "buffer_before_minutes", Kind: form.Integer, Label: "offer_before", Unit: "offer_unit_minutes", Default: "0"},
			{Name: "buffer_after_minutes", Kind: form.Integer, Label: "offer_after", Unit: "offer_unit_minutes", Default: "0"},
			{Name: "slot_interval_minutes", Kind: form.Integer, Label: "offer_interval", Unit: "offer_unit_minutes", Hint: "offer_interval_hint"},
		}},
		{Title: "offer_prices", Fields: append(o.newPriceFields("booking"), o.newPaymentFields()...)},
		{Title: "offer_who", Fields: []form.Field{
			{
				Name:     "staff",
				Kind:     form.Checkboxes,
				Label:    "offer_done_by",
				Hint:     "offer_done_by_hint",
				IsTicked: true,
				Options:  o.listChoices("staff"),
			},
			{Name: "capacity", Kind: form.Integer, Label: "offer_capacity", Hint: "offer_capacity_hint", Default: "1"},
		}},
	}, o.newOfferedAtGroups(), []form.Group{
		{Title: "offer_variants", Hint: "offer_variants_hint", Fields: []form.Field{
			{Name: "variants", Kind: form.Rows, Label: "offer_variant", Key: "variant", Fields: []form.Field{
				{Name: "name", Label: "offer_name", Required: true},
				{Name: "duration_minutes", Kind: form.Integer, Label: "offer_duration", Unit: "offer_unit_minutes"},
				o.newAmountField("price", "offer_price", ""),
			}},
		}},
		{Title: "offer_shown",
			Fields: append(newListingFields(), form.Field{Name: "allow_multiple", Kind: form.Switch,
				Label: "offer_multiple"})},
	})
}
