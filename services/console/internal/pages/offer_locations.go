package pages

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// locationKinds are the kinds of locations, in the order in which a person chooses one.
var locationKinds = []string{catalog.KindPlace, catalog.KindLink, catalog.KindPhone, catalog.KindCustomerAddress}

// locationsKind describes the pages of the locations of a business.
var locationsKind = offerKind{
	section: "locations", list: "locations", word: "location", variants: locationKinds, ordering: orderedByPosition,
	newObject: newLocation,
	groups:    newLocationGroups,
	adapt:     adaptLocationField,
	name:      func(o *offerPage, l document.Fields) string { return o.nameLocation(l) },
	summarize: func(o *offerPage, l document.Fields) string {
		return joinTexts(o.page.Words.Say("offer_kind_"+toText(l["kind"])), o.describeLocation(l))
	},
	explain: func(o *offerPage, l document.Fields) string {
		return o.page.Words.Say("offer_kind_" + toText(l["kind"]))
	},
}

// newLocation returns a new location of the kind that the person has chosen. A place gets the country of the time zone
// of the business.
func newLocation(o *offerPage) document.Fields {
	l := document.Fields{"kind": o.variant}
	if country := locale.RegionOf(o.page.Business.Timezone); o.variant == catalog.KindPlace && country != "" {
		l["address"] = document.Fields{"country": country}
	}
	return l
}

// nameLocation returns the name of a location. A location without a name has the name of the business.
func (o *offerPage) nameLocation(l document.Fields) string {
	if name := toText(l["name"]); name != "" {
		return name
	}
	return toText(o.fields["name"])
}

// describeLocation returns the address of a place on one line, or the link or the telephone number of a location.
func (o *offerPage) describeLocation(l document.Fields) string {
	address, _ := l["address"].(document.Fields)
	var parts []string
	for _, part := range []string{"street", "postal_code", "city"} {
		if text := toText(address[part]); text != "" {
			parts = append(parts, text)
		}
	}
	return joinTexts(strings.Join(parts, ", "), toText(l["link"]), toText(l["phone"]))
}

// newLocationGroups returns the fields of all kinds of locations. [adaptLocationField] leaves out those of other kinds.
func newLocationGroups(o *offerPage) []form.Group {
	business, _ := o.fields["hours"].(document.Fields)
	return []form.Group{
		{Fields: []form.Field{
			{Name: "kind", Kind: form.Choice, Label: "offer_location", Options: o.newOptions("offer_kind_", locationKinds...)},
			{Name: "name", Label: "offer_place_name", Hint: "offer_place_name_hint"},
			{Name: "link", Label: "offer_link", Hint: "offer_link_hint", Required: true},
			{Name: "calls", Kind: form.Choice, Label: "offer_calls",
				Options: o.newOptions("offer_calls_", "business", "customer")},
			{Name: "address.street", Label: "offer_street"},
			{Name: "address.postal_code", Label: "offer_postal_code"},
			{Name: "address.city", Label: "offer_city"},
			{Name: "address.country", Kind: form.Choice, Label: "offer_country", Options: o.countryOptions()},
			{Name: "geo", Kind: form.Position, Label: "offer_position", Hint: "offer_position_hint"},
			{Name: "phone", Label: "phone"},
			{Name: "directions_html", Kind: form.Prose, Label: "offer_directions", Hint: "offer_directions_hint"},
		}},
		{Fields: []form.Field{
			{Name: "countries", Kind: form.Choices, Label: "offer_countries", Hint: "offer_countries_hint",
				Options: listCountries(o)},
			{Name: "postal_codes", Kind: form.Lines, Label: "offer_postal_codes", Hint: "offer_postal_codes_hint"},
			{Name: "travel_minutes", Kind: form.Integer, Label: "offer_travel", Hint: "offer_travel_hint",
				Unit: "offer_unit_minutes", Default: "0"},
		}},
		{Title: "offer_hours", Fields: []form.Field{
			{Name: "hours", Kind: form.Week, Label: "offer_open", HasOwnHours: true, Instead: business},
		}},
		{Title: "offer_dates", Hint: "offer_dates_hint", Fields: []form.Field{newSingleDatesField()}},
	}
}

// listCountries returns all countries as options.
func listCountries(o *offerPage) []form.Option {
	if options := o.countryOptions(); len(options) > 0 {
		return options[1:] // without the option for no country
	}
	return nil
}

// locationFields maps the fields that not all kinds of locations have to the kinds that have them.
var locationFields = map[string][]string{
	"address.street":      {catalog.KindPlace},
	"address.postal_code": {catalog.KindPlace},
	"address.city":        {catalog.KindPlace},
	"address.country":     {catalog.KindPlace},
	"geo":                 {catalog.KindPlace},
	"directions_html":     {catalog.KindPlace},
	"phone":               {catalog.KindPlace, catalog.KindPhone},
	"link":                {catalog.KindLink},
	"calls":               {catalog.KindPhone},
	"countries":           {catalog.KindCustomerAddress},
	"postal_codes":        {catalog.KindCustomerAddress},
	"travel_minutes":      {catalog.KindCustomerAddress},
	"kind":                nil, // a person chooses the kind before the form opens
}

// adaptLocationField adapts a field to the kind of a location. The second result is false if the form does not show the
// field: a location of this kind does not have the field, and the field is not set.
//
// Customers know the main place by the name of the business, if the place has no name. All other locations need a name.
func adaptLocationField(o *offerPage, l document.Fields, f form.Field) (form.Field, bool) {
	kind := toText(l["kind"])
	first, hasOthers := itemAt(toList(o.fields["locations"]), 0)
	if isMain := !hasOthers || first["key"] == l["key"]; f.Name == "name" && (kind != catalog.KindPlace || !isMain) {
		f.Label, f.Hint, f.Required = "offer_name", "", true
	}
	kinds, isLimited := locationFields[f.Name]
	if !isLimited || slices.Contains(kinds, kind) {
		return f, true
	}
	_, isSet := l[f.Name]
	return f, isSet && f.Name != "kind"
}

// listLocations returns the locations of the business as options, if a person can choose among several. The pages of
// changes need the labels of the fields with these options; for these pages, listLocations returns an empty option.
func (o *offerPage) listLocations() []form.Option {
	if o.page == nil {
		return []form.Option{{}}
	}
	if options := o.listMemberLocations(); len(options) > 1 {
		return options
	}
	return nil
}

// newLocationFields returns the field for the location of an event or a rental, if the business has several locations.
// The first option stands for the main location, also after another location becomes the main one.
func (o *offerPage) newLocationFields() []form.Field {
	options := o.listLocations()
	if len(options) == 0 {
		return nil
	}
	if o.page != nil {
		options = append([]form.Option{{Label: o.page.Words.Say("offer_main_location")}}, options...)
	}
	return []form.Field{{Name: "location", Kind: form.Choice, Label: "booked_location", Options: options}}
}

// newOfferedAtGroups returns the field for the locations of a service, if the business has several locations.
func (o *offerPage) newOfferedAtGroups() []form.Group {
	options := o.listLocations()
	if len(options) == 0 {
		return nil
	}
	return []form.Group{{Title: "offer_offered_at", Hint: "offer_offered_at_hint", Fields: []form.Field{
		{Name: "locations", Kind: form.Checkboxes, Label: "offer_locations", Options: options},
	}}}
}

// showVariants shows the page on which a person chooses which variant of a kind of objects to add.
func (p *Pages) showVariants(c *fiber.Ctx, k offerKind, o *offerPage) error {
	list := "/offer/" + k.section
	v := view.OfferVariants{Offering: o.about, Title: o.page.Words.Say("offer_add_" + k.section), Back: list}
	for _, variant := range k.variants {
		v.Variants = append(v.Variants, view.OfferLine{Name: o.page.Words.Say("offer_kind_" + variant),
			Path: list + "/new?" + url.Values{"kind": {variant}}.Encode()})
	}
	return p.render(c, fiber.StatusOK, o.page, view.ChooseVariant(o.page, v))
}
