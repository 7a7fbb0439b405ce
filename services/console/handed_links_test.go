package console_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// TestOwnerGetsNoLinkToPersonElsewhere shows that an owner gets no sign-in link for a person who also belongs to
// another business or is an operator. With such a link the owner could use all rights of that person.
func TestOwnerGetsNoLinkToPersonElsewhere(t *testing.T) {
	t.Parallel()
	for name, promote := range map[string]string{
		"in another business": `{"business":"quay","email":"ana@example.com","role":"owner","mail":false}`,
		"as an operator":      `{"email":"ana@example.com","role":"operator","mail":false}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := consoletest.Start(t)
			harbors := w.AddToken(t, access.Member{BusinessID: publish(t, w), Role: access.Owner})
			uuid.MustParse(field(t,
				w.Call(t, "PUT", "/admin/businesses/quay", consoletest.BuildManifest("quay", "Quay")),
				"id").(string))
			const again = `{"email":"ana@example.com","role":"desk","mail":false}`
			for range 2 {
				if got := w.CallAs(t, harbors, "POST", harb+"/members", again); got.Status != 201 ||
					field(t, got, "link") == nil {
					t.Fatalf("an address that belongs to no other business: %d %s", got.Status, got.Body)
				}
			}
			promoted := w.Call(t, "POST", "/admin/invitations", promote)
			if promoted.Status != 201 {
				t.Fatalf("%d %s", promoted.Status, promoted.Body)
			}
			if got := w.CallAs(t, harbors, "POST", harb+"/members", again); got.Status != 201 ||
				field(t, got, "link") != nil {
				t.Errorf("afterwards: %d %s", got.Status, got.Body)
			}
			if got := pressButton(t, w, field(t, promoted, "link").(string), ""); got.Status != 303 {
				t.Errorf("the operator's link: %d", got.Status)
			}
		})
	}
}
