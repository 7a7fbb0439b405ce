package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// buildTogetherManifest returns the manifest of a salon whose services can be booked together, with a class.
func buildTogetherManifest(slug string) string {
	manifest := strings.NewReplacer("name: Cut,", "name: Cut, allow_multiple: true,", "name: Wash,",
		"name: Wash, allow_multiple: true,").Replace(buildReschedulableSalon(slug, 0))
	return strings.Replace(manifest, "weekday: tue", "weekday: mon", 1)
}

// finishBooking fills in the contact data, books, and waits for the customer's page.
func finishBooking(t *testing.T, v *visitor.Visitor, name string, sees ...string) {
	t.Helper()
	v.ExpectText("Your details")
	fillContact(v)
	v.Check()
	v.SaveScreenshot(name + "-details")
	v.PressElement("main button[type=submit]")
	v.ExpectText(append([]string{"Booking request received"}, sees...)...)
	v.Check()
	v.SaveScreenshot(name + "-done")
}

// bookTogether books two services together, and several seats of a class.
func (p *pages) bookTogether(t *testing.T) {
	t.Parallel()
	p.publish(t, "together", buildTogetherManifest("together"))
	for name, c := range map[string]struct{ by, clock, with, mode string }{
		"a package with one provider":  {"Anyone available", "09:00", "Member 0", ""},
		"a package by service":         {"Anyone available for each service", "11:00", "Member 0", "per_service"},
		"two services with one member": {"Member 1", "13:30", "Member 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			isPhone := c.mode != ""
			v := p.openVisitor(t, visitor.Profile{Locale: "en-GB", Width: map[bool]int{true: 390, false: 1280}[isPhone]})
			v.Go(p.PublicURL + "/b/together")
			v.Press("Cut")
			if isPhone {
				v.ExpectText("1 service")
			} else {
				v.ExpectElement("#cart li")
			}
			v.Press("Wash")
			if isPhone {
				v.ExpectText("2 services")
			} else {
				v.PressElement("#cart li + li a")
				v.ExpectElement("#cart li:only-child")
				v.Press("Wash")
				v.ExpectElement("#cart li + li")
			}
			v.Check()
			v.SaveScreenshot("cart-" + strings.ReplaceAll(name, " ", "-"))
			v.Press("Choose a time")
			v.ExpectText("Choose a time", "Cut + Wash")
			v.Check()
			v.Press(c.by)
			v.PressElement(".day[href]")
			v.Press(c.clock)
			finishBooking(t, v, strings.ReplaceAll(name, " ", "-"), "Cut + Wash", "€50.00")
			if c.by != "Anyone available" {
				v.ExpectText(c.with)
			}
			var list struct {
				Bookings []struct {
					StartTime    string `json:"start_time"`
					StaffingMode string `json:"staffing_mode"`
					Services     []struct{ Name string }
				}
			}
			p.callAdmin(t, http.MethodGet, "businesses/together/bookings", nil).decode(t, http.StatusOK, &list)
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
		v := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
		v.Go(p.PublicURL + "/b/together")
		v.Press("Spinning")
		v.ExpectText("4 spots left")
		v.Check()
		v.Press("10:00")
		v.Fill("Number of people", "3")
		finishBooking(t, v, "class", "Spinning", "Number of people 3")
		if remaining := p.countRemainingSeats(t, "together", "2027-03-01",
			p.idsByName(t, "together", "services")["Spinning"]); remaining != "[10:00 1]" && remaining != "10:00 1" {
			t.Errorf("left: %s", remaining)
		}
	})
}

// bookRemovedService sends the form of a service that is no longer offered.
func (p *pages) bookRemovedService(t *testing.T) {
	t.Parallel()
	p.publishSalon(t, "gone")
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	p.goToDetails(v, "gone")
	fillContact(v)
	p.publishSalon(t, "gone", "name: Cut,", "name: Cut, active: false,")
	v.Press("Book with obligation to pay")
	v.ExpectText("This is no longer available", "Wash")
	v.Check()
	v.SaveScreenshot("gone")
	if n := p.countLiveBookings(t, "gone"); n != 0 {
		t.Errorf("%d bookings of what is not offered", n)
	}
}

// bookFromOtherTimeZone views the starts from a time zone nine hours away. The page shows the visitor's time beside
// the business's, without a layout shift.
func (p *pages) bookFromOtherTimeZone(t *testing.T) {
	t.Parallel()
	p.publishSalon(t, "elsewhere")
	for _, width := range []int{390, 1280} {
		v := p.openVisitor(t, visitor.Profile{Locale: "en-GB", Timezone: "Asia/Tokyo", Width: width})
		v.Go(p.PublicURL + "/b/elsewhere/when?staff=any&service=" + p.idsByName(t, "elsewhere", "services")["Cut"])
		v.ExpectText("Times in Lisbon (your time in small print)")
		v.Await("Tokyo's time stands beside Lisbon's",
			`document.querySelector(".starts .pill").innerText.replace(/\s+/g, " ").trim() === "09:00 18:00"`)
		v.Check() // its Cumulative Layout Shift is 0
		v.SaveScreenshot("elsewhere")
	}
}
