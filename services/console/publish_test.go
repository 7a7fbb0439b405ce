package console_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// staffManifest returns a manifest of harbor with two members, and adds `more` to the first one.
func staffManifest(more string) string {
	return consoletest.BuildManifest("harbor", "Harbor") + `staff:
  - {key: ana, name: Ana` + more + `}
  - {key: bo, name: Bo}
`
}

func TestAccountChangesNeedOperator(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	owner, _ := addTokenAs(t, w, id, access.Owner)
	inactive := consoletest.BuildManifest("harbor", "Harbor") + "account: {subscription: inactive}\n"
	closing := consoletest.BuildManifest("harbor", "Harbor") + "account: {removal_on: 2027-03-01}\n"
	sandbox := consoletest.BuildManifest("harbor", "Harbor") + "account: {sandbox: true}\n"
	for _, text := range []string{inactive, closing, sandbox} {
		expect(t, w.CallAs(t, owner, "PUT", harb, text), 403, "forbidden", "account")
	}
	if got := w.Call(t, "PUT", harb, inactive); got.Status != 200 {
		t.Fatalf("by an operator: %d %s", got.Status, got.Body)
	}
	expect(t, w.CallAs(t, owner, "PUT", harb, consoletest.BuildManifest("harbor", "Port")), 403, "forbidden", "account")
	expect(t, w.CallAs(t, owner, "POST", harb+"/rollback", `{"version":1}`), 403, "forbidden", "account")
	same := strings.Replace(inactive, "name: Harbor", "name: Port", 1)
	if got := w.CallAs(t, owner, "PUT", harb, same); got.Status != 200 {
		t.Errorf("a publish with an unchanged account: %d %s", got.Status, got.Body)
	}
	if got := w.CallAs(t, owner, "POST", harb+"/rollback", `{"version":2}`); got.Status != 200 {
		t.Errorf("back to a version with this account: %d %s", got.Status, got.Body)
	}
	w.Call(t, "PUT", harb, sandbox)
	expect(t, w.CallAs(t, owner, "PUT", harb, consoletest.BuildManifest("harbor", "Harbor")), 403, "forbidden",
		"account")
	spelled := consoletest.BuildManifest("harbor", "Harbor") + "account: {subscription: active}\n"
	w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Harbor"))
	if got := w.CallAs(t, owner, "PUT", harb, spelled); got.Status != 200 {
		t.Errorf("the default written out: %d %s", got.Status, got.Body)
	}
}

func TestPublishReplacesOnlyCheckedVersion(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	owner, _ := addTokenAs(t, w, id, access.Owner)
	text := consoletest.BuildManifest("harbor", "Port")
	expect(t, w.CallAs(t, owner, "PUT", harb, text, "If-Match", `"2"`), 412, "precondition_failed",
		"newest version is 1")
	expect(t, w.CallAs(t, owner, "PUT", harb, text, "If-Match", "soon"), 400, "invalid_parameter", "If-Match")
	expect(t, w.CallAs(t, owner, "PUT", harb, "slug: harbor"), 400, "invalid_parameter", "not valid")
	inactive := consoletest.BuildManifest("harbor", "Harbor") + "account: {subscription: inactive}\n"
	w.Catalog.SetBeforePublish(func() { w.Catalog.Put("harbor", inactive) }) // an operator publishes first
	expect(t, w.CallAs(t, owner, "PUT", harb, text), 403, "forbidden", "account")
	w.Call(t, "PUT", harb, text)
	w.Catalog.SetBeforePublish(func() { w.Catalog.Put("harbor", inactive) })
	expect(t, w.CallAs(t, owner, "POST", harb+"/rollback", `{"version":1}`), 403, "forbidden", "account")
}

func TestStaffMemberPublishesOnlyOwnTimeOff(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	w.Call(t, "PUT", harb, staffManifest(""))
	id := uuid.MustParse(field(t, w.Call(t, "PUT", harb, staffManifest("")), "id").(string))
	ana := uuid.NewSHA1(id, []byte("staff/ana"))
	token := w.AddToken(t, access.Member{BusinessID: id, Role: access.Staff, StaffID: ana})
	off := staffManifest(", overrides: [{date: 2027-03-01, hours: []}]")
	block := func(staff string) string {
		return "blocks: [{from: 2027-03-01T14:00, to: 2027-03-01T16:00" + staff + "}]\n"
	}
	for label, text := range map[string]string{
		"a name": staffManifest(", category: Stylist"),
		"another's": strings.Replace(staffManifest(""), "name: Bo",
			"name: Bo, overrides: [{date: 2027-03-01, hours: []}]", 1),
		"a price":          strings.Replace(off, "price: 40.00", "price: 50.00", 1),
		"a pause":          off + "bookings: {paused_until: 2027-03-01}\n",
		"time of everyone": off + block(""),
		"time of another":  off + block(", staff: [bo]"),
		"time of both":     off + block(", staff: [ana, bo]"),
		"a new business's": strings.Replace(off, "name: Harbor", "name: Mine", 1),
	} {
		if got := w.CallAs(t, token, "PUT", harb, text); got.Status != 403 {
			t.Errorf("%s: %d %s", label, got.Status, got.Body)
		}
	}
	if got := w.CallAs(t, token, "PUT", harb, off); got.Status != 200 {
		t.Errorf("a change of the member's own time: %d %s", got.Status, got.Body)
	}
	if got := w.CallAs(t, token, "PUT", harb, off+block(", staff: [ana]")); got.Status != 200 {
		t.Errorf("a block of the member's own time: %d %s", got.Status, got.Body)
	}
	w.Call(t, "PUT", harb, staffManifest("")+block(", staff: [ana, bo]"))
	if got := w.CallAs(t, token, "PUT", harb, staffManifest("")); got.Status != 403 {
		t.Errorf("a member removes a block of two members: %d %s", got.Status, got.Body)
	}
	expect(t, w.CallAs(t, token, "PUT", harb, off+"account: {subscription: inactive}\n"), 403, "forbidden", "account")
}
