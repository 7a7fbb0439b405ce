package e2e

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// TestOwnersSeeAffectedBookingsBeforeSavingInABrowser shortens a member's hours although a customer is booked then.
// The page shows the affected booking. The owner goes back to the form with its values, saves it anyway and undoes
// it. Later the owner restores that version from the list of versions.
func TestOwnersSeeAffectedBookingsBeforeSavingInABrowser(t *testing.T) {
	t.Parallel()
	chromium := visitor.Open(t)
	p := &pages{platform: sharePlatform(t), chromium: chromium}
	o := p.openBusiness(t, "conflicts")
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB"})
	o.shortenHours(v)
	v.ExpectText(
		"What will change",
		"Inês · Opening hours",
		"Tuesday 12:00 – 17:00",
		"1 booking is affected",
		"Clara Neves",
		"Cut · Inês",
		"Inês does not work then.",
	)
	v.ExpectNoText("Ada Example", "@example.com")
	v.Check()
	v.SaveScreenshot("owner-ask-phone")
	v.Press("Back to the form")
	v.Await("what was typed is there",
		`document.querySelector('[name="hours.tue.0.from"]')?.value === "12:00" && document.querySelector('[name="hours.mode"]:checked').value === "own"`)
	v.Check()
	v.Press("Save")
	v.ExpectText("Clara Neves")
	if strings.Contains(o.offerText(t), "12:00-17:00") {
		t.Error("the change is saved before the question is answered")
	}
	v.Press("Save anyway")
	v.ExpectText("Saved.", "Own hours")
	v.Press("Undo")
	v.Await("it is undone",
		`document.readyState === "complete" && !!document.body?.innerText.includes("Saved.") && !document.body.innerText.includes("Own hours")`)
	if strings.Contains(o.offerText(t), "12:00-17:00") {
		t.Error("the change is not undone")
	}
	o.restoreVersion(t, v)
	if n := o.countBookings(t, o.slug); n != 4 {
		t.Errorf("%d bookings, want 4", n)
	}
	for name, profile := range map[string]visitor.Profile{
		"ar-desk-dark": ownerVisitors["ar-desk-dark"], "plain": {Locale: "en-GB", NoScript: true},
	} {
		v := o.signIn(t, "manager", profile)
		o.shortenHours(v)
		v.ExpectElement(`button[name="agreed"]`)
		v.ExpectText("Clara Neves")
		v.Check()
		v.SaveScreenshot("owner-ask-" + name)
		v.Go(o.buildAddress("/offer/versions/2"))
		v.ExpectElement(".changes")
		v.Check()
		v.SaveScreenshot("owner-ask-version-" + name)
	}
}

// restoreVersion opens the version with the shorter hours, checks its author and its differences, restores it, and
// undoes that.
func (o *ownerSite) restoreVersion(t *testing.T, v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/versions"))
	v.ExpectText("Version 3", "Marta Silva", "Current", "Version 1", "The business")
	v.Check()
	v.SaveScreenshot("owner-ask-versions")
	v.Press("Version 2")
	v.ExpectText("If you restore this version", "Inês · Opening hours", "Tuesday 12:00 – 17:00")
	v.Check()
	v.SaveScreenshot("owner-ask-version")
	v.Press("Restore this version")
	v.ExpectText("1 booking is affected", "Clara Neves")
	v.Press("Save anyway")
	v.ExpectText("Saved.", "Version 4")
	if !strings.Contains(o.offerText(t), "12:00-17:00") {
		t.Error("the old version is not restored")
	}
	v.Press("Undo")
	v.ExpectText("Saved.", "Version 5")
	if strings.Contains(o.offerText(t), "12:00-17:00") {
		t.Error("the restored version is not undone")
	}
}

// shortenHours saves the form in which Inês starts at noon on Tuesdays.
func (o *ownerSite) shortenHours(v *visitor.Visitor) {
	v.Go(o.buildAddress("/offer/team/s0"))
	v.PressElement(`[name="hours.mode"][value="own"]`)
	v.FillElement(`[name="hours.tue.0.from"]`, "12:00")
	v.PressElement(`form.offer .actions button`)
}
