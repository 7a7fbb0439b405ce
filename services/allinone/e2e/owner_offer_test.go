package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// TestOwnersEditOfferInABrowser edits the offer in forms. Two owners also edit it at the same time. The forms keep the
// parts of the manifest that they do not show.
func TestOwnersEditOfferInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{platform: sharePlatform(t), chromium: visitor.Open(t)}
	t.Run("services", func(t *testing.T) {
		t.Parallel()
		o := p.openBusiness(t, "forms")
		v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
		o.editServices(t, v)
		o.editConcurrently(t, v)
		o.removeService(t, v)
		o.checkUnknownFieldsKept(t)
		o.checkServicesOnPhone(t)
		o.checkManagedElsewhere(t, v)
	})
	t.Run("team", func(t *testing.T) {
		t.Parallel()
		o := p.openBusiness(t, "team")
		v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
		o.addMember(t, v)
		o.blockTime(t, v)
		o.removeMember(t, v)
		o.changePrices(t, v)
	})
	t.Run("locations", func(t *testing.T) {
		t.Parallel()
		o := p.openBusiness(t, "places-forms")
		o.editLocations(t, o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280}))
		o.checkLocations(o.signIn(t, "manager", visitor.Profile{Locale: "de", Dark: true}), "phone-dark")
		o.checkLocations(o.signIn(t, "owner", visitor.Profile{Locale: "ar", Width: 1280}), "desk-ar")
	})
	t.Run("sold", func(t *testing.T) {
		t.Parallel()
		o := p.openBusiness(t, "sold")
		v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
		o.translateOffer(t, v)
		o.addProducts(t, v)
		o.setPolicies(t, v)
		o.checkOfferOnPhone(t)
	})
}

// offerText returns the newest manifest as YAML.
func (o *ownerSite) offerText(t *testing.T) string {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + o.AdminToken}, "Accept": {"application/yaml"}}
	a := o.do(t, http.MethodGet, o.AdminURL+"/admin/businesses/"+o.slug, nil, header)
	a.checkStatus(t, http.StatusOK, "")
	return string(a.body)
}

// editServices changes a price, adds a variant and a service, and enters an invalid price.
func (o *ownerSite) editServices(t *testing.T, v *visitor.Visitor) {
	o.publish(t, o.slug, "# Our salon, in our words.\n"+o.offerText(t))
	v.Go(o.buildAddress("/today"))
	v.Press("Catalogue")
	v.ExpectText("Services", "Cut", "45 min · €40.00 · Inês, Tomás", "Sauna")
	v.Check()
	v.SaveScreenshot("owner-offer-1-services")
	v.PressElement(`a[href$="/offer/services/cut"]`)
	v.FillElement(`[name="price"]`, "-3")
	v.Press("Save")
	v.ExpectText("Check the marked fields", "Enter a number that is at least 0.")
	v.Check()
	v.FillElement(`[name="price"]`, "45,50")
	v.PressElement(`[name="more"][value="variants"]`)
	v.ExpectElement(`[name="variants.1.name"]`)
	v.FillElement(`[name="variants.0.name"]`, "Long hair")
	v.FillElement(`[name="variants.0.duration_minutes"]`, "60")
	v.Check()
	v.SaveScreenshot("owner-offer-2-service")
	v.Press("Save")
	v.ExpectText("Saved. Customers see it now.", "45 min · €45.50 · Inês, Tomás")
	v.Press("Add service")
	v.FillElement(`[name="name"]`, "Hot towel")
	v.FillElement(`[name="category"]`, "Extras")
	v.Press("Inês") // a new service is performed by all members unless they are unticked
	v.Press("Save")
	v.ExpectText("Saved.", "Extras", "Hot towel", "60 min · Free · Tomás")
	if o.idsByName(t, o.slug, "services")["Hot towel"] == "" {
		t.Error("customers do not see the new service")
	}
}

// editConcurrently lets two people edit one service. The page merges their edits of different fields and asks about
// edits of the same field.
func (o *ownerSite) editConcurrently(t *testing.T, v *visitor.Visitor) {
	other := o.signIn(t, "manager", visitor.Profile{Locale: "en-GB"})
	cut := o.buildAddress("/offer/services/cut")
	v.Go(cut)
	other.Go(cut)
	v.FillElement(`[name="price"]`, "50")
	v.Press("Save")
	v.ExpectText("€50.00")
	other.FillElement(`[name="name"]`, "Haircut")
	other.Press("Save")
	other.ExpectText("Saved.", "Someone else changed this while you were editing", "Price", "45.5 → 50", "Haircut", "€50.00")
	other.Check()
	v.Go(cut)
	other.Go(cut)
	v.FillElement(`[name="price"]`, "55")
	v.Press("Save")
	v.ExpectText("€55.00")
	other.FillElement(`[name="price"]`, "60")
	other.FillElement(`[name="duration_minutes"]`, "50")
	other.Press("Save")
	other.ExpectText("Someone else changed the same field", "Haircut · Price", "Yours: 60", "Theirs: 55")
	other.Check()
	other.SaveScreenshot("owner-offer-3-conflict")
	other.PressElement(`[value="theirs"]`)
	other.Press("Save")
	other.ExpectText("Saved.", "50 min · €55.00")
}

// editLocations adds two locations, gives a member hours at each, and makes the second location the main one.
func (o *ownerSite) editLocations(t *testing.T, v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/locations"))
	v.ExpectText("No locations yet.")
	v.Press("Add location")
	v.ExpectText("Customers come to you", "Online meeting", "Phone call", "You go to the customer")
	v.Check()
	v.Press("Customers come to you")
	v.FillElement(`[name="name"]`, "Quay")
	v.FillElement(`[name="address.street"]`, "Rua 1")
	v.FillElement(`[name="address.city"]`, "Lisboa")
	v.Check()
	v.SaveScreenshot("owner-locations-1-place")
	v.Press("Save")
	v.ExpectText("Saved.", "Quay", "Main location", "Rua 1, Lisboa")
	v.Go(o.buildAddress("/offer/locations/new?kind=link"))
	v.FillElement(`[name="name"]`, "Video call")
	v.FillElement(`[name="link"]`, "http://meet.example.org")
	v.Press("Save")
	v.ExpectText("Check the marked fields", "is not a web address")
	v.Check()
	v.FillElement(`[name="link"]`, "https://meet.example.org/{code}")
	v.Press("Save")
	v.ExpectText("Saved.", "Online meeting · https://meet.example.org/{code}")
	v.Go(o.buildAddress("/offer/team/s0"))
	v.Press("Different hours at each location")
	v.PressElement(`[name="at.video-call.fri.on"]`)
	v.FillElement(`[name="at.video-call.fri.0.from"]`, "10:00")
	v.FillElement(`[name="at.video-call.fri.0.to"]`, "12:00")
	v.Check()
	v.SaveScreenshot("owner-locations-2-member")
	v.Press("Save")
	v.ExpectText("What will change")
	v.Check()
	v.SaveScreenshot("owner-locations-3-question")
	v.Press("Save anyway")
	v.ExpectText("Saved.", "Different hours at each location")
	v.Go(o.buildAddress("/offer/locations"))
	v.PressElement(`button[value="forward"]`)
	v.ExpectText("Saved.", "Main location")
	if text := o.offerText(t); strings.Index(text, "key: video-call") > strings.Index(text, "key: quay") {
		t.Errorf("the order is unchanged:\n%s", text)
	}
}

// checkLocations opens the pages with fields for locations.
func (o *ownerSite) checkLocations(v *visitor.Visitor, name string) {
	for i, path := range []string{"locations", "locations/new", "locations/quay", "locations/video-call",
		"locations/new?kind=phone", "locations/new?kind=customer_address", "locations/quay/remove", "services/cut",
		"team/s0", "rentals/kayak", "policies", "page", "packages", "packages/new"} {
		v.Go(o.buildAddress("/offer/" + path))
		v.Check()
		v.SaveScreenshot(fmt.Sprintf("owner-locations-%s-%d", name, i))
	}
}

// removeService removes a service after the page has shown the affected bookings, and undoes that.
func (o *ownerSite) removeService(t *testing.T, v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/services/cut"))
	v.Press("Remove")
	v.ExpectText("Remove Haircut?", "Upcoming bookings that stay in your calendar: 4")
	v.Check()
	v.SaveScreenshot("owner-offer-4-remove")
	v.PressElement("button.danger")
	v.ExpectText("4 bookings are affected", "Ada Example", "Cut is no longer offered.")
	v.Press("Save anyway")
	v.ExpectText("Saved.", "Wash")
	v.ExpectNoText("Haircut")
	v.Press("Undo")
	v.ExpectText("Haircut", "50 min · €55.00")
}

// checkUnknownFieldsKept checks that the forms have kept comments, order and fields that they do not show.
func (o *ownerSite) checkUnknownFieldsKept(t *testing.T) {
	text := o.offerText(t)
	for _, stored := range []string{
		"# Our salon, in our words.\n",
		"  - {key: wash, name: Wash, duration_minutes: 30, buffer_after_minutes: 15, price: 10.00, staff: [s0, s1], order: 2}\n",
		"form: [{key: allergies, label: Allergies, type: text, max_length: 200}]\n",
		"duration_minutes: 50, price: 55, staff: [s0, s1], variants: [{",
	} {
		if !strings.Contains(text, stored) {
			t.Errorf("%q is missing in\n%s", stored, text)
		}
	}
}

// checkServicesOnPhone checks the pages of services on a phone, in Arabic with the dark scheme. The front desk does
// not see them.
func (o *ownerSite) checkServicesOnPhone(t *testing.T) {
	manager := o.signIn(t, "manager", visitor.Profile{Locale: "ar", Dark: true})
	manager.Go(o.buildAddress("/offer/services"))
	manager.ExpectElement(".rows")
	manager.Check()
	manager.SaveScreenshot("owner-offer-5-services")
	manager.Go(o.buildAddress("/offer/services/cut"))
	manager.ExpectElement(`[name="price"]`)
	manager.Check()
	manager.SaveScreenshot("owner-offer-6-service")
	v := o.signIn(t, "desk", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/today"))
	v.ExpectElement(".rail")
	v.ExpectNoText("Catalogue")
	v.Go(o.buildAddress("/offer/services"))
	v.ExpectText("You don’t have access to this page")
}

// checkManagedElsewhere checks that an offer with managed_by can be read and not changed.
func (o *ownerSite) checkManagedElsewhere(t *testing.T, v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/services/cut"))
	o.publish(t, o.slug, o.offerText(t)+"managed_by: the repository of our shop\n")
	v.FillElement(`[name="price"]`, "1")
	v.Press("Save")
	v.ExpectText("This is managed in the repository of our shop")
	v.Go(o.buildAddress("/offer/services/cut"))
	v.ExpectText("This is managed in the repository of our shop")
	v.Await("nothing can be typed", `document.querySelector("[name=price]").matches(":disabled")`)
	v.ExpectNoText("Save", "Remove")
	v.Check()
	v.SaveScreenshot("owner-offer-7-managed")
}

// addMember adds a member with own hours: two windows a day, and other hours on one date.
func (o *ownerSite) addMember(t *testing.T, v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/team"))
	v.ExpectText("Team", "Inês", "Same as opening hours · Cut, Wash")
	v.Check()
	v.Press("Add team member")
	v.FillElement(`[name="name"]`, "Rui")
	v.Press("Own hours")
	v.Await("the week is to be seen, with the business's hours",
		`document.querySelector('[name="hours.mon.0.from"]').checkVisibility() && document.querySelector('[name="hours.mon.0.to"]').value === "17:00"`)
	v.PressElement(`[value="hours.mon.break"]`)
	v.Await("the cursor is in the new break", `document.activeElement.name === "hours.mon.0.to"`)
	v.FillElement(`[name="hours.mon.0.to"]`, "12:00")
	v.FillElement(`[name="hours.mon.1.from"]`, "13:00")
	v.FillElement(`[name="hours.mon.1.to"]`, "16:00")
	v.FillElement(`[name="overrides.0.date"]`, "2027-03-02")
	v.Check()
	v.SaveScreenshot("owner-offer-8-member")
	v.Press("Save")
	v.ExpectText("Saved.", "Rui", "Own hours")
	v.Go(o.buildAddress("/offer/services/cut"))
	v.Press("Rui")
	v.Press("Save")
	v.ExpectText("Inês, Tomás, Rui")
	if text := o.offerText(t); !strings.Contains(text, `- 09:00-12:00`) || !strings.Contains(text, "- 13:00-16:00") {
		t.Errorf("the hours are not there:\n%s", text)
	}
	list := func(date string) string {
		rui, cut := o.idsByName(t, o.slug, "staff")["Rui"], o.idsByName(t, o.slug, "services")["Cut"]
		a := o.get(t, o.slug+"/slots?service_id="+cut+"&staff_id="+rui+"&date="+date)
		a.checkStatus(t, http.StatusOK, "")
		return string(a.body)
	}
	if monday := list("2027-03-08"); !strings.Contains(monday, `"time":"11:15"`) || strings.Contains(monday,
		`"time":"11:30"`) || !strings.Contains(monday, `"time":"13:00"`) {
		t.Errorf("on Monday Rui is offered at %s", monday)
	}
	if off := list("2027-03-02"); strings.Contains(off, `"time"`) {
		t.Errorf("on a day off Rui is offered at %s", off)
	}
}

// blockTime blocks two days of a member in the form of the business's hours.
func (o *ownerSite) blockTime(t *testing.T, v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/hours"))
	v.ExpectText("Time off and blocked time")
	v.PressElement(`[name="hours.thu.on"]`)
	v.Await("the day has the hours of the day before it", `document.querySelector('[name="hours.thu.0.to"]').value !== ""`)
	v.FillElement(`[name="hours.thu.0.from"]`, "10:00")
	v.FillElement(`[name="hours.thu.0.to"]`, "00:00")
	v.FillElement(`[name="blocks.0.from"]`, "2027-03-15T00:00")
	v.FillElement(`[name="blocks.0.to"]`, "2027-03-17T00:00")
	v.Press("Rui")
	v.Check()
	v.SaveScreenshot("owner-offer-9-hours")
	v.Press("Save")
	v.ExpectText("Saved.")
	v.Await("what was typed is there",
		`document.querySelector('[name="blocks.0.from"]').value === "2027-03-15T00:00" && document.querySelector('[name="hours.thu.0.to"]').value === "00:00"`)
	if text := o.offerText(t); !strings.Contains(text, "10:00-24:00") || !strings.Contains(text, "2027-03-17T00:00") {
		t.Errorf("the hours are not there:\n%s", text)
	}
}

// removeMember removes a member after the page has shown the consequences.
func (o *ownerSite) removeMember(t *testing.T, v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/team/rui/remove"))
	v.ExpectText("Remove Rui?", "Upcoming bookings that stay in your calendar: 0", "Services that only the other team members will offer: 1",
		"Blocked times that will be deleted: 1")
	v.Check()
	v.PressElement("button.danger")
	v.ExpectText("Saved.", "Tomás")
	v.ExpectNoText("Rui")
}

// changePrices reads the pricing rules with their example prices and adds a rule.
func (o *ownerSite) changePrices(t *testing.T, v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/rules"))
	v.ExpectText("Price rules", "Tuesday", "10 % off · Everything · Example: Cut €40.00 → €36.00")
	v.Check()
	v.SaveScreenshot("owner-offer-10-rules")
	v.Press("Add price rule")
	v.Fill("Kind of rule", "Booked early (days before)")
	v.FillElement(`[name="percent"]`, "-15")
	v.Press("Wash")
	v.Press("Save")
	v.ExpectText("Fill in this field.")
	v.Check()
	v.FillElement(`[name="min_days_before"]`, "30")
	v.Press("Save")
	v.ExpectText("Saved.", "Booked at least 30 days before", "15 % off · Wash · Example: Wash €10.00 → €8.50")
	v.PressElement(`a[href$="/offer/rules/rule"]`)
	v.ExpectText("Example: Wash €10.00 → €8.50")
	v.Check()
	v.SaveScreenshot("owner-offer-11-rule")
	var list struct {
		Services []struct {
			Name        string
			QuotedPrice float64 `json:"quoted_price"`
		}
	}
	o.get(t, o.slug+"/services?date=2027-05-12").decode(t, http.StatusOK, &list)
	for _, s := range list.Services {
		if s.Name == "Wash" && s.QuotedPrice != 8.5 {
			t.Errorf("customers see %v, want 8.50", s.QuotedPrice)
		}
	}
}

// translateOffer adds a language and a translation.
func (o *ownerSite) translateOffer(t *testing.T, v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/translations"))
	v.ExpectText("Your page speaks one language")
	v.Go(o.buildAddress("/offer/languages"))
	v.FillElement(`.field:nth-of-type(2) > [name="languages"]`, "português")
	v.Check()
	v.SaveScreenshot("owner-offer-12-languages")
	v.Press("Save")
	v.ExpectText("Saved.")
	v.Go(o.buildAddress("/offer/translations"))
	v.ExpectText("português", "Cut · Name")
	v.FillElement(`[name="services.cut.name"]`, "Corte")
	v.Check()
	v.SaveScreenshot("owner-offer-13-translations")
	v.Press("Save")
	v.ExpectText("Saved.")
	v.Await("the translation is there", `document.querySelector('[name="services.cut.name"]').value === "Corte"`)
	if a := o.get(t, o.slug+"/services?locale=pt"); !strings.Contains(string(a.body), `"name":"Corte"`) {
		t.Errorf("in Portuguese, customers see %s", a.body)
	}
}

// addProducts adds a class and a ticket tier, and requires a deposit for a rental.
func (o *ownerSite) addProducts(t *testing.T, v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/classes/new"))
	v.FillElement(`[name="name"]`, "Yoga")
	v.FillElement(`[name="classes.0.weekday"]`, "Monday")
	v.FillElement(`[name="classes.0.time"]`, "18:30")
	v.FillElement(`[name="classes.0.capacity"]`, "12")
	v.Check()
	v.SaveScreenshot("owner-offer-14-class")
	v.Press("Save")
	v.ExpectText("Saved.", "Yoga", "60 min · Free · 1 session")
	v.Go(o.buildAddress("/offer/events/gala"))
	v.FillElement(`[name="tiers.2.name"]`, "Balcony")
	v.FillElement(`[name="tiers.2.price"]`, "45")
	v.FillElement(`[name="tiers.2.capacity"]`, "4")
	v.Check()
	v.SaveScreenshot("owner-offer-15-event")
	v.Press("Save")
	v.ExpectText("Saved.", "Spring Gala", "Ticket types: 3")
	v.Go(o.buildAddress("/offer/rentals/kayak"))
	v.FillElement(`[name="price"]`, "15")
	v.FillElement(`[name="payment_requirement"]`, "Deposit (%)")
	v.FillElement(`[name="deposit_value"]`, "20")
	v.Check()
	v.SaveScreenshot("owner-offer-16-rental")
	v.Press("Save")
	v.ExpectText("Saved.", "Kayak", "€15.00 an hour · 2 online")
	v.Go(o.buildAddress("/offer/rentals/kayak/remove"))
	v.ExpectText("Remove Kayak?", "Open rentals that stay in your list")
	v.Go(o.buildAddress("/offer/events/gala/remove"))
	v.ExpectText("Remove Spring Gala?", "Sold tickets that stay in your list: 0")
}

// setPolicies sets the cancellation policy and its deadline, and adds a question to customers.
func (o *ownerSite) setPolicies(t *testing.T, v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/policies"))
	v.FillElement(`[name="bookings.min_notice_minutes"]`, "120")
	v.FillElement(`[name="self_service.cancel_until_hours"]`, "")
	v.FillElement(`[name="cancellation_policy.0.hours_before"]`, "24")
	v.FillElement(`[name="cancellation_policy.0.refund_percent"]`, "50")
	v.Check()
	v.SaveScreenshot("owner-offer-17-policies")
	v.Press("Save")
	v.ExpectText("Saved.")
	v.Go(o.buildAddress("/offer/page"))
	v.FillElement(`[name="page.accent"]`, "#ffff00")
	v.FillElement(`[name="form.1.label"]`, "Your level")
	v.Press("Save")
	v.ExpectText("Check the marked fields", "White text on this colour is hard to read", "#7a7a00")
	v.FillElement(`[name="page.accent"]`, "#0b6e4f")
	v.Check()
	v.SaveScreenshot("owner-offer-18-page")
	v.Press("Save")
	v.ExpectText("Saved.")
	text := o.offerText(t)
	for _, want := range []string{"min_notice_minutes: 120", "cancel_until_hours: null", "refund_percent: 50",
		"#0b6e4f", "label: Your level"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// checkOfferOnPhone checks each part of the offer on a phone, in Arabic with the dark scheme.
func (o *ownerSite) checkOfferOnPhone(t *testing.T) {
	v := o.signIn(t, "manager", visitor.Profile{Locale: "ar", Dark: true})
	for _, part := range []string{"classes", "events/gala", "rentals/kayak", "translations", "business", "policies",
		"payments", "languages", "privacy", "page", "hours", "rules/tuesday", "team/s0"} {
		v.Go(o.buildAddress("/offer/" + part))
		v.ExpectElement("main .quick, main .up")
		v.Check()
		v.SaveScreenshot("owner-offer-19-ar-" + strings.ReplaceAll(part, "/", "-"))
	}
}
