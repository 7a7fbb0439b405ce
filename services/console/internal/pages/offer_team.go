package pages

import (
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
)

// teamKind describes the pages of the staff members whose time customers book.
var teamKind = offerKind{
	section: "team", list: "staff", word: "member", ordering: orderedByField,
	newObject: func(*offerPage) document.Fields { return document.Fields{} },
	groups:    newTeamGroups,
	summarize: func(o *offerPage, item document.Fields) string {
		key, _ := item["key"].(string)
		var does []any
		services, _ := o.fields["services"].([]any)
		for _, s := range services {
			service, _ := s.(document.Fields)
			if own, _ := service["staff"].([]any); contains(own, key) {
				does = append(does, service["key"])
			}
		}
		return joinTexts(o.page.Words.Say("offer_hours_"+chooseHoursKind(item)), o.formatNames("services", does))
	},
}

func contains(list []any, key string) bool {
	for _, item := range list {
		if item == key {
			return true
		}
	}
	return false
}

// chooseHoursKind returns the kind of hours that a member has: the hours of the business, own hours, no weekly hours,
// or hours at each location.
func chooseHoursKind(member document.Fields) string {
	days, own := member["hours"].(document.Fields)
	_, atPlaces := member["at"]
	switch {
	case atPlaces:
		return form.HoursAtPlaces
	case !own:
		return form.HoursBusiness
	case len(days) == 0:
		return form.HoursNone
	}
	return form.HoursOwn
}

func newTeamGroups(o *offerPage) []form.Group {
	business, _ := o.fields["hours"].(document.Fields)
	return []form.Group{
		{Fields: newTextFields("photo", "offer_photo")},
		{Title: "offer_working_hours", Hint: "offer_hours_hint", Fields: []form.Field{
			{Name: "hours", Kind: form.Week, Label: "offer_works", HasOwnHours: true, Instead: business,
				Places: o.listMemberLocations()},
		}},
		{Title: "offer_dates", Hint: "offer_dates_hint", Fields: []form.Field{newSingleDatesField()}},
		{Title: "offer_shown", Fields: newListingFields()},
	}
}

// listMemberLocations returns all locations of the business as options.
func (o *offerPage) listMemberLocations() []form.Option {
	options := o.listChoices("locations")
	for i := range options {
		if options[i].Label == "" {
			options[i].Label = o.nameLocation(nil)
		}
	}
	return options
}

// newSingleDatesField returns the field for the single dates that have other hours than their weekday.
func newSingleDatesField() form.Field {
	return form.Field{Name: "overrides", Kind: form.Rows, Label: "offer_date", Fields: []form.Field{
		{Name: "date", Kind: form.Date, Label: "offer_on", Required: true},
		{Name: "hours", Kind: form.Windows, Label: "offer_hours_that_day"},
	}}
}
