package e2e

import (
	"maps"
	"net/http"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// TestOwnersPauseOnlineBookingsInABrowser pauses online bookings until a day and ends the pause. Today shows the
// pause to owners, and /info shows it to customers.
func TestOwnersPauseOnlineBookingsInABrowser(t *testing.T) {
	t.Parallel()
	chromium := visitor.Open(t)
	p := &pages{platform: sharePlatform(t), chromium: chromium}
	visitors := maps.Clone(ownerVisitors)
	visitors["de-plain"] = visitor.Profile{Locale: "de", NoScript: true} // the form works without scripts
	for name, profile := range visitors {
		t.Run("looks "+name, func(t *testing.T) {
			t.Parallel()
			o := p.openBusiness(t, "paused-"+name)
			v := o.signIn(t, "owner", profile)
			look := func(step, path, selector string) {
				v.Go(o.buildAddress(path))
				v.ExpectElement(selector)
				v.AwaitLoad()
				v.Check()
				v.SaveScreenshot("pause-" + name + "-" + step)
			}
			look("1-ask", "/pause", "input[name=until]")
			v.FillElement("input[name=until]", "2027-03-08")
			v.PressElement(`form[action$="/pause"] button`)
			v.ExpectElement(".notice.wrong")
			look("2-paused", "/pause", `form[action$="/pause/end"]`)
			look("3-today", "/today", ".notice.wrong")
		})
	}
	t.Run("desk", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "paused-desk").checkForbidden(t, "desk", "/pause")
	})
	t.Run("pause and end", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "paused-flow").pauseAndResume(t)
	})
}

// checkPaused checks whether /info reports a pause.
func (o *ownerSite) checkPaused(t *testing.T, want bool) {
	t.Helper()
	var info struct {
		Paused bool `json:"online_bookings_paused"`
	}
	o.do(t, http.MethodGet, o.PublicURL+"/api/public/"+o.slug+"/info", nil, nil).decode(t, http.StatusOK, &info)
	if info.Paused != want {
		t.Errorf("paused for customers: %t, want %t", info.Paused, want)
	}
}

func (o *ownerSite) pauseAndResume(t *testing.T) {
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/today"))
	v.Press("Pause online bookings")
	v.Fill("Open again on", "2027-02-01")
	v.Press("Pause")
	v.ExpectText("Choose a day after today.")
	v.Fill("Open again on", "2027-03-08")
	v.Press("Pause")
	v.ExpectText("They open again on")
	o.checkPaused(t, true)
	v.Press("Change or end this")
	v.Press("End the pause now")
	v.ExpectText("Online bookings are open again.")
	o.checkPaused(t, false)
}
