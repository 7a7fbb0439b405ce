package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// ownerSections has a manifest line for each section that a manager may not change.
var ownerSections = map[string]string{
	"payments.accounts":  "payments: {providers: [stripe], accounts: {stripe: acct_other}}\n",
	"payments.providers": "payments: {providers: [stripe]}\n",
	"notifications":      "notifications: {owner_emails: [other@example.com]}\n",
	"page.embed_origins": "page: {embed_origins: [https://other.example]}\n",
	"privacy":            "privacy: {keep_customers_days: 1}\n",
	"managed_by":         "managed_by: a repository\n",
}

// TestManagerCannotChangeOwnerSections shows that a manager cannot change these sections by the admin API, the text
// editor, a rollback or an undo.
func TestManagerCannotChangeOwnerSections(t *testing.T) {
	t.Parallel()
	for section, line := range ownerSections {
		t.Run(section, func(t *testing.T) {
			t.Parallel()
			w := consoletest.Start(t)
			id := publish(t, w)
			manager, _ := addTokenAs(t, w, id, access.Manager)
			owner, _ := addTokenAs(t, w, id, access.Owner)
			mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
			plain := readText(t, w)
			expect(t, w.CallAs(t, manager, "PUT", harb, plain+line, "Content-Type", yaml), 403, "forbidden",
				section+": the role manager may not ")
			if got := postText(t, w, mia, "1", plain+line); got.Status != 422 || !strings.Contains(got.Body,
				section+": ") {
				t.Errorf("text editor: %d %s", got.Status, got.Body)
			}
			if got := w.CallAs(t, owner, "PUT", harb, plain+line, "Content-Type", yaml); got.Status != 200 {
				t.Fatalf("the owner: %d %s", got.Status, got.Body)
			}
			renamed := strings.Replace(plain+line, "name: Haircut", "name: Trim", 1)
			if got := w.CallAs(t, manager, "PUT", harb, renamed, "Content-Type", yaml); got.Status != 200 {
				t.Errorf("the manager, with the section as it is: %d %s", got.Status, got.Body)
			}
			expect(t, w.CallAs(t, manager, "POST", harb+"/rollback", `{"version":1}`), 403, "forbidden", section+": ")
			back := postForm(t, w, "/business/harbor/offer/versions/1", mia, url.Values{"over": {"3"}, "agreed": {"3"}})
			undone := postForm(t, w, "/business/harbor/offer/undo", mia,
				url.Values{"version": {"2"}, "section": {"services"}, "agreed": {"3"}})
			if section == "managed_by" { // pages cannot change an offer with managed_by
				return
			}
			if back.Status != 409 || !strings.Contains(back.Body, "your role may not change") {
				t.Errorf("page of the version: %d %s", back.Status, back.Body)
			}
			if undone.Status != 403 {
				t.Errorf("undo: %d %s", undone.Status, undone.Body)
			}
		})
	}
}

// TestFormsHideOwnerSectionsFromManager shows that forms hide fields of owners from a manager and ignore values of
// these fields.
func TestFormsHideOwnerSectionsFromManager(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	olga := w.AddSession(t, "olga@example.com", access.Member{BusinessID: id, Role: access.Owner})
	for path, field := range map[string]string{
		"/business/harbor/offer/privacy":  "privacy.keep_customers_days",
		"/business/harbor/offer/payments": "payments.providers",
		"/business/harbor/offer/page":     "page.embed_origins",
	} {
		if got := getPage(t, w, path, mia); got.Status != 200 || strings.Contains(got.Body, field) {
			t.Errorf("%s of the manager: %d, with %s", path, got.Status, field)
		}
		if got := getPage(t, w, path, olga); got.Status != 200 || !strings.Contains(got.Body, field) {
			t.Errorf("%s of the owner: %d, without %s", path, got.Status, field)
		}
	}
	form := url.Values{"base": {"1"}, "legal.terms": {"Pay first."}, "privacy.keep_customers_days": {"1"}}
	got := postForm(t, w, "/business/harbor/offer/privacy", mia, form)
	if text := readText(t, w); got.Status != 303 || strings.Contains(text, "keep_customers") ||
		!strings.Contains(text, "Pay first.") {
		t.Errorf("%d %s: %s", got.Status, got.Body, text)
	}
}

// TestPlanCountsCustomersToErase shows that a plan and a form count the customers whose data a shorter retention
// erases. Each customer counts once.
func TestPlanCountsCustomersToErase(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	for i, email := range []string{"ada@example.com", "ADA@example.com", "bob@example.com", "new@example.com"} {
		b := newBookingTomorrow("completed")
		days := -100
		if i == 3 {
			days = -5
		}
		b.CustomerEmail, b.StartsAt, b.EndsAt = email, b.StartsAt.AddDate(0, 0, days), b.EndsAt.AddDate(0, 0, days)
		w.Booking.Add(id, b)
	}
	owner, _ := addTokenAs(t, w, id, access.Owner)
	text := readText(t, w)
	for days, want := range map[string]int{"730": -1, "800": -1, "365": 0, "30": 2, "1": 3} {
		p := planManifest(t, w, owner, text+"privacy: {keep_customers_days: "+days+"}\n")
		if got := p.Erasure; (got == nil) != (want < 0) || got != nil && got.Customers != want {
			t.Errorf("%s days: %+v, want %d customers", days, got, want)
		}
	}
	olga := w.AddSession(t, "olga@example.com", access.Member{BusinessID: id, Role: access.Owner})
	form := url.Values{"base": {"1"}, "privacy.keep_customers_days": {"30"}}
	const privacy = "/business/harbor/offer/privacy"
	if got := postForm(t, w, privacy, olga, form); got.Status != 409 || !strings.Contains(got.Body,
		"Customers whose data will be deleted: 2") {
		t.Errorf("not asked: %d %s", got.Status, got.Body)
	}
	form.Set("agreed", "1")
	if got := postForm(t, w, privacy, olga, form); got.Status != 303 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestOwnersGetMailAboutRetentionAndPayments shows that owners get a mail when anyone shortens the retention or changes
// payment accounts. Managers get none.
func TestOwnersGetMailAboutRetentionAndPayments(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	w.AddSession(t, "olga@example.com", access.Member{BusinessID: id, Role: access.Owner})
	w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	text := readText(t, w)
	owner, _ := addTokenAs(t, w, id, access.Owner)
	w.Call(t, "PUT", harb, text+"privacy: {keep_customers_days: 800}\n", "Content-Type", yaml)
	w.CallAs(t, owner, "PUT", harb, text+"privacy: {keep_customers_days: 30}\n", "Content-Type", yaml)
	mail, link := w.AwaitMail(t, "olga@example.com", 1)
	if !strings.Contains(mail.Subject, "deleted sooner") || !strings.Contains(mail.Paragraphs[0], "800 → 30") ||
		link != "/business/harbor/offer/versions" {
		t.Errorf("%+v", mail)
	}
	w.Call(t, "PUT", harb, text+"payments: {providers: [stripe], accounts: {stripe: acct_other}}\n", "Content-Type",
		yaml)
	if mail, _ := w.AwaitMail(t, "olga@example.com", 2); !strings.Contains(mail.Subject,
		"payment account was changed") {
		t.Errorf("%+v", mail)
	}
	w.Call(t, "POST", harb+"/rollback", `{"version":1}`)
	w.AwaitMail(t, "olga@example.com", 3)
	if mails := w.Notifications.ListMails("mia@example.com"); len(mails) > 0 {
		t.Errorf("the manager got %+v", mails)
	}
}
