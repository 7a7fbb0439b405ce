package pages

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
)

// rulesKind describes the pages of the pricing rules.
var rulesKind = offerKind{
	section: "rules", list: "pricing_rules", word: "rule",
	newObject: func(*offerPage) document.Fields { return document.Fields{} },
	groups:    newRuleGroups,
	name:      func(o *offerPage, r document.Fields) string { return o.describeCondition(r) },
	summarize: func(o *offerPage, r document.Fields) string {
		return joinTexts(o.describeChange(r), o.describeScope(r), o.describeExample(r))
	},
	explain: func(o *offerPage, r document.Fields) string {
		if r["key"] == nil {
			return ""
		}
		return joinTexts(o.describeChange(r), o.describeScope(r), o.describeExample(r))
	},
	sortKey: func(r document.Fields) int { return toInt(r["priority"]) },
}

// newRuleGroups returns the fields of the form of a pricing rule. The kind of the rule decides which of its conditions
// the form shows.
func newRuleGroups(o *offerPage) []form.Group {
	all := o.newOptions("offer_all_", "services", "events", "rentals")
	picked := func(list string, option form.Option) form.Field {
		return form.Field{
			Name: "applies_to." + list, Kind: form.ObjectPicker, Label: "offer_" + list,
			Options: slices.Concat(
				[]form.Option{{Value: form.AllObjects, Label: option.Label, Sentence: option.Sentence}},
				o.listChoices(list),
			),
		}
	}
	return []form.Group{
		{Title: "offer_when", Hint: "offer_when_hint", Fields: append([]form.Field{
			{Name: "kind", Kind: form.Choice, Label: "offer_rule_kind", Required: true,
				Options: o.newOptions("offer_rule_", rule.Names()...)},
		}, newConditionFields(o)...)},
		{Title: "offer_change", Hint: "offer_change_hint", Fields: []form.Field{
			{Name: "percent", Kind: form.Decimal, Label: "offer_percent", Unit: "offer_unit_percent", Hint: "offer_percent_hint"},
			o.newAmountField("amount", "offer_amount", "offer_amount_hint"),
			o.newAmountField("set", "offer_set", "offer_set_hint"),
		}},
		{Fields: []form.Field{{Name: "label", Label: "offer_label", Hint: "offer_label_hint"}}},
		{Title: "offer_scope", Hint: "offer_scope_hint", Fields: []form.Field{picked("services", all[0]),
			picked("events", all[1]), picked("rentals", all[2])}},
		{Title: "offer_several_rules", Fields: []form.Field{
			{Name: "priority", Kind: form.Integer, Label: "offer_priority", Default: "0", Hint: "offer_order_hint"},
			{Name: "stop", Kind: form.Switch, Label: "offer_stop"},
		}},
	}
}

// newConditionFields returns the fields of all conditions that the kinds of pricing rules have.
func newConditionFields(o *offerPage) []form.Field {
	return []form.Field{
		{Name: "from", Label: "offer_from", Hint: "offer_span_hint"},
		{Name: "to", Label: "offer_to", Hint: "offer_span_hint"},
		{Name: "days", Kind: form.Checkboxes, Label: "offer_days", Options: o.listWeekdays()},
		{Name: "min_days_before", Kind: form.Integer, Label: "offer_min_days", Unit: "offer_unit_days"},
		{Name: "max_days_before", Kind: form.Integer, Label: "offer_max_days", Unit: "offer_unit_days"},
		{Name: "min", Kind: form.Integer, Label: "offer_min_people"},
		{Name: "max", Kind: form.Integer, Label: "offer_max_people"},
		{Name: "min_units", Kind: form.Integer, Label: "offer_min_units"},
		{Name: "max_units", Kind: form.Integer, Label: "offer_max_units"},
	}
}

// listWeekdays returns the days of the week as options.
func (o *offerPage) listWeekdays() []form.Option {
	options := make([]form.Option, len(form.Weekdays))
	for i, day := range form.Weekdays {
		options[i] = form.Option{Value: day}
		if o.page != nil {
			options[i].Label = o.page.Words.WholeWeekday(time.Weekday((i + 1) % 7))
		}
	}
	return options
}

// describeCondition returns a text that explains when a pricing rule applies.
func (o *offerPage) describeCondition(r document.Fields) string {
	written := func(name string) string {
		switch value := r[name].(type) {
		case string:
			return o.page.FormatValue(value)
		case json.Number:
			return value.String()
		}
		return "…"
	}
	var days []string
	list, _ := r["days"].([]any)
	for _, day := range o.listWeekdays() {
		if contains(list, day.Value) {
			days = append(days, day.Label)
		}
	}
	words, kind := o.page.Words, rule.Kind(written("kind"))
	switch kind {
	case rule.DayOfWeek:
		return strings.Join(days, ", ")
	case rule.Seasonal, rule.TimeOfDay, rule.FlashSale:
		return words.Fill("offer_rule_span", map[string]string{"From": written("from"), "To": written("to")})
	case rule.EarlyBird:
		return words.With("offer_rule_early", "Days", written("min_days_before"))
	case rule.LastMinute:
		return words.With("offer_rule_late", "Days", written("max_days_before"))
	case rule.PartySize:
		return words.Fill("offer_rule_people", map[string]string{"Min": written("min"), "Max": written("max")})
	case rule.Duration:
		return words.Fill("offer_rule_units", map[string]string{"Min": written("min_units"),
			"Max": written("max_units")})
	case rule.FirstBooking:
		return words.Say("offer_rule_first_booking")
	}
	return written("kind")
}

// describeChange returns a text that explains how a pricing rule changes a price.
func (o *offerPage) describeChange(r document.Fields) string {
	for _, name := range []string{"percent", "amount", "set"} {
		n, ok := r[name].(json.Number)
		if !ok {
			continue
		}
		value := n.String()
		if name != "percent" {
			value = o.page.Words.Amount(strings.TrimPrefix(value, "-"), o.page.Business.Currency)
		}
		sentence := "offer_does_" + name
		if strings.HasPrefix(n.String(), "-") {
			sentence, value = sentence+"_less", strings.TrimPrefix(value, "-")
		}
		return o.page.Words.With(sentence, "Value", value)
	}
	return ""
}

// describeScope returns a text with the services, events and rentals to which a pricing rule applies.
func (o *offerPage) describeScope(r document.Fields) string {
	scope, ok := r["applies_to"].(document.Fields)
	if !ok {
		return o.page.Words.Say("offer_everything")
	}
	var parts []string
	for _, list := range []string{"services", "events", "rentals"} {
		switch which := scope[list].(type) {
		case string:
			parts = append(parts, o.page.Words.Say("offer_all_"+list))
		case []any:
			parts = append(parts, o.formatNames(list, which))
		}
	}
	return strings.Join(parts, ", ")
}

// describeExample returns a text with the price of one object before and after a pricing rule changes it. The text
// ignores all other pricing rules. The new price is rounded half up and is at least 0 (semantics.md §5).
func (o *offerPage) describeExample(r document.Fields) string {
	name, price, ok := o.findFirstPriced(r)
	if !ok {
		return ""
	}
	after := price
	if percent, err := decimal.NewFromString(formatNumber(r["percent"])); err == nil {
		after = price.Add(price.Mul(percent).Shift(-2))
	}
	if amount, err := decimal.NewFromString(formatNumber(r["amount"])); err == nil {
		after = price.Add(amount)
	}
	if set, err := decimal.NewFromString(formatNumber(r["set"])); err == nil {
		after = set
	}
	if after.IsNegative() {
		after = decimal.Zero
	}
	money, words := o.page.Business.Money(), o.page.Words
	return words.Fill("offer_example", map[string]string{
		"Name":   name,
		"Before": words.Amount(price.String(), o.page.Business.Currency),
		"After":  words.Amount(money.JSON(money.Round(after)).String(), o.page.Business.Currency),
	})
}

func formatNumber(value any) string {
	n, _ := value.(json.Number)
	return n.String()
}

// findFirstPriced returns the name and the price of the first object that a pricing rule applies to and that has a
// price. The third result is false if there is no such object.
func (o *offerPage) findFirstPriced(r document.Fields) (string, decimal.Decimal, bool) {
	scope, hasSome := r["applies_to"].(document.Fields)
	for _, list := range []string{"services", "rentals", "events"} {
		which, exists := scope[list]
		keys, _ := which.([]any)
		items, _ := o.fields[list].([]any)
		for _, i := range items {
			item, _ := i.(document.Fields)
			key, _ := item["key"].(string)
			if hasSome && (!exists || keys != nil && !contains(keys, key)) {
				continue
			}
			name, _ := item["name"].(string)
			prices := []any{item["price"]}
			tiers, _ := item["tiers"].([]any)
			for _, t := range tiers {
				tier, _ := t.(document.Fields)
				prices = append(prices, tier["price"])
			}
			for _, p := range prices {
				if price, err := decimal.NewFromString(formatNumber(p)); err == nil && price.IsPositive() {
					return name, price, true
				}
			}
		}
	}
	return "", decimal.Zero, false
}
