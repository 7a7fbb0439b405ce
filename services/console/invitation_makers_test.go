package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// invitingOwner is an owner who invites a friend. The field `token` is the id of the token that the owner used, if any.
type invitingOwner struct {
	id, token uuid.UUID
	session   string
}

// invitationMethods has functions that invite a known person as an owner, by an owner's session or by a token of that
// owner.
var invitationMethods = map[string]func(*testing.T, *consoletest.Fixture, *invitingOwner, access.Member, string){
	"session": func(t *testing.T, w *consoletest.Fixture, by *invitingOwner, _ access.Member, email string) {
		postForm(t, w, "/business/harbor/team/invite", by.session, url.Values{"email": {email}, "role": {"owner"}})
	},
	"token": func(t *testing.T, w *consoletest.Fixture, by *invitingOwner, owner access.Member, email string) {
		inviteWith(t, w, w.AddTokenCreatedBy(t, owner, by.id), email)
		by.token = findTokenID(t, w, string(access.Owner))
	},
	"token of a program": func(t *testing.T, w *consoletest.Fixture, by *invitingOwner, owner access.Member,
		email string) {
		inviteWith(t, w, createChildToken(t, w, connect(t, w, by.session, "laptop", owner.BusinessID)), email)
		by.token = findTokenID(t, w, "slotmesh login")
	},
}

func inviteWith(t *testing.T, w *consoletest.Fixture, token, email string) {
	t.Helper()
	if got := w.CallAs(t, token, "POST", harb+"/members",
		`{"email":"`+email+`","role":"owner","mail":false}`); got.Status != 201 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
}

// findTokenID returns the id of the token of harbor with this name.
func findTokenID(t *testing.T, w *consoletest.Fixture, name string) uuid.UUID {
	t.Helper()
	for _, listed := range field(t, w.Call(t, "GET", "/admin/tokens?business=harbor", ""), "tokens").([]any) {
		if token := listed.(map[string]any); token["name"] == name {
			return uuid.MustParse(token["id"].(string))
		}
	}
	t.Fatalf("no token is called %s", name)
	return uuid.Nil
}

// TestInvitationsEndWithInviterRights shows that an open invitation ends when its maker loses the right to invite.
// It can then no longer be accepted.
func TestInvitationsEndWithInviterRights(t *testing.T) {
	t.Parallel()
	for ended, end := range map[string]func(*testing.T, *consoletest.Fixture, *invitingOwner){
		"removed": func(t *testing.T, w *consoletest.Fixture, by *invitingOwner) {
			w.Call(t, "DELETE", harb+"/members/"+by.id.String(), "")
		},
		"demoted": func(t *testing.T, w *consoletest.Fixture, by *invitingOwner) {
			w.Call(t, "PATCH", harb+"/members/"+by.id.String(), `{"role":"viewer"}`)
		},
		"token revoked": func(t *testing.T, w *consoletest.Fixture, by *invitingOwner) {
			w.Call(t, "DELETE", "/admin/tokens/"+by.token.String(), "")
		},
	} {
		for way, invite := range invitationMethods {
			if ended == "token revoked" && way == "session" {
				continue
			}
			t.Run(ended+", by "+way, func(t *testing.T) {
				t.Parallel()
				w := consoletest.Start(t)
				owner := access.Member{BusinessID: publish(t, w), Role: access.Owner}
				w.AddSession(t, "olga@example.com", owner)
				friend := w.AddSession(t, "friend@example.com")
				by := invitingOwner{session: w.AddSession(t, "max@example.com", owner)}
				person, err := w.Store.FindCredentialsByEmail(t.Context(), "max@example.com")
				if err != nil {
					t.Fatal(err)
				}
				by.id = person.ID
				invite(t, w, &by, owner, "friend@example.com")
				list := field(t, w.Call(t, "GET", harb+"/invitations", ""), "invitations").([]any)
				if len(list) != 1 {
					t.Fatalf("%d invitations are open", len(list))
				}
				id := list[0].(map[string]any)["id"].(string)
				end(t, w, &by)
				if list := w.Call(t, "GET", harb+"/invitations", ""); strings.Contains(list.Body, id) {
					t.Errorf("the invitation is still open: %s", list.Body)
				}
				if got := pressButton(t, w, "/account/invitations/"+id+"/accept", friend); got.Status != 404 {
					t.Errorf("the friend accepts it: %d", got.Status)
				}
				if members := w.Call(t, "GET", harb+"/members", ""); strings.Contains(members.Body,
					"friend@example.com") {
					t.Errorf("the friend is a member: %s", members.Body)
				}
			})
		}
	}
}
