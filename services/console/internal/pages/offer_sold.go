package pages

import (
	"encoding/json"
	"slices"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
)

// classesKind describes the pages of services with class sessions.
var classesKind = offerKind{
	section: "classes", list: "services", word: "class", ordering: orderedByField,
	newObject: func(*offerPage) document.Fields { return document.Fields{"duration_minutes": json.Number("60")} },
	isShown:   func(item document.Fields) bool { return item["classes"] != nil },
	groups:    newClassGroups,
	summarize: func(o *offerPage, item document.Fields) string {
		sessions, _ := item["classes"].([]any)
		return joinTexts(formatMinutes(o, item["duration_minutes"]), o.formatPrice(item["price"]),
			o.page.Words.Count("offer_sessions", len(sessions)))
	},
}

func newClassGroups(o *offerPage) []form.Group {
	some := func(of []form.Option) []form.Option { return slices.Concat([]form.Option{{Label: "–"}}, of) }
	session := []form.Field{
		{Name: "weekday", Kind: form.Choice, Label: "offer_every", Options: some(o.listWeekdays())},
		{Name: "date", Kind: form.Date, Label: "offer_or_on"},
		{Name: "time", Kind: form.Time, Label: "offer_at", Required: true},
		{Name: "capacity", Kind: form.Integer, Label: "offer_seats", Required: true},
		{Name: "staff", Kind: form.Choice, Label: "offer_given_by", Options: some(o.listChoices("staff"))},
	}
	if locations := o.listLocations(); len(locations) > 0 {
		session = append(session, form.Field{Name: "location", Kind: form.Choice, Label: "booked_location",
			Options: some(locations)})
	}
	return slices.Concat([]form.Group{
		{Fields: newTextFields("picture", "offer_picture")},
		{Title: "offer_prices", Fields: slices.Concat([]form.Field{
			{Name: "duration_minutes", Kind: form.Integer, Label: "offer_duration", Unit: "offer_unit_minutes", Required: true},
		}, o.newPriceFields("person"), o.newPaymentFields())},
		{Title: "offer_classes_when", Hint: "offer_classes_hint", Fields: []form.Field{
			{Name: "classes", Kind: form.Rows, Label: "offer_session", Key: "class", Required: true,
				Fields: append(session, form.Field{Name: "from", Kind: form.Date, Label: "offer_first"},
					form.Field{Name: "to", Kind: form.Date, Label: "offer_last"})},
		}},
	}, o.newOfferedAtGroups(), []form.Group{
		{Title: "offer_shown", Fields: newListingFields()},
	})
}

// eventsKind describes the pages of events, for which the business sells tickets.
var eventsKind = offerKind{
	section: "events", list: "events", word: "event",
	newObject: func(*offerPage) document.Fields { return document.Fields{} },
	groups: func(o *offerPage) []form.Group {
		return []form.Group{
			{Fields: slices.DeleteFunc(newTextFields("picture", "offer_picture"), func(f form.Field) bool { return f.Name == "category" })},
			{Title: "offer_time", Fields: append([]form.Field{
				{Name: "date", Kind: form.Date, Label: "offer_on", Required: true},
				{Name: "start_time", Kind: form.Time, Label: "offer_begins", Required: true},
				{Name: "end_time", Kind: form.Time, Label: "offer_ends", Required: true},
			}, o.newLocationFields()...)},
			{Title: "offer_tickets", Hint: "offer_tickets_hint", Fields: slices.Concat([]form.Field{
				{Name: "total_capacity", Kind: form.Integer, Label: "offer_seats_in_all", Required: true},
			}, o.newPaymentFields(), []form.Field{
				{Name: "tiers", Kind: form.Rows, Label: "offer_tier", Key: "ticket", Fields: []form.Field{
					{Name: "name", Label: "offer_name", Required: true},
					o.newAmountField("price", "offer_price", "offer_price_hint"),
					{Name: "capacity", Kind: form.Integer, Label: "offer_seats", Required: true},
				}},
			})},
			{Title: "offer_shown", Fields: []form.Field{
				{Name: "active", Kind: form.Switch, Label: "offer_on_sale", Default: "yes"},
				{Name: "public", Kind: form.Switch, Label: "offer_active", Default: "yes"},
			}},
		}
	},
	summarize: func(o *offerPage, item document.Fields) string {
		tiers, _ := item["tiers"].([]any)
		return joinTexts(
			o.page.FormatValue(toText(item["date"])),
			o.page.FormatValue(toText(item["start_time"])),
			o.page.Words.Count("offer_kinds_of_tickets", len(tiers)),
		)
	},
}

func toText(value any) string {
	s, _ := value.(string)
	return s
}

// rentalsKind describes the pages of the things that customers rent.
var rentalsKind = offerKind{
	section: "rentals", list: "rentals", word: "rental", ordering: orderedByField,
	newObject: func(*offerPage) document.Fields {
		return document.Fields{"price_type": "daily", "quantity": json.Number("1"), "units_count": json.Number("1")}
	},
	groups: newRentalGroups,
	// if the owner lists single units, the list replaces the number of units
	removeExcluded: func(item document.Fields) {
		if units, _ := item["units"].([]any); len(units) > 0 {
			delete(item, "units_count")
		}
	},
	summarize: func(o *offerPage, item document.Fields) string {
		return joinTexts(
			o.page.Words.Fill(
				"offer_per_"+toText(item["price_type"]),
				map[string]string{"Price": o.formatPrice(item["price"])},
			),
			o.page.Words.Count("offer_units_count", countOnlineUnits(item)),
		)
	},
}

// countOnlineUnits returns the number of units of a rental that customers can book online. The result is the field
// `quantity` of the manifest, but at most the number of units in service.
func countOnlineUnits(item document.Fields) int {
	pieces := toInt(item["units_count"])
	for _, unit := range toList(item["units"]) {
		if fields, ok := unit.(document.Fields); ok && fields["in_service"] != false {
			pieces++
		}
	}
	return min(toInt(item["quantity"]), pieces)
}

func toList(value any) []any {
	list, _ := value.([]any)
	return list
}

func newRentalGroups(o *offerPage) []form.Group {
	limits := []form.Field{
		{Name: "min_rental_hours", Kind: form.Integer, Label: "offer_min_hours", Unit: "offer_unit_hours"},
		{Name: "max_rental_hours", Kind: form.Integer, Label: "offer_max_hours", Unit: "offer_unit_hours"},
		{Name: "min_rental_days", Kind: form.Integer, Label: "offer_min_rental_days", Unit: "offer_unit_days"},
		{Name: "max_rental_days", Kind: form.Integer, Label: "offer_max_rental_days", Unit: "offer_unit_days"},
		{Name: "outside_hours", Kind: form.Switch, Label: "offer_outside_hours"},
	}
	return []form.Group{
		{Fields: newTextFields("picture", "offer_picture")},
		{Title: "offer_prices", Fields: slices.Concat([]form.Field{
			o.newAmountField("price", "offer_price", "offer_price_hint"),
			{Name: "price_type", Kind: form.Choice, Label: "offer_price_type",
				Options: o.newOptions("offer_price_", "hourly", "daily")},
		}, o.newPaymentFields())},
		{Title: "offer_how_long", Fields: append(limits, o.newLocationFields()...)},
		{Title: "offer_units", Hint: "offer_units_hint", Fields: []form.Field{
			{Name: "quantity", Kind: form.Integer, Label: "offer_quantity", Hint: "offer_quantity_hint"},
			{Name: "units_count", Kind: form.Integer, Label: "offer_units_number", Hint: "offer_units_number_hint"},
			{Name: "units", Kind: form.Rows, Label: "offer_unit", Fields: []form.Field{
				{Name: "key", Label: "offer_unit_name", Hint: "offer_unit_name_hint", Required: true},
				{Name: "in_service", Kind: form.Switch, Label: "offer_in_service", Default: "yes"},
				{Name: "maintenance", Kind: form.Rows, Label: "offer_maintenance", Fields: []form.Field{
					{Name: "from", Kind: form.Date, Label: "offer_from", Required: true},
					{Name: "to", Kind: form.Date, Label: "offer_to", Required: true},
				}},
			}},
		}},
		{Title: "offer_upsells", Hint: "offer_upsells_hint", Fields: []form.Field{
			{Name: "upsells", Kind: form.Rows, Label: "offer_upsell", Fields: []form.Field{
				{Name: "rental", Kind: form.Choice, Label: "offer_with", Required: true,
					Options: slices.Concat([]form.Option{{Label: "–"}}, o.listChoices("rentals"))},
				{Name: "required", Kind: form.Switch, Label: "offer_needed"},
				{Name: "order", Kind: form.Integer, Label: "offer_order", Default: "0"},
			}},
		}},
		{Title: "offer_shown",
			Fields: append(newListingFields(), form.Field{Name: "add_on", Kind: form.Switch, Label: "offer_add_on"})},
	}
}

// listAppointments returns the services without class sessions as options. Customers book classes alone.
func (o *offerPage) listAppointments() []form.Option {
	var options []form.Option
	for _, service := range serviceKind.listItems(o.fields) {
		options = append(options, form.Option{Value: toText(service["key"]), Label: toText(service["name"])})
	}
	return options
}

// packagesKind describes the pages of packages: services that customers book together at one price.
var packagesKind = offerKind{
	section: "packages", list: "packages", word: "package", ordering: orderedByPosition,
	newObject: func(*offerPage) document.Fields { return document.Fields{} },
	groups: func(o *offerPage) []form.Group {
		return []form.Group{
			{Fields: []form.Field{
				{Name: "name", Label: "offer_name", Required: true},
				{Name: "description", Kind: form.Text, Label: "offer_description"},
				{Name: "services", Kind: form.Checkboxes, Label: "offer_package_services",
					Hint: "offer_package_services_hint", Required: true, Options: o.listAppointments()},
			}},
			{Title: "offer_prices", Hint: "offer_package_price_hint", Fields: []form.Field{
				o.newAmountField("price", "offer_price", ""),
				{Name: "percent", Kind: form.Decimal, Label: "offer_discount", Unit: "offer_unit_percent"},
			}},
		}
	},
	summarize: func(o *offerPage, item document.Fields) string {
		price := ""
		if percent := formatNumber(item["percent"]); percent != "" {
			price = o.page.Words.With("offer_does_percent_less", "Value", percent)
		} else if formatNumber(item["price"]) != "" {
			price = o.formatPrice(item["price"])
		}
		return joinTexts(o.formatNames("services", item["services"]), price)
	},
}
