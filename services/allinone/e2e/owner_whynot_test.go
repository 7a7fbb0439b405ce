package e2e

import (
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// Owners are told why a time cannot be booked, from the calendar and from a refusal, and led to the form or the booking
// that keeps it from being.
func TestOwnersAreToldWhyNotInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{world: shared(t), chromium: visitor.Open(t)}
	for name, as := range ownerVisitors {
		t.Run("looks "+name, func(t *testing.T) {
			t.Parallel()
			o := p.open(t, "why-"+name)
			v := o.signIn(t, "manager", as)
			at := "/why-not?service=" + o.named(t, o.slug, "services")["Cut"] + "&date=2027-03-01&time="
			for step, path := range map[string]string{"ask": "/why-not", "free": at + "13:00", "taken": at + "09:10",
				"closed": at + "18:00", "wrong": at + "noon"} {
				v.Go(o.at(path))
				v.Finds("select[name=service]")
				v.Whole()
				v.Check()
				v.Keep("why-" + name + "-" + step)
			}
		})
	}
	t.Run("asking", func(t *testing.T) {
		t.Parallel()
		p.open(t, "why-asking").asksWhyNot(t)
	})
	t.Run("roles", func(t *testing.T) {
		t.Parallel()
		o := p.open(t, "why-roles")
		o.mayNot(t, "viewer", "/why-not")
		v := o.signIn(t, "desk", visitor.As{Locale: "en-GB", Width: 1280})
		v.Go(o.at("/why-not?service=" + o.named(t, o.slug, "services")["Cut"] + "&date=2027-03-01&time=18:00"))
		v.Sees("The business is closed then.")
		v.SeesNot("Change:")
	})
}

// asksWhyNot goes from the calendar to what is closed, taken and between two starts, and books past the last of them.
func (o *office) asksWhyNot(t *testing.T) {
	v := o.signIn(t, "owner", visitor.As{Locale: "en-GB"})
	v.Go(o.at("/calendar?date=2027-03-01"))
	v.Press("Why not?")
	v.Fill("Service", "Cut")
	v.Fill("Time", "18:00")
	v.Press("Check")
	v.Sees("The business is closed then.")
	v.Press("Change: Hours")
	v.Finds(`form[action$="/offer/hours"]`)
	v.Back()
	v.Sees("The business is closed then.")
	v.Fill("Time", "09:10")
	v.Fill("With", "Inês")
	v.Press("Check")
	v.Sees("Inês is booked from 1 Mar 2027")
	v.PressThe(".ways a")
	v.Sees("Ada Example")
	v.Finds(".drawer .history")
	v.Go(o.at("/bookings/new"))
	v.Fill("Service", "Cut · €40.00")
	v.Fill("Date", "2027-03-01")
	v.Fill("Time", "20:00")
	v.Fill("Customer", "Eva Lind")
	v.Press("Book")
	v.Sees("Nobody who performs this works then")
	v.Press("Why can this time not be booked?")
	v.Sees("The business is closed then.", "Tomás")
	v.PressThe(".notice .ways a:not([href*='/offer'])")
	v.Finds("input[name=override]:checked")
	v.Fill("Customer", "Eva Lind")
	v.PressTwice("Book")
	v.Sees("The booking is made", "Eva Lind", "20:00 – 20:45")
}
