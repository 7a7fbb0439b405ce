package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// TestOwnersResolveAffectedBookingsInABrowser adds time off for a member and moves the booking in that time to the other
// member. Then it closes a day, and moves, cancels and leaves the bookings of that day.
func TestOwnersResolveAffectedBookingsInABrowser(t *testing.T) {
	t.Parallel()
	chromium := visitor.Open(t)
	p := &pages{platform: sharePlatform(t), chromium: chromium}
	for name, profile := range map[string]visitor.Profile{
		"phone": {Locale: "en-GB"}, "plain-desk": {Locale: "en-GB", NoScript: true, Width: 1280},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := p.openBusiness(t, "affected-"+name)
			v := o.signIn(t, "owner", profile)
			v.Go(o.buildAddress("/time-off?staff_id=" + o.platform.idsByName(t, o.slug, "staff")["Inês"]))
			v.Fill("First day", "2027-03-02")
			v.Fill("Last day", "2027-03-02")
			v.Press("Add time off")
			v.Press("Add anyway")
			v.ExpectText("Time off added", "Affected bookings (1)", "Clara Neves", "Inês has different hours or time off on that day")
			v.Check()
			v.Press("Move to a free time")
			v.ExpectElement(`a[aria-current="true"][href*="all=move"]`)
			v.Press("Apply")
			v.ExpectText("The bookings are updated.", "No upcoming bookings are affected.")
			if got := o.describeBooking(t, "Clara Neves"); got != "pending 2027-03-02 10:00:00 Tomás" {
				t.Errorf("Clara Neves: %s", got)
			}
			o.closeDay(t, v, name)
		})
	}
	t.Run("ar-desk-dark", func(t *testing.T) {
		t.Parallel()
		o := p.openBusiness(t, "affected-ar")
		o.publishClosedDay(t)
		v := o.signIn(t, "owner", ownerVisitors["ar-desk-dark"])
		v.Go(o.buildAddress("/affected"))
		v.ExpectElement(".row.affected select")
		v.AwaitLoad()
		v.Check()
		v.SaveScreenshot("owner-affected-ar-desk-dark")
	})
}

// closeDay closes a day with three bookings. One is moved, one is cancelled, and one stays.
func (o *ownerSite) closeDay(t *testing.T, v *visitor.Visitor, name string) {
	o.publishClosedDay(t)
	v.Go(o.buildAddress("/affected?from=2027-03-01&to=2027-03-01"))
	v.ExpectText("Affected bookings (3)", "Ada Example", "Zoë Example", "Bruno Costa")
	v.AwaitLoad()
	v.Check()
	v.SaveScreenshot("owner-affected-" + name)
	v.Press("Apply")
	v.ExpectText("Choose an action for at least one booking.")
	ids := o.listAffected(t)
	v.Go(o.buildAddress("/affected?from=2027-03-01&to=2027-03-01&all=cancel"))
	v.Choose(`select[name="do.`+ids["Ada Example"]+`"]`, 1)
	v.Choose(`select[name="do.`+ids["Bruno Costa"]+`"]`, 0)
	v.Press("Apply")
	v.ExpectText("The bookings are updated.", "Affected bookings (1)", "Bruno Costa")
	v.ExpectNoText("Ada Example", "Zoë Example")
	for customer, want := range map[string]string{"Ada Example": "pending 2027-03-02 09:00:00 Tomás",
		"Zoë Example": "cancelled 2027-03-01 09:45:00", "Bruno Costa": "pending 2027-03-01 11:00:00"} {
		if got := o.describeBooking(t, customer); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", customer, got, want)
		}
	}
}

// publishClosedDay publishes the offer with a closed day.
func (o *ownerSite) publishClosedDay(t *testing.T) {
	t.Helper()
	text := o.offerText(t) + "\noverrides: [{date: 2027-03-01, hours: []}]\n"
	o.callAdmin(t, http.MethodPut, "businesses/"+o.slug, []byte(text)).checkStatus(t, http.StatusOK, "")
}

// listAffected returns the ids of the affected bookings by the name of the customer.
func (o *ownerSite) listAffected(t *testing.T) map[string]string {
	t.Helper()
	var list struct {
		Bookings []struct {
			Booking struct {
				ID           string
				CustomerName string `json:"customer_name"`
			}
			Reason struct{ Rule string }
			Starts []json.RawMessage
		}
		Count int
	}
	o.callAdmin(t, http.MethodGet, "businesses/"+o.slug+"/bookings/affected?from=2027-03-01&to=2027-03-01",
		nil).decode(t, http.StatusOK, &list)
	ids := map[string]string{}
	for _, b := range list.Bookings {
		if ids[b.Booking.CustomerName] = b.Booking.ID; b.Reason.Rule == "" || len(b.Starts) == 0 {
			t.Errorf("%s: %+v", b.Booking.CustomerName, b)
		}
	}
	if list.Count != len(ids) {
		t.Errorf("count %d, listed %d", list.Count, len(ids))
	}
	return ids
}

// describeBooking returns the status, start and member of a customer's booking.
func (o *ownerSite) describeBooking(t *testing.T, customer string) string {
	t.Helper()
	var list struct {
		Bookings []struct {
			Status, Date string
			StartTime    string `json:"start_time"`
			StaffName    string `json:"staff_name"`
			CustomerName string `json:"customer_name"`
		}
	}
	o.callAdmin(t, http.MethodGet, "businesses/"+o.slug+"/bookings?from=2027-03-01", nil).decode(t, http.StatusOK, &list)
	for _, b := range list.Bookings {
		if b.CustomerName == customer {
			return b.Status + " " + b.Date + " " + b.StartTime + " " + b.StaffName
		}
	}
	return "missing"
}
