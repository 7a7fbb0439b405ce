package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// TestOwnersManageCustomersInABrowser finds a customer, books for her again, exports her data, and erases it. Data
// about future bookings stays until the owner confirms its erasure, too.
func TestOwnersManageCustomersInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{platform: sharePlatform(t), chromium: visitor.Open(t)}
	for name, profile := range ownerVisitors {
		t.Run("every page "+name, func(t *testing.T) {
			t.Parallel()
			o := p.openBusiness(t, "clients-"+name)
			v := o.signIn(t, "manager", profile)
			for step, at := range map[string]string{"list": "/customers", "none": "/customers?query=nobody",
				"one": "/customers/one?email=ada@example.com"} {
				v.Go(o.buildAddress(at))
				v.ExpectElement("h1")
				v.AwaitLoad()
				v.Check()
				v.SaveScreenshot("customers-" + name + "-" + step)
			}
			v.Go(o.buildAddress("/customers/one?email=nobody@example.com"))
			v.ExpectElement(".empty")
			if erases := visitor.Eval[int](v,
				`document.querySelectorAll('form[action$="/erase"]').length`); erases > 0 {
				t.Error("a manager is offered to erase")
			}
		})
	}
	t.Run("a customer's life", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "clients").manageCustomer(t)
	})
	t.Run("staff", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "clients-viewer").checkForbidden(t, "viewer", "/customers")
	})
}

// manageCustomer finds a customer, books for her, exports her data and erases it. The four other bookings have the
// address of another customer.
func (o *ownerSite) manageCustomer(t *testing.T) {
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
	cut := o.idsByName(t, o.slug, "services")["Cut"]
	o.book(t, o.slug, o.platform.createKey(t, o.slug, "write"),
		newOrder(cut, "2027-03-03", "09:00").withField("customer_name",
			"Eva Lind").withField("customer_email", "eva@example.com")).checkStatus(t, http.StatusCreated, "")
	v.Go(o.buildAddress("/customers"))
	v.ExpectText("ada@example.com", "4 bookings", "eva@example.com", "one booking")
	v.Fill("Find a customer", "LIND")
	v.Press("Show")
	v.Await("only she is listed",
		`document.querySelectorAll(".row").length === 1 && location.search.includes("query=LIND")`)
	v.Press("Eva Lind")
	v.ExpectText("eva@example.com", "Cut", "3 Mar 2027", "Lifetime value €40.00", "Messages")
	export := visitor.Eval[string](v, `fetch(document.querySelector('a[href*="/export"]').href).then(r => r.text())`)
	if !strings.Contains(export, `"email": "eva@example.com"`) || !strings.Contains(export, `"Eva Lind"`) ||
		strings.Contains(export, "ada@") {
		t.Errorf("the export: %s", export)
	}
	v.Press("Book again")
	v.ExpectElement("input[name=people]")
	v.AwaitLoad()
	if name, email := v.FieldValue("Customer"), v.FieldValue("Email"); name != "Eva Lind" ||
		email != "eva@example.com" ||
		v.FieldValue("Service") != cut {
		t.Errorf("the form says %q, %q, %q", name, email, v.FieldValue("Service"))
	}
	v.Fill("Date", "2027-03-03")
	v.Fill("Time", "11:00")
	v.Press("Book")
	v.ExpectText("Booked.")
	v.Go(o.buildAddress("/customers/one?email=EVA@example.com"))
	v.Press("Delete customer")
	v.ExpectText("2 bookings", "Upcoming bookings keep the customer")
	v.Check()
	v.Press("Delete for good")
	v.ExpectText("There was nothing to delete", "2 things lie ahead and were kept")
	v.Check()
	v.Press("Delete customer")
	v.Press("Also delete from upcoming bookings")
	v.Press("Delete for good")
	v.ExpectText("Deleted: 2 bookings")
	v.Go(o.buildAddress("/customers"))
	v.ExpectText("ada@example.com")
	v.ExpectNoText("eva@example.com", "Eva Lind")
}
