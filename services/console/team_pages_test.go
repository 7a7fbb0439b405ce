package console_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

var linkShown = regexp.MustCompile(`/sign-in/link/[0-9a-f]{64}`)

// TestTeamPageManagesMembers shows that an owner can invite, promote and remove members, but not the last
// owner. A member whose role changes is signed out on all replicas at once.
func TestTeamPageManagesMembers(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	other := w.StartReplica(t)
	ana := w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	const team = "/business/harbor/team"
	for form, want := range map[string]string{
		"email=bo":                             "name@example.com",
		"email=bo%40example.com":               "Fill in this field",
		"email=bo%40example.com&role=operator": "Fill in this field",
		"email=bo%40example.com&role=staff":    "Choose the linked calendar",
		"email=ana%40example.com&role=desk":    "belongs to the team already",
	} {
		values, _ := url.ParseQuery(form)
		if got := postForm(t, w, team+"/invite", ana, values); got.Status/100 != 4 || !strings.Contains(got.Body,
			want) {
			t.Errorf("%s: %d %s", form, got.Status, got.Body)
		}
	}
	invited := postForm(t, w, team+"/invite", ana, url.Values{"email": {"Bo@example.com"}, "name": {"Bo <b>"},
		"role": {"desk"}})
	if invited.Status != 200 || !strings.Contains(invited.Body, consoletest.OwnerURL+"/sign-in/link/") ||
		!strings.Contains(invited.Body, "Invitation sent by email") {
		t.Fatalf("%d %s", invited.Status, invited.Body)
	}
	bo := findSession(t, pressButton(t, w, linkShown.FindString(invited.Body), ""))
	member := team + "/" + findMemberID(t, w, "bo@example.com")
	if got := getPage(t, w, team, ana); got.Status != 200 || !strings.Contains(got.Body, "Bo &lt;b&gt;") ||
		!strings.Contains(got.Body, "Front desk") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := getPage(t, w, "/business/harbor/settings", bo); got.Status != 200 || strings.Contains(got.Body, team) {
		t.Errorf("a person who may not see the team gets a link to it: %d", got.Status)
	}
	if got := getPage(t, w, "/business/harbor/settings", ana); !strings.Contains(got.Body, `"`+team+`"`) {
		t.Errorf("an owner is not shown the way to the team: %s", got.Body)
	}
	anas := team + "/" + findMemberID(t, w, "ana@example.com")
	for path, form := range map[string]url.Values{anas: {"role": {"desk"}}, anas + "/remove": nil} {
		if got := postForm(t, w, path, ana, form); got.Status != 409 || !strings.Contains(got.Body,
			"This is the last owner. Make somebody else an owner first.") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	if got := postForm(t, w, member, ana, url.Values{"role": {"owner"}}); got.Status != 303 ||
		got.Header.Get("Location") != team+"?done=team_changed" {
		t.Fatalf("promoted: %d %s", got.Status, got.Body)
	}
	for _, replica := range []*consoletest.Fixture{w, other} {
		if got := getPage(t, replica, team, bo); got.Status != 303 || got.Header.Get("Location") != "/sign-in" {
			t.Errorf("a promoted member is still signed in: %d", got.Status)
		}
	}
	bo = w.AddSession(t, "bo@example.com")
	for _, step := range []struct {
		path string
		form url.Values
	}{{anas, url.Values{"role": {"viewer"}}}, {anas + "/remove", nil}} {
		ana := w.AddSession(t, "ana@example.com")
		if got := postForm(t, other, step.path, bo, step.form); got.Status != 303 {
			t.Errorf("%s: %d %s", step.path, got.Status, got.Body)
		}
		for _, replica := range []*consoletest.Fixture{w, other} {
			if got := getPage(t, replica, "/account", ana); got.Status != 303 {
				t.Errorf("%s: still signed in: %d", step.path, got.Status)
			}
		}
	}
	got := getPage(t, w, team+"?done=team_removed", bo)
	if list, happened, _ := strings.Cut(got.Body, `id="history"`); strings.Contains(list, "ana@") ||
		!strings.Contains(happened, "ana@") || !strings.Contains(got.Body, "Removed from the team") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestTeamPageWithdrawsInvitations shows that an owner who invites a known person gets no link, and can
// withdraw the invitation on the page of the team.
func TestTeamPageWithdrawsInvitations(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	ana := w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	w.AddSession(t, "bo@example.com")
	const team = "/business/harbor/team"
	invited := postForm(t, w, team+"/invite", ana, url.Values{"email": {"bo@example.com"}, "role": {"desk"}})
	if invited.Status != 200 || strings.Contains(invited.Body, "/sign-in/link/") || !strings.Contains(invited.Body,
		"joins after accepting") {
		t.Fatalf("%d %s", invited.Status, invited.Body)
	}
	withdraw := regexp.MustCompile(`action="(` + team +
		`/invitations/[0-9a-f-]+/withdraw)"`).FindStringSubmatch(getPage(t,
		w, team, ana).Body)
	if withdraw == nil {
		t.Fatal("the page of the team does not list the invitation")
	}
	got := pressButton(t, w, withdraw[1], ana)
	page := getPage(t, w, got.Header.Get("Location"), ana)
	if got.Status != 303 || !strings.Contains(page.Body, "The invitation is withdrawn.") || strings.Contains(page.Body,
		"bo@") {
		t.Errorf("%d %s", got.Status, page.Body)
	}
}
