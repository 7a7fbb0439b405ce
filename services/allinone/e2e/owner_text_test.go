package e2e

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// TestOwnersEditOfferAsTextInABrowser edits the manifest as text. The page shows the line of an error and the changes
// before it saves, and merges the edits of two people.
func TestOwnersEditOfferAsTextInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{platform: sharePlatform(t), chromium: visitor.Open(t)}
	o := p.openBusiness(t, "text")
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
	before := o.offerText(t)
	wrong := strings.Replace(before, "price: 10.00", "price: -3", 1)
	line := 1 + strings.Count(wrong[:strings.Index(wrong, "price: -3")], "\n")
	v.Go(o.buildAddress("/offer/text"))
	v.Await("the lines are numbered", `document.querySelector(".numbers").textContent.startsWith("1\n2\n")`)
	v.Check()
	v.SaveScreenshot("text-1")
	v.FillElement("#text", wrong)
	v.Press("Review changes")
	v.ExpectText("Check the marked fields", "price: is the number -3; write a plain decimal number of at least 0")
	v.Await("its line is marked", `document.querySelector(".numbers b")?.textContent.includes("`+strconv.Itoa(line)+
		`")`)
	v.Check()
	v.SaveScreenshot("text-2-problem")
	v.Tab("Line " + strconv.Itoa(line))
	v.PressKeys(kb.Enter)
	v.Await("the line is chosen",
		`document.activeElement.id === "text" && document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd).includes("price: -3")`)
	v.Await("what is wrong with it is said",
		`document.querySelector(".at-line").textContent.includes("is the number -3")`)
	other := o.signIn(t, "manager", visitor.Profile{Locale: "en-GB", NoScript: true})
	other.Go(o.buildAddress("/offer/text"))
	other.FillElement("#text", "# Our house.\n"+before)
	v.FillElement("#text", strings.Replace(before, "price: 10.00", "price: 12.50", 1))
	v.Press("Review changes")
	v.ExpectText("What will change", "Wash · Price", "12.5", "No bookings are affected")
	v.Check()
	v.SaveScreenshot("text-3-ask")
	v.Press("Save")
	v.ExpectText("Saved. Customers see it now.")
	other.Press("Review changes")
	other.ExpectText("Nothing changes for customers.")
	other.Check()
	other.Press("Save")
	other.ExpectText("Saved.")
	if now, want := o.offerText(t), "# Our house.\n"+strings.Replace(before, "price: 10.00", "price: 12.50",
		1); now != want {
		t.Errorf("the text with both changes is\n%s\nwant\n%s", now, want)
	}
	for name, profile := range map[string]visitor.Profile{"ar-dark": {Locale: "ar", Dark: true},
		"plain": {Locale: "de", NoScript: true}} {
		v := o.signIn(t, "owner", profile)
		v.Go(o.buildAddress("/offer/text"))
		v.FillElement("#text", wrong)
		v.PressElement("main form.fields .button")
		v.ExpectElement(".problems")
		v.Check()
		v.SaveScreenshot("text-4-" + name)
	}
}
