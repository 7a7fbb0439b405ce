package pages

import (
	"net/url"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
)

// place is the prefix of the field names of the business's place, which is the first location in the manifest.
const place = "locations.0."

// countryField is the name of the field for the country of the place.
const countryField = place + "address.country"

// placeGroups returns the fields for the place and the contact of the business.
func placeGroups(o *offerPage) []form.Group {
	groups := []form.Group{
		{Title: "offer_where", Fields: []form.Field{
			{Name: place + "address.street", Label: "offer_street"},
			{Name: place + "address.postal_code", Label: "offer_postal_code"},
			{Name: place + "address.city", Label: "offer_city"},
			{Name: countryField, Kind: form.Choice, Label: "offer_country", Options: o.countryOptions()},
			{Name: place + "name", Label: "offer_place_name", Hint: "offer_place_name_hint"},
			{Name: place + "geo", Kind: form.Position, Label: "offer_position", Hint: "offer_position_hint"},
			{Name: place + "directions_html", Kind: form.Prose, Label: "offer_directions",
				Hint: "offer_directions_hint"},
		}},
		{Title: "offer_contact", Hint: "offer_contact_hint", Fields: []form.Field{
			{Name: "contact.phone", Label: "phone"},
			{Name: "contact.email", Label: "email"},
			{Name: "contact.website", Kind: form.Address, Label: "offer_website"},
			{Name: "contact.messenger", Kind: form.Address, Label: "offer_messenger", Hint: "offer_messenger_hint"},
		}},
	}
	if first, exists := itemAt(toList(o.fields["locations"]), 0); exists && first["kind"] != catalog.KindPlace {
		groups = groups[1:] // the form of the first location has its fields
	}
	return groups
}

// itemAt returns the object of a list at an index. The second result is false if the list has no such object.
func itemAt(list []any, i int) (document.Fields, bool) {
	if i >= len(list) {
		return nil, false
	}
	object, ok := list[i].(document.Fields)
	return object, ok
}

// countryOptions returns all countries as options, sorted by their names in the language of the page. The first option
// means that the place has no country.
func (o *offerPage) countryOptions() []form.Option {
	if o.page == nil {
		return nil
	}
	codes := postal.Countries()
	countries := make([]form.Option, len(codes))
	for i, code := range codes {
		countries[i] = form.Option{Value: code, Label: o.page.Words.Country(code)}
	}
	words.SortByName(countries, func(option form.Option) string { return option.Label })
	return append([]form.Option{{Label: o.page.Words.Say("offer_country_none")}}, countries...)
}

// suggestCountry selects the country in which the time zone of the business lies, if the business has no place yet.
func suggestCountry(o *offerPage, values url.Values) {
	if locations, _ := o.fields["locations"].([]any); len(locations) == 0 {
		values.Set(countryField, locale.RegionOf(o.page.Business.Timezone))
	}
}

// writePlace calls the function `write`, which writes the submitted form into the fields of the offer. If the offer has
// no location, writePlace first adds an empty one, because `write` needs an object to write into. If the only location is
// a place that the person has cleared and that no object refers to, writePlace removes it. A new location that has only a
// country counts as empty, because the form itself suggests the country.
func writePlace(fields document.Fields, write func() *form.Result) *form.Result {
	locations, _ := fields["locations"].([]any)
	isNew := len(locations) == 0
	if isNew {
		locations = []any{document.Fields{"key": catalog.KindPlace, "kind": catalog.KindPlace}}
		fields["locations"] = locations
	}
	only, _ := locations[0].(document.Fields)
	wasEmpty := !isNew && isPlaceEmpty(only, false)
	result := write()
	if len(locations) > 1 || wasEmpty || only["kind"] != catalog.KindPlace || !isPlaceEmpty(only, isNew) {
		return result
	}
	key, _ := only["key"].(string)
	if references, _ := document.Remove(document.Clone(fields), "locations", key); references == (document.Removal{}) {
		delete(fields, "locations")
	}
	return result
}

// isPlaceEmpty reports whether a location has no field that a person has entered. If the argument `isNew` is true, an
// address that has only a country does not count as entered, because the form suggests the country.
func isPlaceEmpty(location document.Fields, isNew bool) bool {
	for name, value := range location {
		address, _ := value.(document.Fields)
		_, hasCountry := address["country"]
		isSuggestion := isNew && name == "address" && hasCountry && len(address) == 1
		if name != "key" && name != "kind" && name != "id" && !isSuggestion {
			return false
		}
	}
	return true
}
