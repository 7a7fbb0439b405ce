package e2e

import (
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// TestOwnersSeeWhyStartIsNotBookableInABrowser asks why a start cannot be booked, from the calendar and from a
// refused booking. The answer leads to the form or the booking that is the reason.
func TestOwnersSeeWhyStartIsNotBookableInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{platform: sharePlatform(t), chromium: visitor.Open(t)}
	for name, profile := range ownerVisitors {
		t.Run("looks "+name, func(t *testing.T) {
			t.Parallel()
			o := p.openBusiness(t, "why-"+name)
			v := o.signIn(t, "manager", profile)
			at := "/why-not?service=" + o.idsByName(t, o.slug, "services")["Cut"] + "&date=2027-03-01&time="
			for step, path := range map[string]string{"ask": "/why-not", "free": at + "13:00", "taken": at + "09:10",
				"closed": at + "18:00", "wrong": at + "noon"} {
				v.Go(o.buildAddress(path))
				v.ExpectElement("select[name=service]")
				v.AwaitLoad()
				v.Check()
				v.SaveScreenshot("why-" + name + "-" + step)
			}
		})
	}
	t.Run("asking", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "why-asking").askWhyNot(t)
	})
	t.Run("roles", func(t *testing.T) {
		t.Parallel()
		o := p.openBusiness(t, "why-roles")
		o.checkForbidden(t, "viewer", "/why-not")
		v := o.signIn(t, "desk", visitor.Profile{Locale: "en-GB", Width: 1280})
		v.Go(o.buildAddress("/why-not?service=" + o.idsByName(t, o.slug, "services")["Cut"] +
			"&date=2027-03-01&time=18:00"))
		v.ExpectText("The business is closed then.")
		v.ExpectNoText("Change:")
	})
}

// askWhyNot asks about starts that are closed, busy and not regular, and books after closing time.
func (o *ownerSite) askWhyNot(t *testing.T) {
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB"})
	v.Go(o.buildAddress("/calendar?date=2027-03-01"))
	v.Press("Check availability")
	v.Fill("Service", "Cut")
	v.Fill("Time", "18:00")
	v.Press("Check")
	v.ExpectText("The business is closed then.")
	v.Press("Change: Opening hours")
	v.ExpectElement(`form[action$="/offer/hours"]`)
	v.Back()
	v.ExpectText("The business is closed then.")
	v.Fill("Time", "09:10")
	v.Fill("With", "Inês")
	v.Press("Check")
	v.ExpectText("Inês is booked from 1 Mar 2027")
	v.PressElement(".ways a")
	v.ExpectText("Ada Example")
	v.ExpectElement(".drawer .history")
	v.Go(o.buildAddress("/bookings/new"))
	v.Fill("Service", "Cut · €40.00")
	v.Fill("Date", "2027-03-01")
	v.Fill("Time", "20:00")
	v.Fill("Customer", "Eva Lind")
	v.Press("Book")
	v.ExpectText("No team member who offers this works then")
	v.Press("Why can’t I book this?")
	v.ExpectText("The business is closed then.", "Tomás")
	v.PressElement(".notice .ways a:not([href*='/offer'])")
	v.ExpectElement("input[name=override]:checked")
	v.Fill("Customer", "Eva Lind")
	v.PressTwice("Book")
	v.ExpectText("Booked.", "Eva Lind", "20:00 – 20:45")
}
