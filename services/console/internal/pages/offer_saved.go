package pages

import (
	"slices"

	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// noteSaved sets the notice that a page shows after a version was saved. The notice tells the person whether customers
// see the change, and has one of these links:
//   - the booking page, if customers see the change
//   - the form with the field that hides the saved object, if a field hides it from customers
//   - the first visit, if the business is not open for bookings yet
//
// The argument `key` is the key of the saved object, or "" if the form edits no object. The argument `pages` is the
// base URL of the booking pages.
func (o *offerPage) noteSaved(key, pages string) {
	kind := slices.IndexFunc(offerKinds, func(k offerKind) bool { return k.section == o.about.Section })
	o.about.Notice = o.page.Words.Say("offer_saved")
	o.about.BookingPage = pages + "/b/" + o.page.Business.Slug
	switch {
	case o.about.Section == notificationsPart.section, o.about.Section == wordsSection: // the booking page shows neither
		o.about.Notice, o.about.BookingPage = o.page.Words.Say("done_webhook_changed"), ""
	case o.page.Business.NotYetOpen:
		o.about.Notice = o.page.Words.With("offer_saved_unopened", "Open", o.page.Words.Say("first_open"))
		o.about.BookingPage, o.about.HidingForm, o.about.HidingFormName = "", "/first", o.page.Words.Say("first_go_on")
	case kind >= 0:
		o.noteHidden(offerKinds[kind], key)
	}
}

// noteHidden changes the notice if customers do not see the saved object. The new notice names the field that hides the
// object.
func (o *offerPage) noteHidden(k offerKind, key string) {
	label, at, name := "", "/offer/"+k.section+"/"+key, ""
	if offer.IsModuleOff(o.fields, k.list) {
		label, at, name = "offer_"+k.list, "/offer/"+businessPart.section,
			o.page.Words.Say("offer_"+businessPart.section)
	} else if item, exists := document.Find(o.fields, k.list, key); exists {
		label, name = o.findHidingField(k, item), k.nameObject(o, item)
	}
	if label != "" {
		o.about.Notice = o.page.Words.With("offer_saved_hidden", "Label", o.page.Words.Say(label))
		o.about.BookingPage, o.about.HidingForm, o.about.HidingFormName = "", at, name
	}
}

// findHidingField finds the field that hides an object from customers, and returns the id of the field's label. It
// returns "" if customers see the object.
func (o *offerPage) findHidingField(k offerKind, item document.Fields) string {
	units, _ := item["units"].([]any)
	switch {
	case k.list == view.SectionEvents && item["active"] == false:
		return "offer_on_sale"
	case item["active"] == false || k.list == view.SectionEvents && item["public"] == false:
		return "offer_active"
	case k.list == view.SectionEvents && toText(item["date"]) < o.page.Business.Today(o.page.Now).String():
		return "date"
	case k.list == view.SectionRentals && toInt(item["quantity"]) == 0:
		return "offer_quantity"
	case k.list == view.SectionRentals && toInt(item["units_count"]) == 0 && len(units) == 0:
		return "offer_units_number"
	}
	return ""
}
