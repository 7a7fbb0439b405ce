package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// calendarLengths are the services of [pages.openPractice] with their lengths in minutes.
var calendarLengths = []struct {
	name    string
	minutes int
}{{"Beard trim", 15}, {"Haircut", 30}, {"Cut and colour", 45}, {"Massage", 60}}

// openPractice publishes a business with a class and the given number of members. Each member has a booking of 15, 30,
// 45 and 60 minutes on 1 March 2027, without gaps from nine o'clock.
func (p *pages) openPractice(t *testing.T, slug string, members int) *ownerSite {
	t.Helper()
	names := []string{"Inês", "Tomás", "Katharina", "Ben", "Chiara", "Dmitri", "Ewa", "Frederik"}
	manifest := buildSalon(slug, members)
	for i := range members {
		manifest = strings.Replace(manifest, fmt.Sprintf("Member %d", i), names[i], 1)
	}
	keys := make([]string, members)
	for i := range keys {
		keys[i] = fmt.Sprintf("s%d", i)
	}
	var services strings.Builder
	for i, s := range calendarLengths {
		fmt.Fprintf(&services, "  - {key: length%d, name: %s, duration_minutes: %d, price: 10, staff: [%s], order: %d}\n",
			s.minutes, s.name, s.minutes, strings.Join(keys, ", "), 10+i)
	}
	p.publish(t, slug, strings.Replace(manifest, "pricing_rules:", yogaClass+services.String()+"pricing_rules:", 1))
	key, ids := p.createKey(t, slug, "write"), p.idsByName(t, slug, "services")
	staff := p.idsByName(t, slug, "staff")
	for _, member := range names[:members] {
		at := 9 * 60
		for i, s := range calendarLengths {
			p.book(t, slug, key, newOrder(ids[s.name], "2027-03-01", fmt.Sprintf("%02d:%02d", at/60, at%60)).
				withField("staff_id", staff[member]).
				withField("customer_email", fmt.Sprintf("guest%d-%s@example.com", i, slug)).
				withField("customer_name", []string{"Katharina Engel", "Jonathan Meyer", "Clara Neves", "Zoë Silva"}[i])).
				checkStatus(t, http.StatusCreated, "")
			at += s.minutes
		}
	}
	return &ownerSite{p, slug}
}

// clippedBoxScript returns a line for each box of the calendar whose visible text is larger than its element.
const clippedBoxScript = `[...document.querySelectorAll(".box :is(a, strong, a > span:not(.unseen))")].filter(e =>
	e.getClientRects().length && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)).map(e =>
	e.closest(".box").className + " " + e.tagName + " " + JSON.stringify(e.innerText) + " " +
	[e.scrollWidth, e.clientWidth, e.scrollHeight, e.clientHeight].join(" ")).join("\n")`

// smallBoxScript returns the number of boxes, and of those the ones without a readable line of text.
const smallBoxScript = `(() => {
	const boxes = [...document.querySelectorAll(".box")];
	return [boxes.length, boxes.filter(b => b.querySelector("strong").clientHeight < 15).length].join(" ");
})()`

// TestCalendarFitsTextsInABrowser shows that no text of a box in the calendar is clipped, on a phone and on a desktop, and that the
// heads of the columns and the hours stay in sight while the calendar scrolls.
func TestCalendarFitsTextsInABrowser(t *testing.T) {
	t.Parallel()
	chromium := visitor.Open(t)
	p := &pages{platform: sharePlatform(t), chromium: chromium}
	for _, members := range []int{3, 8} {
		t.Run(fmt.Sprint(members, " members"), func(t *testing.T) {
			t.Parallel()
			o := p.openPractice(t, fmt.Sprintf("fit-calendar-%d", members), members)
			for _, width := range []int{390, 1280} {
				v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: width, NoRules: true})
				for _, zoom := range []string{"", "&zoom=2"} {
					v.Go(o.buildAddress("/calendar?date=2027-03-01" + zoom))
					v.ExpectText("Katharina Engel", "Yoga")
					v.AwaitLoad()
					v.SaveScreenshot(fmt.Sprintf("calendar-%d-members-%d%s", members, width, zoom))
					if clipped := visitor.Eval[string](v, clippedBoxScript); clipped != "" {
						t.Errorf("%d px, %q: these texts are clipped:\n%s", width, zoom, clipped)
					}
					if got, want := visitor.Eval[string](v, smallBoxScript), fmt.Sprint(members*len(calendarLengths)+1,
						" ", 0); got != want {
						t.Errorf("%d px, %q: boxes, and those without a line of text: %s, want %s", width, zoom, got, want)
					}
					v.Check()
				}
				v.Await("heads and hours stay in sight", `(() => {
					const calendar = document.querySelector(".calendar");
					calendar.scrollTo({top: 300, left: 200, behavior: "instant"});
					const box = calendar.getBoundingClientRect();
					return Math.abs(document.querySelector(".column h2").getBoundingClientRect().top - box.top) < 3 &&
						Math.abs(document.querySelector(".hours").getBoundingClientRect().left - box.left) < 3;
				})()`)
			}
		})
	}
}

// useBar uses the bar of the calendar and the menu of an empty time.
func (o *ownerSite) useBar(t *testing.T) {
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280, Height: 1000})
	v.Go(o.buildAddress("/calendar?date=2027-03-01"))
	v.ExpectText("Clara Neves", "Yoga", "0/3")
	v.Press("3 days")
	v.Await("three days are shown", `document.querySelectorAll(".column").length === 3`)
	v.Press("Inês")
	v.Press("Zoom in")
	v.Await("the zoom, the view and the member stay", `location.search.includes("zoom=1") &&
		location.search.includes("view=3days") && location.search.includes("staff_id=")`)
	v.Press("Day")
	v.Await("only Inês is shown", `document.querySelectorAll(".column").length === 1`)
	v.Press("Everybody")
	v.Await("the date alone changes the calendar", `document.readyState === "complete" &&
		document.querySelectorAll(".column").length > 1 && (() => {
		const input = document.querySelector("input[name=date]");
		input.value = "2027-03-02";
		input.dispatchEvent(new Event("change"));
		return true;
	})()`)
	v.ExpectText("Tuesday, 2 March 2027")
	v.Drag(columnPositionScript("Tomás", 845), columnPositionScript("Tomás", 845), "")
	v.Await("the menu is open", `document.querySelector("#slot-menu:popover-open")?.innerText.includes("14:00")`)
	v.Check()
	v.PressElement("#slot-menu [data-with=time]")
	v.ExpectText("Book for a customer")
	if when := v.FieldValue("Time"); when != "14:00" {
		t.Errorf("the form is for %s", when)
	}
	v.Back()
	v.Drag(columnPositionScript("Tomás", 845), columnPositionScript("Tomás", 845), "")
	v.PressElement("#slot-menu [data-with=hour]")
	v.ExpectText("Time off", "Tomás")
	if from, to := v.FieldValue("From"), v.FieldValue("To"); from != "14:00" || to != "15:00" {
		t.Errorf("the form is for %s to %s", from, to)
	}
	v.Press("Add time off")
	v.ExpectText("Time off added", "2 Mar 2027 · 14:00 – 15:00")
}
