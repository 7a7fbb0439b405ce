package console_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// listTeamEvents returns the events about members and tokens of harbor that the owner of `token` may read, oldest
// first.
func listTeamEvents(t *testing.T, w *consoletest.Fixture, token string) []event.Event {
	t.Helper()
	var all []event.Event
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		var list event.List
		got := w.CallAs(t, token, "GET", harb+"/events?limit=3&cursor="+cursor, "")
		if err := json.Unmarshal([]byte(got.Body), &list); err != nil || got.Status != 200 || pages > 20 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		all, cursor = append(all, list.Events...), list.NextCursor
	}
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(e event.Event) bool {
		return e.Subject.Kind != event.Member && e.Subject.Kind != event.Token
	})
}

// TestTeamChangesAreEvents shows that each change of a member, their tokens and their sign-in methods is
// an event with its actor.
func TestTeamChangesAreEvents(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	ana := w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	const team = "/business/harbor/team"
	postForm(t, w, team+"/invite", ana, url.Values{"email": {"bo@example.com"}, "name": {"Bo <b>"}, "role": {"desk"}})
	_, link := w.AwaitMail(t, "bo@example.com", 1)
	postForm(t, w, link, "", url.Values{"new": {gulls}})
	bos, anas := uuid.MustParse(findMemberID(t, w, "bo@example.com")),
		uuid.MustParse(findMemberID(t, w, "ana@example.com"))
	postForm(t, w, team+"/"+bos.String(), ana, url.Values{"role": {"owner"}})
	bo := findSession(t, signInByPassword(t, w, "bo@example.com", gulls))
	addPasskey(t, w, bo, consoletest.NewDevice())
	bo = findCookie(postToOwner(t, w, "/account/password/remove", nil, sessionCookie, bo), sessionCookie)
	changed := postForm(t, w, "/account/password", bo, url.Values{"new": {herring}})
	if changed.Status != 303 {
		t.Fatalf("%d %s", changed.Status, changed.Body)
	}
	_, rest, _ := strings.Cut(getPage(t, w, "/account", findSession(t, changed)).Body, `action="/account/passkeys/`)
	path, _, _ := strings.Cut(rest, `"`)
	postToOwner(t, w, "/account/passkeys/"+path, nil, sessionCookie, findSession(t, changed))
	w.AddTokenCreatedBy(t, access.Member{BusinessID: id, Role: access.Manager}, bos)
	postForm(t, w, team+"/"+bos.String()+"/remove", ana, nil)

	reader := w.AddToken(t, access.Member{BusinessID: id, Role: access.Owner})
	type line struct {
		typ event.Type
		of  uuid.UUID
		by  uuid.UUID
	}
	events := listTeamEvents(t, w, reader)
	var got []line
	for _, e := range events {
		if e.Subject.ID == bos || e.Subject.Kind == event.Token && e.Type == event.TokenRevoked {
			of := e.Subject.ID
			if e.Subject.Kind == event.Token {
				of = uuid.Nil
			}
			got = append(got, line{e.Type, of, e.Actor.ID})
		}
		if text := string(e.Data); strings.Contains(text, "@") || strings.Contains(text, "Bo") || strings.Contains(text,
			"hash") {
			t.Errorf("an event contains personal data: %s", text)
		}
	}
	want := []line{
		{event.MemberInvited, bos, anas}, {event.MemberJoined, bos, bos}, {event.MemberPasswordChanged, bos, bos},
		{event.MemberChanged, bos, anas},
		{event.MemberPasskeyAdded, bos, bos}, {event.MemberPasswordRemoved, bos, bos},
		{event.MemberPasswordChanged, bos, bos},
		{event.MemberPasskeyRemoved, bos, bos}, {event.MemberRemoved, bos, anas}, {event.TokenRevoked, uuid.Nil, anas},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	for last, e := range findWrongSequences(events) {
		if e != last {
			t.Errorf("sequences of a subject: %d, want %d", e, last)
		}
	}
	page := getPage(t, w, team, ana)
	for _, text := range []string{"Bo &lt;b&gt;", "Invited · Front desk", "Role changed · Owner",
		"Removed from the team", "Access token revoked", "Added a passkey"} {
		if !strings.Contains(page.Body, text) {
			t.Errorf("the page of the team does not say %q: %s", text, page.Body)
		}
	}
	// Managers and the front desk read other events of the audit log, but not those of the team.
	for _, role := range []access.Role{access.Manager, access.FrontDesk} {
		token := w.AddToken(t, access.Member{BusinessID: id, Role: role})
		if list := listTeamEvents(t, w, token); len(list) > 0 {
			t.Errorf("a %s reads %v", role, list)
		}
		if a := w.CallAs(t, token, "GET", harb+"/events?type=member.invited", ""); a.Status != 200 ||
			strings.Contains(a.Body, "member.invited") {
			t.Errorf("a %s: %d %s", role, a.Status, a.Body)
		}
	}
	if a := w.CallAs(t, reader, "GET", harb+"/events?subject=member&type=member.removed", ""); strings.Count(a.Body,
		`"member.removed"`) != 1 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// findWrongSequences maps the expected sequence number of an event to its wrong one, for each event whose number is
// wrong.
func findWrongSequences(events []event.Event) map[int]int {
	seen, pairs := map[uuid.UUID]int{}, map[int]int{}
	for _, e := range events {
		if seen[e.Subject.ID]++; seen[e.Subject.ID] != e.Sequence {
			pairs[seen[e.Subject.ID]] = e.Sequence
		}
	}
	return pairs
}
