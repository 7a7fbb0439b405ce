package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// galaEvent is an event with twelve places, two of them in the box, and an event of the past.
const galaEvent = `events:
  - {key: gala, name: Spring Gala, date: 2027-03-06, start_time: "20:00", end_time: "00:30", total_capacity: 12, tiers: [{key: floor, name: Floor, price: 30, capacity: 12}, {key: box, name: Box, price: 80, capacity: 2}]}
  - {key: last, name: Last Gala, date: 2027-02-06, start_time: "20:00", end_time: "23:00", total_capacity: 12, tiers: [{key: floor, name: Floor, price: 30, capacity: 12}]}
`

// sellTickets sells tickets of the first event by the admin API.
func (o *ownerSite) sellTickets(t *testing.T, customer, tier string, quantity int) {
	t.Helper()
	event := o.listEvents(t, o.slug+"/events").Events[0]
	for _, of := range event.Inventory {
		if of.Name == tier {
			o.callAdmin(t, http.MethodPost, "businesses/"+o.slug+"/tickets", fmt.Appendf(nil,
				`{"event_id":%q,"tier_id":%q,"quantity":%d,"customer_name":%q,"customer_email":"buyer@example.com"}`,
				event.ID, of.ID, quantity, customer)).checkStatus(t, http.StatusCreated, "")
		}
	}
}

// checkSalePages checks the pages of events.
func (o *ownerSite) checkSalePages(t *testing.T, v *visitor.Visitor, checkStep func(step, selector string)) {
	t.Helper()
	o.sellTickets(t, "Ada Example", "Floor", 3)
	v.Go(o.buildAddress("/events"))
	checkStep("10-events", ".share")
	v.PressElement(".rows .cover")
	checkStep("10-event", ".figures")
	v.PressElement(".row.order .cover")
	checkStep("10-order", ".drawer .facts")
	v.PressElement(`.drawer a[href*="/cancel"]`)
	checkStep("10-cancel-order", "button.danger")
	v.Go(o.buildAddress("/events"))
	v.PressElement(".rows .cover")
	v.PressElement(`a[href$="/sell"]`)
	checkStep("10-sell", "input[type=number]")
}

// sellAtDoor sells tickets of two tiers at the door, and checks that a sale of more tickets than remain is refused. It finds
// the buyer and cancels the order.
func (o *ownerSite) sellAtDoor(t *testing.T) {
	v := o.signIn(t, "desk", visitor.Profile{Locale: "en-GB"})
	o.sellTickets(t, "Zoë Martins", "Floor", 4)
	v.Go(o.buildAddress("/events"))
	v.ExpectText("Spring Gala", "Saturday, 6 March 2027", "20:00 – 00:30", "4 of 12 sold")
	v.ExpectNoText("Last Gala")
	v.Press("Spring Gala")
	v.ExpectText("Floor €30.00 4 8", "Box €80.00 0 2", "Zoë Martins", "4 × Floor")
	v.Press("Sell tickets")
	v.Fill("Customer", "Bruno Costa")
	v.Press("Sell tickets")
	v.ExpectText("Enter the number of tickets")
	v.Check()
	v.Fill("Floor", "2")
	v.Fill("Box", "2")
	o.sellTickets(t, "Eva Lind", "Box", 1) // a sale in another window
	v.Press("Sell tickets")
	v.ExpectText("Not enough tickets left", "€80.00 · 1 left")
	if stored := v.FieldValue("Customer"); stored != "Bruno Costa" {
		t.Errorf("the customer is %q", stored)
	}
	v.Fill("Box", "1")
	v.PressTwice("Sell tickets")
	v.ExpectText("Tickets sold", "Bruno Costa", "2 × Floor", "1 × Box", "€140.00", "At today’s prices",
		"To be paid on site", "Sold")
	v.Check()
	v.Press("Cancel tickets")
	v.ExpectText("Cancel these tickets?", "Nothing was paid online", "Spring Gala")
	v.PressElement("button.danger")
	v.ExpectText("Tickets cancelled", "Cancelled")
	v.ExpectNoText("Cancel tickets")
	v.PressElement(".drawer .close")
	v.ExpectText("Floor €30.00 4 7", "Box €80.00 1 1", "Total 5 7")
	v.Fill("Customer", "martins")
	v.Press("Show")
	v.Await("only the one is listed",
		`document.querySelectorAll(".row.order").length === 1 && document.body.innerText.includes("Zoë Martins")`)
	v.ExpectNoText("Download as CSV") // the front desk may not export
	v.Go(o.buildAddress("/events?past=yes"))
	v.ExpectText("Last Gala", "0 of 12 sold")
	v.Press("Last Gala")
	v.ExpectText("Floor €30.00 0 12")
	v.ExpectNoText("Sell tickets")
}

// viewEvents checks that a viewer sees the buyers of tickets without their contact data and cannot change anything.
func (o *ownerSite) viewEvents(t *testing.T) {
	o.sellTickets(t, "Zoë Martins", "Floor", 4)
	v := o.signIn(t, "viewer", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/events"))
	v.Press("Spring Gala")
	v.Press("Zoë Martins")
	v.ExpectText("4 × Floor", "€120.00")
	v.ExpectNoText("buyer@example.com", "Cancel tickets", "Sell tickets", "History")
}
