package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// columnPosition returns a script that returns the position of a minute of the day in a member's column.
func columnPosition(member string, minute float64) string {
	return fmt.Sprintf(`(() => {
		const column = [...document.querySelectorAll(".column")].find(c => c.innerText.trim().startsWith(%q))?.querySelector(".slots");
		if (!column) return null;
		const box = column.getBoundingClientRect(), {first, last} = document.querySelector(".calendar").dataset;
		return {x: box.x + box.width / 2, y: box.y + (%f - first) / (last - first) * box.height};
	})()`, member, minute)
}

// boxIsAt returns a script that reports whether a customer's box is in a member's column at a time.
func boxIsAt(customer, member, when string) string {
	return fmt.Sprintf(`document.readyState === "complete" && [...document.querySelectorAll(".column")].some(c => c.innerText.trim().startsWith(%q) &&
		[...c.querySelectorAll(".box")].some(b => b.innerText.includes(%q) && b.innerText.includes(%q)))`, member, customer, when)
}

// dragBookings reschedules a booking with the pointer and undoes it. It drags a booking to a busy time, drags over
// free time to book, and drags a booking that another person has just rescheduled.
func (o *ownerSite) dragBookings(t *testing.T) {
	v := o.signIn(t, "desk", visitor.As{Locale: "en-GB", Width: 1280, Height: 1000})
	v.Go(o.at("/today"))
	v.Sees("Free today", "11:45 – 17:00")
	v.Go(o.at("/calendar?date=2027-03-02"))
	v.Until("free time is shown",
		`[...document.querySelectorAll(".gap")].some(g => g.innerText.includes("10:45 – 17:00"))`)
	const grabbed, at10, at12, at14 = 22.0, 600, 720, 840
	v.Drag(columnPosition("Inês", at10+grabbed), columnPosition("Tomás", at12+grabbed), "")
	v.Sees("The booking has a new time")
	v.Until("she is with Tomás at twelve", boxIsAt("Clara Neves", "Tomás", "12:00"))
	v.Check()
	v.Press("Undo")
	v.Sees("The booking is back where it was")
	v.Until("she is with Inês at ten", boxIsAt("Clara Neves", "Inês", "10:00"))
	key, cut := o.platform.key(t, o.slug, "write"), o.platform.idsByName(t, o.slug, "services")["Cut"]
	o.platform.book(t, o.slug, key, appointment(cut, "2027-03-02", "12:00").with("customer_name",
		"Quick Q").with("staff_id", o.platform.idsByName(t, o.slug, "staff")["Tomás"])).
		checkStatus(t, http.StatusCreated, "")
	v.Drag(columnPosition("Inês", at10+grabbed), columnPosition("Tomás", at12+grabbed), "")
	v.Sees("This time is not free")
	v.Until("she is where she was", boxIsAt("Clara Neves", "Inês", "10:00"))
	v.Drag(columnPosition("Tomás", at14), columnPosition("Tomás", at14+60), "")
	v.Sees("Book for a customer")
	if when := v.Filled("Time"); when != "14:00" {
		t.Errorf("the form is for %s", when)
	}
	v.Go(o.at("/calendar?date=2027-03-02"))
	elsewhere := o.signIn(t, "owner", visitor.As{Locale: "en-GB", Width: 1280, Height: 1000})
	elsewhere.Go(o.at("/calendar?date=2027-03-02"))
	elsewhere.Drag(columnPosition("Inês", at10+grabbed), columnPosition("Inês", at14+grabbed), "")
	elsewhere.Sees("The booking has a new time")
	v.Drag(columnPosition("Inês", at10+grabbed), columnPosition("Inês", at12+grabbed), "") // this window still shows her at ten
	v.Sees("Something has changed meanwhile")
	v.Until("she is where the other has put her", boxIsAt("Clara Neves", "Inês", "14:00"))
	v.Drag(columnPosition("Inês", at14+grabbed), columnPosition("Inês", at12+grabbed),
		`document.documentElement.classList.contains("dragging")`)
	v.Sees("The booking has a new time")
	v.Until("she is with Inês at twelve", boxIsAt("Clara Neves", "Inês", "12:00"))
}

// takeTimeOff adds time off for the signed-in member, by days and by hours. The page first shows the bookings in that
// time. Customers cannot book the time until it is removed.
func (o *ownerSite) takeTimeOff(t *testing.T) {
	v := o.signIn(t, "staff", visitor.As{Locale: "en-GB"})
	v.Go(o.at("/calendar"))
	v.Press("Time off")
	v.Sees("Inês", "No time off is planned")
	v.Fill("First day", "2027-03-02")
	v.Fill("Last day", "2027-03-01")
	v.Press("Add time off")
	v.Sees("Choose a time from today on")
	v.Fill("First day", "2027-03-02")
	v.Fill("Last day", "2027-03-03")
	v.Press("Add time off")
	v.Sees("These bookings fall within this time", "Clara Neves")
	v.Check()
	v.Press("Add anyway")
	v.Sees("Time off added", "Tuesday, 2 March 2027", "Wednesday, 3 March 2027")
	v.Press("Remove Wednesday")
	v.Sees("Time off removed", "Tuesday, 2 March 2027")
	v.SeesNot("Wednesday, 3 March 2027")
	hoursOff := func(from, to string) {
		v.Fill("First day", "2027-03-03")
		v.Fill("From", from)
		v.Fill("Last day", "2027-03-03")
		v.Fill("To", to)
		v.Press("Add time off")
	}
	hoursOff("14:00", "13:00")
	v.Sees("Choose a time from today on")
	hoursOff("14:00", "16:00")
	v.Sees("Time off added", "3 Mar 2027 · 14:00 – 16:00")
	v.Until("the form keeps the margins of the page",
		`document.querySelector(".pair").scrollWidth <= document.querySelector("main").clientWidth - 32`)
	v.Keep("time-off")
	v.Check()
	v.Go(o.at("/calendar?date=2027-03-02"))
	v.Sees("Clara Neves") // time off does not cancel her booking
	v.Until("there is nobody else's column", `document.querySelectorAll(".column").length === 1`)
	v.SeesNot("Drag a booking", "Free 0")
	key, cut := o.platform.key(t, o.slug, "write"), o.platform.idsByName(t, o.slug, "services")["Cut"]
	with := o.platform.idsByName(t, o.slug, "staff")["Inês"]
	o.platform.book(t, o.slug, key, appointment(cut, "2027-03-02", "14:00").with("staff_id", with)).checkStatus(t,
		http.StatusConflict, "closed")
	wednesday := appointment(cut, "2027-03-03", "14:00").with("staff_id", with)
	o.platform.book(t, o.slug, key, wednesday).checkStatus(t, http.StatusConflict, "slot_unavailable")
	v.Go(o.at("/time-off"))
	v.Press("Remove 3 Mar 2027")
	v.Sees("Time off removed")
	o.platform.book(t, o.slug, key, wednesday).checkStatus(t, http.StatusCreated, "")
	hoursOff("13:00", "14:00")
	v.Sees("Time off added")
	hoursOff("14:15", "")
	v.Sees("These bookings fall within this time")
}
