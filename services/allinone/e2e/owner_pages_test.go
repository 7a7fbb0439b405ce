package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// ownerSite is a business whose owner's pages visitors open. It has four pending bookings in its first two days, which
// were made by an API key.
type ownerSite struct {
	*pages
	slug string
}

// openBusiness publishes a business with two members of the staff and books it. The pairs in replaced change its
// manifest: each pair is a text and its replacement.
func (p *pages) openBusiness(t *testing.T, slug string, replaced ...string) *ownerSite {
	t.Helper()
	p.publish(t, slug, strings.NewReplacer(replaced...).Replace(strings.NewReplacer("name: Salon", "name: Harbour Hair",
		"Member 0", "Inês", "Member 1", "Tomás", "capacity: 2, order: 3}\n",
		"capacity: 2, order: 3}\n"+yogaClass).Replace(buildSalon(slug, 2))+
		"form: [{key: allergies, label: Allergies, type: text, max_length: 200}]\nrentals: [{key: kayak, name: Kayak, price: 12, price_type: hourly, quantity: 2, units_count: 2}]\n"+galaEvent))
	key, cut := p.platform.createKey(t, slug, "write"), p.platform.idsByName(t, slug, "services")["Cut"]
	for time, customer := range map[string]string{"09:00": "Ada Example", "09:45": "Zoë Example",
		"11:00": "Bruno Costa"} {
		p.platform.book(t, slug, key, newOrder(cut, "2027-03-01", time).withField("customer_name",
			customer).withField("form_data", map[string]any{"allergies": "Nuts"})).checkStatus(t, http.StatusCreated,
			"")
	}
	p.platform.book(t, slug, key, newOrder(cut, "2027-03-02", "10:00").withField("customer_name",
		"Clara Neves")).checkStatus(t,
		http.StatusCreated, "")
	return &ownerSite{p, slug}
}

// ownerShift is the accepted Cumulative Layout Shift of owners' pages: a tenth of the value that counts as good. Only
// booking pages must not shift at all (pages.md). A list on an owner's page may grow while it loads.
const ownerShift = 0.01

// signIn invites a person with this role and opens a window in which the person has signed in by the invitation's link.
// A person with the role "staff" is the member Inês.
func (o *ownerSite) signIn(t *testing.T, role string, profile visitor.Profile) *visitor.Visitor {
	t.Helper()
	var invitation struct{ Link string }
	body := map[string]any{"business": o.slug, "email": role + "-" + o.slug + "@example.com", "name": "Marta Silva",
		"role": role}
	if role == "staff" {
		body["staff_id"] = o.platform.idsByName(t, o.slug, "staff")["Inês"]
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	o.callAdmin(t, http.MethodPost, "invitations", text).decode(t, http.StatusCreated, &invitation)
	profile.MayShift = ownerShift
	v := o.openVisitor(t, profile)
	v.Go(o.AdminURL + invitation.Link)
	v.PressElement("button")
	v.ExpectElement(`a[href="/"]`)
	return v
}

// buildAddress returns the address of one of the business's pages.
func (o *ownerSite) buildAddress(path string) string {
	return o.AdminURL + "/business/" + o.slug + path
}

// TestOwnersUsePagesInABrowser uses the owner's pages as owners, the front desk and the staff do. Every page is checked
// with axe in two ways ([ownerVisitors]); seven other ways, without axe, visit the main pages.
func TestOwnersUsePagesInABrowser(t *testing.T) {
	t.Parallel()
	chromium := visitor.Open(t)
	p := &pages{platform: sharePlatform(t), chromium: chromium}
	startStripe(t)
	for name, profile := range ownerVisitors {
		t.Run("every page "+name, func(t *testing.T) {
			t.Parallel()
			p.openBusiness(t, "office-"+name).checkAllPages(t, name, profile)
		})
	}
	for name, profile := range map[string]visitor.Profile{
		"desk-dark": {Locale: "en-GB", Width: 1280, Dark: true, NoRules: true},
		"plain":     {Locale: "en-GB", NoScript: true}, "ar": {Locale: "ar", NoRules: true},
		"de-desk": {Locale: "de", Width: 1280, NoRules: true},
		"zoomed":  {Locale: "en-GB", Width: 1280, Zoom: 200, NoRules: true},
		"slow":    {Locale: "en-GB", Slow: true}, "slow-desk": {Locale: "en-GB", Width: 1280, Slow: true},
	} {
		t.Run("main pages "+name, func(t *testing.T) {
			t.Parallel()
			o := p.openBusiness(t, "office-"+name)
			v := o.signIn(t, "owner", profile)
			o.checkMainPages(v, o.pageChecker(v, name))
		})
	}
	t.Run("a day", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "day").spendDay(t)
	})
	t.Run("calendar", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "calendar").useCalendar(t)
	})
	t.Run("by phone", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "calls").bookByPhone(t)
	})
	t.Run("known customer", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "known").bookKnownCustomer(t)
	})
	t.Run("at the door", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "at-the-door").sellAtDoor(t)
	})
	t.Run("watched", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "watched").viewEvents(t)
	})
	t.Run("lending", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "lending", paidRentals...).lendRentals(t)
	})
	t.Run("teaching", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "teaching").teachClass(t)
	})
	t.Run("dragging", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "dragging").dragBookings(t)
	})
	t.Run("calendar bar", func(t *testing.T) {
		t.Parallel()
		p.openPractice(t, "bar", 3).useBar(t)
	})
	t.Run("taking off", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "off").takeTimeOff(t)
	})
	t.Run("keyboard alone", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "keys").useKeyboard(t)
	})
}

// ownerVisitors are the two ways to visit every owner's page with axe: a phone with the light scheme, and a desktop
// with the dark scheme and a language that is written from right to left.
var ownerVisitors = map[string]visitor.Profile{
	"phone": {Locale: "en-GB"}, "ar-desk-dark": {Locale: "ar", Width: 1280, Dark: true},
}

// pageChecker returns a function that waits for an element of a page and checks the page.
func (o *ownerSite) pageChecker(v *visitor.Visitor, name string) func(step, selector string) {
	return func(step, selector string) {
		v.ExpectElement(selector)
		v.AwaitLoad()
		v.Check()
		v.SaveScreenshot("owner-" + name + "-" + step)
	}
}

// checkMainPages checks the five pages whose layout depends most on the window, the language, the scripts and the
// connection.
func (o *ownerSite) checkMainPages(v *visitor.Visitor, checkStep func(step, selector string)) {
	v.Go(o.buildAddress("/today"))
	checkStep("1-today", ".today .row")
	v.Go(o.buildAddress("/calendar"))
	checkStep("1-calendar-day", ".box")
	v.Go(o.buildAddress("/calendar?view=week"))
	checkStep("1-calendar-week", ".box")
	v.Go(o.buildAddress("/bookings"))
	checkStep("2-bookings", ".list .row")
	v.PressElement(".list .cover")
	checkStep("3-booking", ".drawer .history")
}

// checkAllPages checks each page and its states.
func (o *ownerSite) checkAllPages(t *testing.T, name string, profile visitor.Profile) {
	v := o.signIn(t, "owner", profile)
	checkStep := o.pageChecker(v, name)
	o.checkMainPages(v, checkStep)
	v.PressElement(`.drawer a[href*="/move"]`)
	checkStep("4-move", "input[name=date]")
	v.Back()
	v.PressElement(`.drawer a[href*="/cancel"]`)
	checkStep("5-cancel", "button.danger")
	v.Go(o.buildAddress("/bookings/new"))
	checkStep("6-new", "input[name=name]")
	v.Go(o.buildAddress("/bookings?query=nobody"))
	checkStep("7-none", ".empty")
	v.Go(o.buildAddress("/team"))
	checkStep("8-team", ".rows")
	v.PressElement(".rows .cover")
	checkStep("8-team-member", "select[name=role]")
	v.PressElement(`main a[href$="/remove"]`)
	checkStep("8-team-remove", "button.danger")
	v.Go(o.buildAddress("/team/invite"))
	checkStep("8-team-invite", "input[name=email]")
	v.FillElement("input[name=email]", name+"@invited.example")
	v.Choose("select[name=role]", 3)
	v.PressElement("main button")
	checkStep("8-team-invited", ".secret")
	v.Go(o.buildAddress("/more"))
	checkStep("8-more", ".cards")
	o.checkSalePages(t, v, checkStep)
	o.checkDayPages(v, checkStep)
	v.Go(o.buildAddress("/nothing"))
	checkStep("9-gone", ".empty")
}

// spendDay does what the front desk does on a day: it confirms, notes arrivals, reschedules and cancels.
func (o *ownerSite) spendDay(t *testing.T) {
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.AdminURL) // leads to the person's only business
	v.ExpectText("Today", "Monday, 1 March 2027", "Ada Example", "Zoë Example", "To be confirmed", "Clara Neves",
		"€40.00 to pay on site")
	v.Press("Confirm Ada Example")
	v.ExpectText("Booking confirmed.")
	v.Press("Arrived Ada Example")
	v.ExpectText("Marked as arrived")
	v.Check()
	v.Press("Zoë Example")
	v.ExpectText("Allergies", "Nuts", "ada@example.com", "History", "Booked", "Messages")
	v.Press("Move")
	v.Fill("Date", "2027-03-01")
	v.Fill("Time", "11:00") // the booking's member is busy then, and the other member is free
	v.Press("Move")
	v.ExpectText("Booking moved", "11:00 – 11:45", "Moved from")
	v.Press("Cancel booking")
	v.ExpectText("Cancel this booking?", "Nothing was paid online")
	v.Press("Keep booking")
	v.Press("Cancel booking")
	v.PressElement("button.danger")
	v.ExpectText("Booking cancelled", "Cancelled")
	v.ExpectNoText("Cancel this booking?")
	v.Check()
	v.Go(o.buildAddress("/bookings?from=2027-03-01&status=cancelled"))
	v.ExpectText("Zoë Example")
	v.ExpectNoText("Bruno Costa")
	v.Fill("Find a booking, customer or page", "clara")
	v.PressKeys(kb.Enter)
	v.Await("only the one is listed",
		`document.querySelectorAll(".list .row").length === 1 && document.body.innerText.includes("Clara Neves")`)
}

// useCalendar finds a booking in the day and the week, and assigns it to another member by the form.
func (o *ownerSite) useCalendar(t *testing.T) {
	v := o.signIn(t, "desk", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/calendar?date=2027-03-02"))
	v.ExpectText("Tuesday, 2 March 2027", "Inês", "Tomás", "Clara Neves", "10:00 · Cut")
	column := func(name string) string {
		return `[...document.querySelectorAll(".column")].findIndex(c => c.innerText.includes("Clara Neves")) === [...document.querySelectorAll(".column")].findIndex(c => c.innerText.startsWith("` + name + `"))`
	}
	v.Await("she is with Inês", column("Inês"))
	v.Await("it is an hour below nine",
		`Math.round(document.querySelector(".box").getBoundingClientRect().top - document.querySelector(".slots").getBoundingClientRect().top) === Math.round(80 * (10 - parseInt(document.querySelector(".hours li").innerText)))`)
	v.Press("Clara Neves")
	v.Press("Move")
	v.Fill("With", "Tomás")
	v.Press("Move")
	v.ExpectText("Booking moved")
	v.PressElement(".drawer .close")
	v.ExpectText("Tuesday, 2 March 2027")
	v.Await("she is with Tomás", column("Tomás"))
	v.Press("Week")
	v.ExpectText("Clara Neves", "Ada Example")
	v.Check()
	v.Press("Next")
	v.Await("the next week is shown, and has only the class",
		`!!document.body?.innerText.includes("8 Mar 2027") && document.querySelectorAll(".box").length === 1 && document.querySelector(".box").innerText.includes("0/3")`)
}

// bookByPhone books for a customer who calls: first at a busy time, then at a time that is not a regular start.
func (o *ownerSite) bookByPhone(t *testing.T) {
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB"})
	v.Go(o.buildAddress("/bookings/new"))
	v.ExpectText("Next free times", "Today")
	v.SaveScreenshot("new-booking")
	v.Press("Book")
	v.Await("the browser asks for what is missing",
		`document.querySelector("input[name=time]:invalid, input[name=name]:invalid") !== null`)
	v.Fill("Service", "Cut · €40.00")
	v.Fill("Date", "2027-03-01")
	v.Fill("Time", "09:10")
	v.Fill("With", "Inês")
	v.Fill("Customer", "Eva Lind")
	v.Press("Book")
	v.ExpectText("This time is not free")
	v.Check()
	if stored := v.FieldValue("Customer"); stored != "Eva Lind" {
		t.Errorf("the customer is %q", stored)
	}
	v.Fill("Time", "13:07") // not a regular start
	v.PressTwice("Book")
	v.ExpectText("Booked.", "Customers could not book this", "Eva Lind", "13:07 – 13:52",
		"By the business",
		"Confirmed")
	v.Check()
	if n := o.countBookings(t, o.slug); n != 5 {
		t.Errorf("%d bookings, want 5", n)
	}
}

// bookKnownCustomer finds a customer who has booked before and books one of the nearest free starts, silently. Then it
// books a walk-in.
func (o *ownerSite) bookKnownCustomer(t *testing.T) {
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/bookings/new?date=2027-03-02"))
	v.Fill("Find a customer", "ada@")
	v.Press("Show")
	v.PressElement(".cards .cover")
	v.ExpectText("Visits", "2 Mar 2027 · 10:00")
	if date, email := v.FieldValue("Date"), v.FieldValue("Email"); date != "2027-03-02" || email != "ada@example.com" {
		t.Errorf("the form has %s and %s", date, email)
	}
	v.Check()
	v.Choose("select[name=service]", 1)
	v.ExpectText("Next free times")
	v.Await("the chosen service stays", `document.querySelector("select[name=service]").selectedIndex === 1 &&
		document.querySelectorAll(".starts .chip").length > 6 && document.readyState === "complete"`)
	v.PressElement(".starts .quick:nth-of-type(2) .chip")
	v.Await("the start is in the form", `document.querySelector("input[name=date]").value === "2027-03-02" &&
		document.querySelector(".starts [aria-current]").value.endsWith(document.querySelector("input[name=time]").value)`)
	v.SaveScreenshot("new-booking-known")
	v.PressElement("input[name=notify]")
	v.Press("Book")
	v.ExpectText("Booked", "Wash", "By the business")
	v.Go(o.buildAddress("/bookings/new?walk_in=yes"))
	v.ExpectNoText("Email", "Find a customer")
	v.Check()
	v.PressElement(".starts .chip")
	v.Press("Book")
	v.ExpectText("Booked", "Walk-in")
	if n := o.countBookings(t, o.slug); n != 6 {
		t.Errorf("%d bookings, want 6", n)
	}
}

// useKeyboard confirms and searches without a pointer.
func (o *ownerSite) useKeyboard(t *testing.T) {
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/today"))
	v.Tab("Confirm Ada Example")
	v.PressKeys(kb.Enter)
	v.ExpectText("Booking confirmed.")
	v.PressKeys("/")
	v.Await("the search has the focus", `document.activeElement?.id === "search"`)
	v.Fill("Find a booking, customer or page", "bruno")
	v.PressKeys(kb.Enter)
	v.Await("only the one is listed", `document.querySelectorAll(".list .row").length === 1`)
	v.Tab("Bruno Costa")
	v.PressKeys(kb.Enter)
	v.ExpectElement(".drawer")
	v.Await("scripts have run", `document.readyState === "complete"`)
	v.PressKeys(kb.Escape)
	v.Await("the booking is closed", `!document.querySelector(".drawer")`)
	v.ExpectText("Bruno Costa")
}
