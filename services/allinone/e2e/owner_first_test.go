package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// claim invites an operator of an installation in which there is nobody yet, who signs in by the link.
func (p *pages) claim(t *testing.T, name string, as visitor.As) *visitor.Visitor {
	t.Helper()
	var invited struct{ Link string }
	p.admin(t, http.MethodPost, "invitations", fmt.Appendf(nil, `{"email":"%s@example.com","name":"Marta Silva","role":"operator"}`, name)).into(t, http.StatusCreated, &invited)
	as.MayShift = ownerShift
	v := p.chromium.Visit(t, as)
	v.Go(p.AdminURL + invited.Link)
	v.PressThe("button")
	v.Finds(`a[href="/business"]`)
	return v
}

// From an empty installation, five forms lead to a business that a customer books at once; its owner may leave and come back.
func TestTheFirstVisitLeadsFromNothingToABookingInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{world: start(t), chromium: visitor.Open(t)}
	v := p.claim(t, "marta", visitor.As{Locale: "en-GB", Width: 1280})
	forms := 0
	form := func(selector string) {
		forms++
		v.Finds(selector)
		v.Sees(fmt.Sprintf("Step %d of 5", forms))
		v.Check()
		v.Keep(fmt.Sprintf("first-desk-%d", forms))
		if strings.Contains(strings.ToLower(v.Text()), "manifest") {
			t.Errorf("form %d says what nobody knows: %s", forms, v.Text())
		}
	}
	v.Sees("There is no business yet")
	v.Check()
	v.Press("Set up your business")
	v.Until("the browser's zone is filled in", `document.querySelector("[name=timezone]").value !== ""`)
	form("[name=trade]")
	v.Press("Salon or barber")
	v.FillThe("[name=name]", "Marta’s Hair")
	v.FillThe("[name=timezone]", "Europe/Lisboa")
	v.FillThe("[name=currency]", "EUR")
	v.Press("Save and go on")
	v.Sees("Please check", "Europe/Lisboa")
	v.Check()
	v.FillThe("[name=timezone]", "Europe/Lisbon")
	v.Press("Save and go on")
	form(`[name="hours.mon.0.from"]`)
	v.FillThe(`[name="hours.mon.0.from"]`, "09:00")
	v.FillThe(`[name="hours.mon.0.to"]`, "17:00")
	v.Press("Save and go on")
	v.Finds(`[name="staff.0.name"]`)
	v.Go(p.AdminURL + "/business/marta-s-hair/today") // who leaves, and comes back
	v.Sees("Nothing can be booked yet.")
	v.Check()
	v.Press("Go on setting up")
	v.Until("the hours are as they were typed", `document.querySelector('[name="hours.mon.0.to"]').value === "17:00"`)
	v.Press("Save and go on")
	form(`[name="staff.0.name"]`)
	v.FillThe(`[name="staff.0.name"]`, "Marta")
	v.PressThe(`[name="staff.1.remove"]`)
	v.Press("Save and go on")
	form(`[name="services.0.name"]`)
	v.FillThe(`[name="services.0.name"]`, "Cut")
	v.FillThe(`[name="services.0.price"]`, "30")
	v.PressThe(`[name="services.1.remove"]`)
	p.isClosed(t, "marta-s-hair")
	v.Press("Save and go on")
	form(`[name="bookings.confirm"]`)
	v.Press("Open for bookings")
	v.Sees("You can be booked", p.PublicURL+"/b/marta-s-hair")
	v.Check()
	v.Keep("first-desk-6-done")
	p.isBookedByACustomer(t, "marta-s-hair")
	v.Go(p.AdminURL + "/business/marta-s-hair/bookings")
	v.Sees("Zoë Example", "Cut")
	p.firstOnAPhone(t)
}

// isClosed finds nothing that customers could book.
func (p *pages) isClosed(t *testing.T, slug string) {
	t.Helper()
	if services := p.world.named(t, slug, "services"); len(services) > 0 {
		t.Errorf("before it is opened, customers are offered %v", services)
	}
}

// isBookedByACustomer books the first service on the booking page.
func (p *pages) isBookedByACustomer(t *testing.T, slug string) {
	t.Helper()
	v := p.visit(t, visitor.As{Locale: "en-GB"})
	v.Go(p.PublicURL + "/b/" + slug)
	v.Sees("Marta’s Hair", "Cut", "€30.00")
	v.PressThe("main .cover")
	v.PressThe(".day[href]")
	v.PressThe(".pill")
	v.Sees("Your details")
	fill(v)
	v.Press("Book now")
	v.Sees("confirmed")
}

// firstOnAPhone sees the forms of other trades on a phone, in Arabic and in the dark, with and without scripts.
func (p *pages) firstOnAPhone(t *testing.T) {
	for name, c := range map[string]struct {
		as    visitor.As
		trade string
	}{
		"ar": {visitor.As{Locale: "ar"}, "rental"}, "dark": {visitor.As{Locale: "de", Dark: true}, "studio"}, "plain": {visitor.As{Locale: "en-GB", NoScript: true}, "venue"},
	} {
		v := p.claim(t, name, c.as)
		v.PressThe(`a[href="/business"]`)
		v.PressThe(`[value="` + c.trade + `"]`)
		v.FillThe("[name=name]", "Harbour "+name)
		v.FillThe("[name=timezone]", "Europe/Lisbon")
		v.FillThe("[name=currency]", "EUR")
		v.Check()
		v.Keep("first-" + name + "-1")
		for i, field := range []string{`[name="hours.mon.0.from"]`, `[name="staff.n"]`, `[name="services.0.name"]`, `[name="bookings.confirm"]`, "#address"} {
			v.PressThe("main .actions button")
			v.Until("the next form is there", "!!document.querySelector('main "+strings.ReplaceAll(field, `'`, "")+"')")
			v.Check()
			v.Keep(fmt.Sprintf("first-%s-%d", name, i+2))
		}
	}
}
