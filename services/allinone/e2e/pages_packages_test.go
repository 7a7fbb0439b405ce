package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// bookPackage books a package on the booking page. Its card, the last step, the stored booking and the customer's
// page have the same price. The same services by an API key cost what /services lists.
func (p *pages) bookPackage(t *testing.T) {
	t.Parallel()
	p.publish(t, "packaged", buildTogetherManifest("packaged")+
		"packages: [{key: fresh, name: Fresh look, description: Cut and washed., services: [cut, wash], price: 41.99}]\n")
	services := p.idsByName(t, "packaged", "services")
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(p.PublicURL + "/b/packaged")
	v.ExpectText("Packages", "Fresh look", "Cut + Wash", "Cut and washed.", "€41.99", "You save €8.01")
	v.Check()
	v.SaveScreenshot("package-card")
	v.Press("Fresh look")
	v.ExpectText("Choose a time", "Fresh look", "€41.99", "You save €8.01")
	v.Press("Anyone available")
	v.PressElement(".day[href]")
	v.Press("09:00")
	v.ExpectText("Fresh look", "Total €41.99", "You save €8.01")
	finishBooking(t, v, "package", "€41.99")
	var list struct {
		Bookings []struct {
			Total    float64
			Services []struct {
				Name  string
				Price float64
			}
		}
	}
	p.callAdmin(t, http.MethodGet, "businesses/packaged/bookings", nil).decode(t, http.StatusOK, &list)
	if len(list.Bookings) != 1 || len(list.Bookings[0].Services) != 2 || list.Bookings[0].Total != 41.99 {
		t.Fatalf("booked as %+v", list.Bookings)
	}
	if b := list.Bookings[0].Services; b[0].Name != "Cut" || b[0].Price != 33.59 || b[1].Price != 8.40 {
		t.Errorf("its services are %+v", b)
	}
	var got struct{ Booking struct{ Total float64 } }
	o := newOrder("", "2027-03-01", "13:30").withField("service_ids", []string{services["Cut"], services["Wash"]})
	p.book(t, "packaged", p.platform.createKey(t, "packaged", "write"), o).decode(t, http.StatusCreated, &got)
	if got.Booking.Total != 50 {
		t.Errorf("a booking by API key costs %v", got.Booking.Total)
	}
	if answer := p.get(t, "packaged/services"); strings.Contains(string(answer.body), "ackage") {
		t.Errorf("/services contains packages: %s", answer.body)
	}
}
