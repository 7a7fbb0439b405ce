package e2e

import (
	"net/url"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// yogaClass is a class with three seats, which Inês gives on Mondays.
const yogaClass = `  - {key: yoga, name: Yoga, duration_minutes: 60, price: 12.50, order: 4, classes: [{key: evening, weekday: mon, time: "18:00", capacity: 3, staff: s0}]}
`

// paidRentals are the changes of a manifest that require online payment for rentals. Until an hour before the start,
// a cancellation refunds half of the price.
var paidRentals = []string{
	"\nhours:\n",
	"\npayments: {providers: [stripe], accounts: {stripe: acct_salon}, modes: {rentals: online}}\ncancellation_policy: [{hours_before: 1, refund_percent: 50}]\nhours:\n",
	"price_type: hourly", "price_type: hourly, payment_requirement: full",
}

// checkDayPages checks the pages of rentals and classes.
func (o *ownerSite) checkDayPages(v *visitor.Visitor, checkStep func(step, selector string)) {
	v.Go(o.buildAddress("/rentals/new"))
	checkStep("11-reserve", "input[name=quantity]")
	v.FillElement("input[name=name]", "Bruno Costa")
	v.PressElement("form.fields button[type=submit]")
	checkStep("11-rentals", ".columns .row")
	v.PressElement(".columns .danger")
	checkStep("11-cancel-reservation", "button.danger")
	v.Go(o.buildAddress("/classes"))
	checkStep("12-classes", ".row.session")
	v.PressElement(".row.session .cover")
	v.PressElement(`main a[href*="session="]`)
	v.FillElement("input[name=name]", "Eva Lind")
	v.PressElement("form.fields button.wide")
	v.ExpectElement(".drawer")
	v.Go(o.buildAddress("/classes"))
	v.PressElement(".row.session .cover")
	checkStep("12-roster", ".row.guest")
}

// lendRentals reserves units at the counter, and checks that a reservation of more units than are free is refused. It notes
// pickup and return, and cancels.
func (o *ownerSite) lendRentals(t *testing.T) {
	v := o.signIn(t, "desk", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/rentals"))
	v.ExpectText("Nothing rented out", "No pick-ups",
		"Kayak 2 2 2 closed closed closed closed 2 2 2 closed closed closed closed")
	v.Press("Reserve")
	v.Fill("How many", "3")
	v.Fill("Customer", "Bruno Costa")
	v.Press("Reserve")
	v.ExpectText("Not enough items are free at this time")
	v.Check()
	v.Fill("How many", "2")
	v.Fill("Last day", "2027-03-02")
	v.PressTwice("Reserve")
	v.ExpectText("Reserved.", "2 × Kayak", "Bruno Costa", "Kayak 0 0 2 closed")
	phone := o.signIn(t, "desk", visitor.Profile{Locale: "en-GB"})
	phone.Go(o.buildAddress("/rentals"))
	phone.ExpectText("2 × Kayak")
	phone.Await(
		"what is reserved has the whole width",
		`document.querySelector(".row.brief .what").getBoundingClientRect().width > 300`,
	)
	phone.Check()
	v.Press("Picked up Kayak, Bruno Costa")
	v.ExpectText("Marked as picked up", "No pick-ups")
	v.Check()
	v.Press("Returned Kayak, Bruno Costa")
	v.ExpectText("Marked as returned", "Nothing rented out", "Kayak 2 2 2")
	v.Press("Reserve")
	v.Fill("From", "10:00")
	v.Fill("To", "12:00")
	v.Fill("Customer", "Eva Lind")
	v.Press("Reserve")
	v.ExpectText("Eva Lind", "10:00 – 12:00", "Kayak 1 2 2")
	v.Press("Cancel Kayak, Eva Lind")
	v.ExpectText("Cancel this reservation?")
	v.PressElement("button.danger")
	v.ExpectText("Reservation cancelled", "No pick-ups", "Kayak 2 2 2")
	o.cancelCustomersRental(t, v)
}

// cancelCustomersRental cancels a reservation that a customer paid online. The front desk can refund the amount of
// the policy only; the owner refunds another amount.
func (o *ownerSite) cancelCustomersRental(t *testing.T, desk *visitor.Visitor) {
	t.Helper()
	at, _ := o.openRentalPage(t, o.slug, "Kayak")
	at += "/details?" + url.Values{"from": {"2027-03-03"}, "start": {"10:00"}, "for": {"2"}}.Encode()
	reserved := o.browse(t, at, o.browse(t, at, nil).fillForm(t, contactForm))
	desk.Go(o.buildAddress("/today"))
	desk.ExpectText("To be paid online", "1 × Kayak", "€24.00 to be paid online · until")
	desk.Check()
	desk.SaveScreenshot("owner-rental-to-be-paid")
	customer := o.openVisitor(t, visitor.Profile{Locale: "en-GB", NoScript: true})
	customer.Go(reserved.location)
	customer.Press("Pay")
	customer.ExpectText("You’re set: ")
	desk.Go(o.buildAddress("/rentals"))
	desk.ExpectText("Zoë <b>", "€24.00 paid online", "Kayak 2 2 1")
	desk.Press("Cancel Kayak, Zoë <b>")
	desk.ExpectText("By the cancellation policy: €12.00 (50 %)")
	desk.ExpectNoText("Full refund: €24.00")
	owner := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB"})
	owner.Go(desk.Address())
	owner.ExpectText("1 × Kayak", "€24.00 paid online", "By the cancellation policy: €12.00 (50 %)", "Full refund: €24.00")
	owner.Press("Another amount")
	owner.Fill("Amount in EUR", "20")
	owner.Check()
	owner.SaveScreenshot("owner-rental-cancel-paid")
	owner.PressElement("button.danger")
	owner.ExpectText("Reservation cancelled", "Kayak 2 2 2")
	desk.PressElement("button.danger") // the button of a page that was opened before the cancellation
	desk.ExpectText("This was changed a moment ago")
}

// teachClass books a party into a class from its roster and notes its arrival. The teacher sees the same roster and
// cannot book.
func (o *ownerSite) teachClass(t *testing.T) {
	v := o.signIn(t, "desk", visitor.Profile{Locale: "en-GB"})
	v.Go(o.buildAddress("/classes"))
	v.ExpectText("Yoga", "18:00", "Inês", "0 of 3 seats")
	v.Press("Yoga")
	v.ExpectText("No bookings yet", "Print")
	v.Press("Book a seat")
	v.Fill("People", "2")
	v.Fill("Customer", "Eva Lind")
	v.Press("Book")
	v.ExpectText("Booked.", "Yoga", "18:00 – 19:00")
	v.Go(o.buildAddress("/classes"))
	v.ExpectText("2 of 3 seats")
	v.Press("Yoga")
	v.ExpectText("Eva Lind", "2 people", "€25.00 to pay on site", "Confirmed")
	own := o.signIn(t, "staff", visitor.Profile{Locale: "en-GB"})
	own.Go(o.buildAddress("/classes"))
	own.Press("Yoga")
	own.ExpectText("Eva Lind", "2 of 3 seats")
	own.ExpectNoText("Book a seat")
	own.Press("Arrived Eva Lind")
	own.ExpectText("Marked as arrived")
	own.Check()
}
