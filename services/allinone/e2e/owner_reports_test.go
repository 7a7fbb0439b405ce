package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// TestOwnersReadReportsInABrowser reads the reports as charts and tables, with the figures of the admin API, for
// several ranges of dates, and downloads them.
func TestOwnersReadReportsInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{platform: sharePlatform(t), chromium: visitor.Open(t)}
	o := p.openBusiness(t, "figures")
	o.sellTickets(t, "Ada Example", "Floor", 3)
	o.noteAttendance(t, "Bruno Costa", "no-show")
	o.noteAttendance(t, "Ada Example", "complete")
	for name, profile := range map[string]visitor.Profile{
		"owner": ownerVisitors["phone"], "manager": ownerVisitors["ar-desk-dark"],
		"desk": {Locale: "ar", Slow: true},
	} {
		t.Run("every page as "+name, func(t *testing.T) {
			t.Parallel()
			v := o.signIn(t, name, profile)
			for step, at := range map[string]string{
				"weeks": "", "months": "?by=month", "ahead": "?from=2027-02-22&to=2027-03-14&by=week",
				"services":  "?from=2027-02-22&to=2027-03-14&by=service",
				"members":   "?from=2027-02-22&to=2027-03-14&by=staff",
				"customers": "?from=2027-02-22&to=2027-03-14&by=customer_kind",
				"days":      "?by=day", "none": "?from=2026-01-01&to=2026-01-31", "wrong": "?from=2027-03-02&to=2027-03-01",
			} {
				v.Go(o.buildAddress("/reports" + at))
				v.ExpectElement("h1")
				v.AwaitLoad()
				v.Check()
				v.SaveScreenshot("reports-" + name + "-" + step)
			}
		})
	}
	t.Run("a visit", func(t *testing.T) {
		t.Parallel()
		o.readReports(t)
	})
	t.Run("staff", func(t *testing.T) {
		t.Parallel()
		v := o.signIn(t, "staff", visitor.Profile{Locale: "en-GB", Width: 1280})
		v.Go(o.buildAddress("/more"))
		if ways := visitor.Eval[int](v, `document.querySelectorAll('a[href$="/reports"]').length`); ways > 0 {
			t.Errorf("a member of the staff is shown %d ways to the reports", ways)
		}
		v.Go(o.buildAddress("/reports"))
		v.ExpectText("You don’t have access to this page")
	})
}

// noteAttendance confirms a customer's booking on the first day and makes a transition, such as complete or no-show.
func (o *ownerSite) noteAttendance(t *testing.T, customer, move string) {
	t.Helper()
	var list struct {
		Bookings []struct {
			ID           string
			CustomerName string `json:"customer_name"`
		}
	}
	o.callAdmin(t, http.MethodGet, "businesses/"+o.slug+"/bookings?from=2027-03-01&to=2027-03-01", nil).decode(t,
		http.StatusOK, &list)
	for _, b := range list.Bookings {
		if b.CustomerName == customer {
			o.callAdmin(t, http.MethodPost, "businesses/"+o.slug+"/bookings/"+b.ID+"/confirm", nil).checkStatus(t,
				http.StatusOK,
				"")
			o.callAdmin(t, http.MethodPost, "businesses/"+o.slug+"/bookings/"+b.ID+"/"+move, nil).checkStatus(t,
				http.StatusOK, "")
		}
	}
}

// readReports reads the reports as a viewer.
func (o *ownerSite) readReports(t *testing.T) {
	const dates = "from=2027-02-22&to=2027-03-14"
	var booked struct {
		Rows []struct {
			Bookings, Guests, Completed, Cancelled int
			NoShow                                 int `json:"no_show"`
		}
	}
	o.callAdmin(t, http.MethodGet, "businesses/"+o.slug+"/reports/bookings?"+dates, nil).decode(t, http.StatusOK,
		&booked)
	if len(booked.Rows) != 1 {
		t.Fatalf("%+v", booked.Rows)
	}
	var sale struct {
		Rows []struct {
			Kind  string
			Total json.Number
		}
	}
	o.callAdmin(t, http.MethodGet, "businesses/"+o.slug+"/reports/revenue?"+dates, nil).decode(t, http.StatusOK, &sale)
	if len(sale.Rows) != 2 || sale.Rows[0].Kind != "booking" || sale.Rows[1].Kind != "ticket" {
		t.Fatalf("%+v", sale.Rows)
	}
	v := o.signIn(t, "viewer", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/today"))
	v.Press("Reports")
	v.ExpectText("14 Dec 2026 – 1 Mar 2027", "Utilisation", "Inês", "Tomás")
	v.Press("12 months")
	v.ExpectText("1 Apr 2026 – 1 Mar 2027", "April 2026")
	v.Press("Other dates")
	v.Fill("From", "2027-02-22")
	v.Fill("To", "2027-03-14")
	v.Fill("Group by", "Week")
	v.Press("Show")
	r := booked.Rows[0]
	v.ExpectText("22 Feb 2027 – 14 Mar 2027", fmt.Sprintf("1 Mar 2027 %d %d %d %d", r.Bookings, r.Guests, r.NoShow,
		r.Cancelled),
		fmt.Sprintf("1 Mar 2027 %d %d 50%%", r.Completed, r.NoShow),
		fmt.Sprintf("1 Mar 2027 €%s €%s €", sale.Rows[0].Total, sale.Rows[1].Total), "8 Mar 2027 0 0 0 0")
	v.Check()
	file := visitor.Eval[string](v,
		`fetch(document.querySelector('a[href*="/reports/bookings.csv"]').href).then(r => r.text())`)
	if want := fmt.Sprintf("2027-03-01,api,%d,", r.Bookings); !strings.Contains(file, want) {
		t.Errorf("the file lacks %q:\n%s", want, file)
	}
	if drawn := visitor.Eval[int](v, `document.querySelectorAll("svg[role=img]").length`); drawn != 5 {
		t.Errorf("%d charts are drawn, want 5", drawn)
	}
	v.Fill("To", "2027-02-01")
	v.Press("Show")
	v.ExpectText("The last day is before the first.")
}
