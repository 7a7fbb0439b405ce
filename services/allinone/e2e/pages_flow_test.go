package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// togetherManifest is a salon whose services are booked together, with a class.
func togetherManifest(slug string) string {
	manifest := strings.NewReplacer("name: Cut,", "name: Cut, allow_multiple: true,", "name: Wash,",
		"name: Wash, allow_multiple: true,").Replace(movable(slug, 0))
	return strings.Replace(manifest, "weekday: tue", "weekday: mon", 1)
}

// whole books what a visitor has chosen, and waits for the customer's page.
func whole(t *testing.T, v *visitor.Visitor, name string, sees ...string) {
	t.Helper()
	v.Sees("Your details")
	fill(v)
	v.Check()
	v.Keep(name + "-details")
	v.Press("Book now")
	v.Sees(append([]string{"Booking request received"}, sees...)...)
	v.Check()
	v.Keep(name + "-done")
}

// together books what holds more than one service, seat or choice of a member.
func (p *pages) together(t *testing.T) {
	t.Parallel()
	p.publish(t, "together", togetherManifest("together"))
	for name, c := range map[string]struct{ by, clock, with, mode string }{
		"a package with one provider":  {"No preference", "09:00", "Member 0", ""},
		"a package by service":         {"Whoever is free", "11:00", "Member 0", "per_service"},
		"two services with one member": {"Member 1", "13:30", "Member 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := p.visit(t, visitor.As{Locale: "en-GB", Width: 1280})
			v.Go(p.PublicURL + "/b/together")
			v.Press("Cut")
			v.Press("No preference")
			v.Press("Add another service")
			v.Press("Wash")
			v.Sees("With whom?", "Cut + Wash")
			v.Check()
			v.Press(c.by)
			v.PressThe(".day[href]")
			v.Press(c.clock)
			whole(t, v, strings.ReplaceAll(name, " ", "-"), "Cut + Wash", "€50.00")
			if c.by != "No preference" {
				v.Sees(c.with)
			}
			var list struct {
				Bookings []struct {
					StartTime    string `json:"start_time"`
					StaffingMode string `json:"staffing_mode"`
					Services     []struct{ Name string }
				}
			}
			p.admin(t, http.MethodGet, "businesses/together/bookings", nil).into(t, http.StatusOK, &list)
			found := false
			for _, b := range list.Bookings {
				found = found || b.StartTime == c.clock+":00" && b.StaffingMode == c.mode && len(b.Services) == 2
			}
			if !found {
				t.Errorf("not among the bookings: %+v", list.Bookings)
			}
		})
	}
	t.Run("a class for three", func(t *testing.T) {
		t.Parallel()
		v := p.visit(t, visitor.As{Locale: "en-GB"})
		v.Go(p.PublicURL + "/b/together")
		v.Press("Spinning")
		v.Sees("4 left")
		v.Check()
		v.Press("10:00")
		v.Fill("People", "3")
		whole(t, v, "class", "Spinning", "People 3")
		if left := p.remaining(t, "together", "2027-03-01",
			p.named(t, "together", "services")["Spinning"]); left != "[10:00 1]" && left != "10:00 1" {
			t.Errorf("left: %s", left)
		}
	})
}

// gone is a service that is not offered any more when its form is sent.
func (p *pages) gone(t *testing.T) {
	t.Parallel()
	p.people(t, "gone")
	v := p.visit(t, visitor.As{Locale: "en-GB"})
	p.toDetails(v, "gone")
	fill(v)
	p.people(t, "gone", "name: Cut,", "name: Cut, active: false,")
	v.Press("Book now")
	v.Sees("What you chose is no longer offered", "Wash")
	v.Check()
	v.Keep("gone")
	if n := p.live(t, "gone"); n != 0 {
		t.Errorf("%d bookings of what is not offered", n)
	}
}

// elsewhere lives nine hours away, and sees the own time beside the business's, without anything that moves.
func (p *pages) elsewhere(t *testing.T) {
	t.Parallel()
	p.people(t, "elsewhere")
	for _, width := range []int{390, 1280} {
		v := p.visit(t, visitor.As{Locale: "en-GB", Timezone: "Asia/Tokyo", Width: width})
		v.Go(p.PublicURL + "/b/elsewhere/when?staff=any&service=" + p.named(t, "elsewhere", "services")["Cut"])
		v.Sees("Small: your own time")
		v.Until("Tokyo's time stands beside Lisbon's",
			`document.querySelector(".starts .pill").innerText.replace(/\s+/g, " ").trim() === "09:00 18:00"`)
		v.Check() // its Cumulative Layout Shift is 0
		v.Keep("elsewhere")
	}
}
