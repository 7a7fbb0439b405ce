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
	v := o.signIn(t, "owner", visitor.As{Locale: "en-GB", Width: 1280})
	before := o.offerText(t)
	wrong := strings.Replace(before, "price: 10.00", "price: -3", 1)
	line := 1 + strings.Count(wrong[:strings.Index(wrong, "price: -3")], "\n")
	v.Go(o.at("/offer/services"))
	v.Press("As text")
	v.Until("the lines are numbered", `document.querySelector(".numbers").textContent.startsWith("1\n2\n")`)
	v.Check()
	v.Keep("text-1")
	v.FillThe("#text", wrong)
	v.Press("See what will change")
	v.Sees("Please check", "price: is the number -3; write a plain decimal number of at least 0")
	v.Until("its line is marked", `document.querySelector(".numbers b")?.textContent.includes("`+strconv.Itoa(line)+
		`")`)
	v.Check()
	v.Keep("text-2-problem")
	v.Tab("Line " + strconv.Itoa(line))
	v.Keys(kb.Enter)
	v.Until("the line is chosen",
		`document.activeElement.id === "text" && document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd).includes("price: -3")`)
	v.Until("what is wrong with it is said",
		`document.querySelector(".at-line").textContent.includes("is the number -3")`)
	other := o.signIn(t, "manager", visitor.As{Locale: "en-GB", NoScript: true})
	other.Go(o.at("/offer/text"))
	other.FillThe("#text", "# Our house.\n"+before)
	v.FillThe("#text", strings.Replace(before, "price: 10.00", "price: 12.50", 1))
	v.Press("See what will change")
	v.Sees("What will change", "Wash · Price", "12.5", "Nothing that customers have booked would fall outside")
	v.Check()
	v.Keep("text-3-ask")
	v.Press("Save")
	v.Sees("Saved. Customers see it now.")
	other.Press("See what will change")
	other.Sees("Customers see the same as before.")
	other.Check()
	other.Press("Save")
	other.Sees("Saved.")
	if now, want := o.offerText(t), "# Our house.\n"+strings.Replace(before, "price: 10.00", "price: 12.50",
		1); now != want {
		t.Errorf("both have written\n%s\nwant\n%s", now, want)
	}
	for name, as := range map[string]visitor.As{"ar-dark": {Locale: "ar", Dark: true},
		"plain": {Locale: "de", NoScript: true}} {
		v := o.signIn(t, "owner", as)
		v.Go(o.at("/offer/text"))
		v.FillThe("#text", wrong)
		v.PressThe("main form.fields .button")
		v.Finds(".problems")
		v.Check()
		v.Keep("text-4-" + name)
	}
}
