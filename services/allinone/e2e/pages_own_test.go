package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

var ownLinkInMail = regexp.MustCompile(`http://[^\s"<>]+/mine/[\w-]+`)

// showOwnBookings opens a customer's own bookings by the mailed link, on a phone, on a desk without JavaScript, and in
// Arabic, and signs out.
func (p *pages) showOwnBookings(t *testing.T) {
	t.Parallel()
	p.publish(t, "own-salon", buildSalon("own-salon", 1))
	cut, key := p.idsByName(t, "own-salon", "services")["Cut"], p.createKey(t, "own-salon", "write")
	for start, profile := range map[string]visitor.Profile{
		"10:00": {Locale: "en-GB"}, "12:00": {Locale: "en-GB", Width: 1280, Dark: true, NoScript: true},
		"14:00": {Locale: "ar"},
	} {
		t.Run(start, func(t *testing.T) {
			t.Parallel()
			email := "own-" + start[:2] + "@customers.example"
			p.bookForCustomerLink(t, "own-salon", key, newOrder(cut, "2027-03-02", start).
				withField("customer_email", email))
			v := p.openVisitor(t, profile)
			check := func(step, selector string) {
				t.Helper()
				v.ExpectElement(selector)
				v.AwaitLoad()
				v.Check()
				v.SaveScreenshot("own-" + start[:2] + "-" + step)
			}
			v.Go(p.PublicURL + "/b/own-salon/mine")
			check("1-form", "input[name=email]")
			v.FillElement("input[name=email]", email)
			v.PressElement("main form button")
			check("2-sent", ".notice[role=status]")
			link := ""
			for _, mail := range p.inbox.await(t, email, 2) { // the confirmation and the link
				text := strings.NewReplacer("=\r\n", "", "=3D", "=").Replace(string(mail.Raw))
				if found := ownLinkInMail.FindString(text); found != "" {
					link = found
				}
			}
			v.Go(link)
			check("3-open", "main form.actions button")
			v.PressElement("main form.actions button")
			check("4-list", "section.own h3")
			v.ExpectText("Cut")
			v.PressElement(`form[action*="sign-out"] button`)
			v.ExpectElement(".front")
			v.Go(p.PublicURL + "/b/own-salon/mine")
			v.ExpectElement("input[name=email]") // the customer is no longer signed in
			v.Go(link)                           // it works once
			v.PressElement("main form.actions button")
			check("5-expired", "input[name=email]")
		})
	}
}
