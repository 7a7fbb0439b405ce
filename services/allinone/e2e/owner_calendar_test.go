package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// columnPositionScript returns a script that returns the position of a minute of the day in a member's column.
func columnPositionScript(member string, minute float64) string {
	return fmt.Sprintf(`(() => {
		const column = [...document.querySelectorAll(".column")].find(c => c.innerText.trim().startsWith(%q))?.querySelector(".slots");
		if (!column) return null;
		const box = column.getBoundingClientRect(), {first, last} = document.querySelector(".calendar").dataset;
		return {x: box.x + box.width / 2, y: box.y + (%f - first) / (last - first) * box.height};
	})()`, member, minute)
}

// boxPositionCondition returns a script that reports whether a customer's box is in a member's column at a time.
func boxPositionCondition(customer, member, when string) string {
	return fmt.Sprintf(`document.readyState === "complete" && [...document.querySelectorAll(".column")].some(c => c.innerText.trim().startsWith(%q) &&
		[...c.querySelectorAll(".box")].some(b => b.innerText.includes(%q) && b.innerText.includes(%q)))`, member, customer, when)
}

// dragBookings reschedules a booking with the pointer and undoes it. It drags a booking to a busy time, drags over
// free time to book, and drags a booking that another person has just rescheduled.
func (o *ownerSite) dragBookings(t *testing.T) {
	v := o.signIn(t, "desk", visitor.Profile{Locale: "en-GB", Width: 1280, Height: 1000})
	v.Go(o.buildAddress("/today"))
	v.ExpectText("Free today", "11:45 – 17:00")
	v.Go(o.buildAddress("/calendar?date=2027-03-02"))
	v.Await("free time is shown",
		`[...document.querySelectorAll(".gap")].some(g => g.innerText.includes("10:45 – 17:00"))`)
	const grabbed, at10, at12, at14 = 22.0, 600, 720, 840
	v.Drag(columnPositionScript("Inês", at10+grabbed), columnPositionScript("Tomás", at12+grabbed), "")
	v.ExpectText("Moved to 12:00 with Tomás.")
	v.Await("she is with Tomás at twelve", boxPositionCondition("Clara Neves", "Tomás", "12:00"))
	v.Check()
	v.Press("Undo")
	v.ExpectText("The booking is back at its old time")
	v.Await("she is with Inês at ten", boxPositionCondition("Clara Neves", "Inês", "10:00"))
	key, cut := o.platform.createKey(t, o.slug, "write"), o.platform.idsByName(t, o.slug, "services")["Cut"]
	o.platform.book(t, o.slug, key, newOrder(cut, "2027-03-02", "12:00").withField("customer_name",
		"Quick Q").withField("staff_id", o.platform.idsByName(t, o.slug, "staff")["Tomás"])).
		checkStatus(t, http.StatusCreated, "")
	v.Drag(columnPositionScript("Inês", at10+grabbed), columnPositionScript("Tomás", at12+grabbed), "")
	v.ExpectText("This time is not free")
	v.Await("she is where she was", boxPositionCondition("Clara Neves", "Inês", "10:00"))
	v.Drag(columnPositionScript("Tomás", at14), columnPositionScript("Tomás", at14+60), "")
	v.ExpectText("Book for a customer")
	if when := v.FieldValue("Time"); when != "14:00" {
		t.Errorf("the form is for %s", when)
	}
	v.Go(o.buildAddress("/calendar?date=2027-03-02"))
	elsewhere := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280, Height: 1000})
	elsewhere.Go(o.buildAddress("/calendar?date=2027-03-02"))
	elsewhere.Drag(columnPositionScript("Inês", at10+grabbed), columnPositionScript("Inês", at14+grabbed), "")
	elsewhere.ExpectText("Moved to 14:00.")
	// this window still shows her at ten
	v.Drag(columnPositionScript("Inês", at10+grabbed), columnPositionScript("Inês", at12+grabbed), "")
	v.ExpectText("This was changed a moment ago")
	v.Await("she is where the other has put her", boxPositionCondition("Clara Neves", "Inês", "14:00"))
	v.Drag(columnPositionScript("Inês", at14+grabbed), columnPositionScript("Inês", at12+grabbed),
		`document.documentElement.classList.contains("dragging")`)
	v.ExpectText("Moved to 12:00.")
	v.Await("she is with Inês at twelve", boxPositionCondition("Clara Neves", "Inês", "12:00"))
}

// takeTimeOff adds time off for the signed-in member, by days and by hours. The page first shows the bookings in that
// time. Customers cannot book the time until it is removed.
func (o *ownerSite) takeTimeOff(t *testing.T) {
	v := o.signIn(t, "staff", visitor.Profile{Locale: "en-GB"})
	v.Go(o.buildAddress("/calendar"))
	v.Press("Time off")
	v.ExpectText("Inês", "No time off is planned")
	v.Fill("First day", "2027-03-02")
	v.Fill("Last day", "2027-03-01")
	v.Press("Add time off")
	v.ExpectText("Choose a period of up to three months")
	v.Fill("First day", "2027-03-02")
	v.Fill("Last day", "2027-03-03")
	v.Press("Add time off")
	v.ExpectText("These bookings fall within this time", "Clara Neves")
	v.Check()
	v.Press("Add anyway")
	v.ExpectText("Time off added", "Tuesday, 2 March 2027", "Wednesday, 3 March 2027")
	v.Press("Remove Wednesday")
	v.ExpectText("Time off removed", "Tuesday, 2 March 2027")
	v.ExpectNoText("Wednesday, 3 March 2027")
	hoursOff := func(from, to string) {
		v.Fill("First day", "2027-03-03")
		v.Fill("From", from)
		v.Fill("Last day", "2027-03-03")
		v.Fill("To", to)
		v.Press("Add time off")
	}
	hoursOff("14:00", "13:00")
	v.ExpectText("Choose a period of up to three months")
	hoursOff("14:00", "16:00")
	v.ExpectText("Time off added", "3 Mar 2027 · 14:00 – 16:00")
	v.Await("the form keeps the margins of the page",
		`document.querySelector(".pair").scrollWidth <= document.querySelector("main").clientWidth - 32`)
	v.SaveScreenshot("time-off")
	v.Check()
	v.Go(o.buildAddress("/calendar?date=2027-03-02"))
	v.ExpectText("Clara Neves") // time off does not cancel her booking
	v.Await("there is nobody else's column", `document.querySelectorAll(".column").length === 1`)
	v.ExpectNoText("Drag a booking", "Free 0")
	key, cut := o.platform.createKey(t, o.slug, "write"), o.platform.idsByName(t, o.slug, "services")["Cut"]
	with := o.platform.idsByName(t, o.slug, "staff")["Inês"]
	o.platform.book(t, o.slug, key, newOrder(cut, "2027-03-02", "14:00").withField("staff_id", with)).checkStatus(t,
		http.StatusConflict, "closed")
	wednesday := newOrder(cut, "2027-03-03", "14:00").withField("staff_id", with)
	o.platform.book(t, o.slug, key, wednesday).checkStatus(t, http.StatusConflict, "slot_unavailable")
	v.Go(o.buildAddress("/time-off"))
	v.Press("Remove 3 Mar 2027")
	v.ExpectText("Time off removed")
	o.platform.book(t, o.slug, key, wednesday).checkStatus(t, http.StatusCreated, "")
	hoursOff("13:00", "14:00")
	v.ExpectText("Time off added")
	hoursOff("14:15", "")
	v.ExpectText("These bookings fall within this time")
}
