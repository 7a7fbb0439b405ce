package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// signInOperator invites an operator of an installation without businesses and signs in by the link.
func (p *pages) signInOperator(t *testing.T, name string, profile visitor.Profile) *visitor.Visitor {
	t.Helper()
	var invitation struct{ Link string }
	p.callAdmin(t, http.MethodPost, "invitations",
		fmt.Appendf(nil, `{"email":"%s@example.com","name":"Marta Silva","role":"operator"}`, name)).decode(t,
		http.StatusCreated, &invitation)
	profile.MayShift = ownerShift
	v := p.openVisitor(t, profile)
	v.Go(p.AdminURL + invitation.Link)
	v.PressElement("button")
	v.ExpectElement(`a[href="/business"]`)
	return v
}

// maxInputs is the maximum number of inputs for a newcomer to set up a practice (pages.md §7).
const maxInputs = 60

// inputCounter counts the fields that a person fills in and the buttons that they press.
type inputCounter struct {
	*visitor.Visitor
	inputs int
}

// FillElement counts an input and fills in a field.
func (n *inputCounter) FillThe(selector, text string) {
	n.inputs++
	n.Visitor.FillElement(selector, text)
}

// Press counts an input and presses a button or link.
func (n *inputCounter) Press(name string) {
	n.inputs++
	n.Visitor.Press(name)
}

// TestFirstVisitSetsUpBusinessInABrowser sets up a practice in an empty installation, by the pages alone: three
// practitioners, six services, a class, two rentals, hours with a break, and a cancellation policy. No form is
// rejected. Then a customer books, and the owner gets a mail.
func TestFirstVisitSetsUpBusinessInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{platform: startPlatform(t), chromium: visitor.Open(t)}
	v := &inputCounter{Visitor: p.signInOperator(t, "marta", visitor.Profile{Locale: "en-GB", Width: 1280})}
	p.fillFirstForms(t, v)
	addProductsToOffer(v)
	if v.inputs > maxInputs {
		t.Errorf("a practice took %d inputs, want at most %d", v.inputs, maxInputs)
	}
	t.Logf("a practice took %d inputs", v.inputs)
	date := p.bookAsCustomer(t, "riverside-physio")
	p.checkOwnerMail(t, "marta@example.com")
	v.Go(p.AdminURL + "/business/riverside-physio/bookings")
	v.ExpectText("Zoë Example", "Physiotherapy")
	v.Go(p.AdminURL + "/business/riverside-physio/calendar?date=" + date)
	v.ExpectElement(".box")
	if clipped := visitor.Eval[string](v.Visitor, clippedBoxScript); clipped != "" {
		t.Errorf("these texts of the calendar are clipped:\n%s", clipped)
	}
	p.fillFirstFormsOnPhone(t)
}

// checkForm checks a form of the first visit.
func (n *inputCounter) checkForm(t *testing.T, number int, selector string) {
	t.Helper()
	n.ExpectElement(selector)
	n.ExpectText(fmt.Sprintf("Step %d of 5", number))
	n.Check()
	n.SaveScreenshot(fmt.Sprintf("first-desk-%d", number))
	if strings.Contains(strings.ToLower(n.Text()), "manifest") {
		t.Errorf("form %d contains the word \"manifest\": %s", number, n.Text())
	}
}

// fillFirstForms fills in the five forms of the first visit, leaves them once, comes back, and opens the business.
func (p *pages) fillFirstForms(t *testing.T, v *inputCounter) {
	t.Helper()
	v.ExpectText("No business yet")
	v.Check()
	v.Press("Set up your business")
	v.Await("the browser's zone is filled in", `document.querySelector("[name=timezone]").value !== ""`)
	v.checkForm(t, 1, "[name=trade]")
	v.Press("Practice or clinic")
	v.FillThe("[name=name]", "Riverside Physio")
	v.FillThe("[name=currency]", "€")
	v.Press("Continue")
	v.checkForm(t, 2, `[name="hours.mon.0.from"]`)
	v.FillThe(`[name="hours.mon.0.from"]`, "09:00")
	v.FillThe(`[name="hours.mon.0.to"]`, "13:00")
	v.Press("Copy to all open days")
	v.Await("Friday has Monday's hours", `document.querySelector('[name="hours.fri.1.to"]').value === "18:00"`)
	v.Press("Continue")
	v.ExpectElement(`[name="staff.0.name"]`)
	v.Go(p.AdminURL + "/business/riverside-physio/today") // leaves the forms and comes back
	v.ExpectText("Customers can’t book yet.")
	v.Check()
	v.Visitor.Press("Finish setting up")
	v.Await("the hours are as they were typed", `document.querySelector('[name="hours.fri.0.to"]').value === "13:00"`)
	v.Visitor.Press("Continue")
	v.checkForm(t, 3, `[name="staff.0.name"]`)
	for i, name := range []string{"Anna Reis", "Ben Costa", "Clara Dias"} {
		v.FillThe(fmt.Sprintf(`[name="staff.%d.name"]`, i), name)
	}
	v.Press("Continue")
	v.checkForm(t, 4, `[name="services.0.name"]`)
	v.FillThe(`[name="services.0.price"]`, "50")
	v.FillThe(`[name="services.1.price"]`, "70 €")
	for i, s := range [][3]string{{"Follow-up visit", "30", "40,50"}, {"Home visit", "60", "80"},
		{"Sports massage", "45", "45"}} {
		row := fmt.Sprintf("services.%d.", i+3)
		if i > 0 {
			v.Press("Add service")
			v.Await("the cursor is in the new row", `document.activeElement.name === "`+row+`name"`)
		}
		v.FillThe(`[name="`+row+`name"]`, s[0])
		v.FillThe(`[name="`+row+`duration_minutes"]`, s[1])
		v.FillThe(`[name="`+row+`price"]`, s[2])
	}
	p.checkClosed(t, "riverside-physio")
	v.Press("Continue")
	v.checkForm(t, 5, `[name="bookings.confirm"]`)
	v.Await(
		"the owner is notified",
		`document.querySelector('[name="notifications.owner_emails"]').value === "marta@example.com"`,
	)
	v.FillThe(`[name="self_service.cancel_until_hours"]`, "48")
	v.Press("Open for bookings")
	v.ExpectText("You’re open for bookings", p.PublicURL+"/b/riverside-physio")
	v.Check()
	v.SaveScreenshot("first-desk-6-done")
}

// addProductsToOffer adds a class, two rentals and a cancellation policy.
func addProductsToOffer(v *inputCounter) {
	v.Press("Add class")
	for _, field := range [][2]string{
		{"name", "Back school"}, {"price", "18"}, {"classes.0.weekday", "Tuesday"}, {"classes.0.time", "18:30"},
		{"classes.0.capacity", "8"},
		{"classes.0.staff", "Ben Costa"},
	} {
		v.FillThe(`[name="`+field[0]+`"]`, field[1])
	}
	v.Press("Save")
	v.ExpectText("Saved. Customers see it now.", "Back school")
	v.Press("Rentals")
	for _, rental := range [][2]string{{"Crutches", "5"}, {"TENS device", "8"}} {
		v.Press("Add rental")
		v.FillThe(`[name="name"]`, rental[0])
		v.FillThe(`[name="price"]`, rental[1])
		v.Press("Save")
		v.ExpectText("Saved. Customers see it now.", rental[0])
	}
	v.Go(strings.Replace(v.Address(), "/offer/rentals", "/offer/policies", 1))
	v.FillThe(`[name="cancellation_policy.0.hours_before"]`, "48")
	v.FillThe(`[name="cancellation_policy.0.refund_percent"]`, "100")
	v.Press("Add refund rule")
	v.FillThe(`[name="cancellation_policy.1.hours_before"]`, "24")
	v.FillThe(`[name="cancellation_policy.1.refund_percent"]`, "50")
	v.Press("Save")
	v.ExpectText("Saved. Customers see it now.")
}

// checkClosed checks that customers cannot book anything.
func (p *pages) checkClosed(t *testing.T, slug string) {
	t.Helper()
	if services := p.platform.idsByName(t, slug, "services"); len(services) > 0 {
		t.Errorf("before it is opened, customers are offered %v", services)
	}
}

// bookAsCustomer finds the whole offer on the booking page, books a service, and returns the date.
func (p *pages) bookAsCustomer(t *testing.T, slug string) string {
	t.Helper()
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	v.Go(p.PublicURL + "/b/" + slug + "/rentals")
	v.ExpectText("Crutches", "€5.00 per day", "TENS device", "€8.00 per day")
	v.Go(p.PublicURL + "/b/" + slug)
	v.ExpectText(
		"Riverside Physio",
		"Consultation",
		"€50.00",
		"Check-up",
		"€70.00",
		"Physiotherapy",
		"€60.00",
		"Follow-up visit",
		"€40.50",
		"Home visit",
		"€80.00",
		"Sports massage",
		"€45.00",
		"Back school",
		"€18.00",
	)
	v.Press("Home visit")
	v.ExpectText("Anna Reis", "Ben Costa", "Clara Dias")
	v.Go(p.PublicURL + "/b/" + slug)
	v.Press("Physiotherapy")
	v.Press("Ben Costa")
	v.PressElement(".day[href]")
	v.PressElement(".pill")
	v.ExpectText("Your details")
	at, err := url.Parse(v.Address())
	if err != nil {
		t.Fatal(err)
	}
	fillContact(v)
	v.Press("Book with obligation to pay")
	v.ExpectText("Booking request received")
	return at.Query().Get("date")
}

// checkOwnerMail waits for the mail about the booking to the owner. It comes with the invitation and the mail to the
// customer.
func (p *pages) checkOwnerMail(t *testing.T, owner string) {
	t.Helper()
	var subjects []string
	for _, m := range p.platform.awaitMails(t, 3)[owner] {
		subjects = append(subjects, decodeHeader(t, m, "Subject"))
	}
	if !slices.ContainsFunc(
		subjects,
		func(s string) bool {
			return strings.HasPrefix(s, "New booking") && strings.Contains(s, "Physiotherapy")
		},
	) {
		t.Errorf("the owner has %q", subjects)
	}
}

// fillFirstFormsOnPhone fills in the forms of other trades on a phone: in Arabic with the dark scheme, in German, and
// without scripts.
func (p *pages) fillFirstFormsOnPhone(t *testing.T) {
	for name, c := range map[string]struct {
		as    visitor.Profile
		trade string
	}{
		"ar":    {visitor.Profile{Locale: "ar", Dark: true}, "rental"},
		"de":    {visitor.Profile{Locale: "de", NoRules: true}, "studio"},
		"plain": {visitor.Profile{Locale: "en-GB", NoScript: true}, "venue"},
	} {
		v := p.signInOperator(t, name, c.as)
		v.PressElement(`a[href="/business"]`)
		v.PressElement(`[value="` + c.trade + `"]`)
		v.FillElement("[name=name]", "Harbour "+name)
		v.FillElement("[name=timezone]", "Europe/Lisboa")
		v.FillElement("[name=currency]", "EUR")
		v.PressElement("main .actions button")
		v.ExpectElement("#f-timezone-error")
		v.Check()
		v.Await("the cursor is where something is wrong", `document.activeElement.name === "timezone"`)
		v.FillElement("[name=timezone]", "Europe/Lisbon")
		v.SaveScreenshot("first-" + name + "-1")
		for i, field := range []string{`[name="hours.mon.0.from"]`, `[name="staff.n"]`, `[name="services.0.name"]`,
			`[name="bookings.confirm"]`, "#address"} {
			v.PressElement("main .actions button")
			v.Await("the next form is there", "!!document.querySelector('main "+strings.ReplaceAll(field, `'`, "")+"')")
			v.Check()
			v.SaveScreenshot(fmt.Sprintf("first-%s-%d", name, i+2))
		}
	}
}
