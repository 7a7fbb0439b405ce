package console_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/console"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// TestVerifiedMembersAreReported shows that other services can ask which addresses belong to verified members of
// a business or to operators.
func TestVerifiedMembersAreReported(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Viewer})
	w.AddSession(t, "olga@example.com", access.Member{Role: access.Operator})
	w.AddSession(t, "bo@example.com") // Bo is in no business
	owner := w.AddToken(t, access.Member{BusinessID: id, Role: access.Owner})
	if got := w.CallAs(t, owner, "POST", harb+"/members",
		`{"email":"stranger@example.com","role":"owner","mail":false}`); got.Status != 201 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	at := peer.New("console", w.InternalURL, telemetry.Discard(), peer.Timeout(testkit.MaxWait))
	t.Cleanup(at.Close)
	requests := []string{"Ana@Example.com", "olga@example.com", "bo@example.com", "stranger@example.com",
		"nobody@example.com", "", strings.Repeat("x", 300)}
	got, err := console.NewClient(at).VerifiedMembers(t.Context(), id, requests)
	if want := requests[:2]; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := console.NewClient(at).VerifiedMembers(t.Context(), id,
		make([]string, console.MaxAddresses+1)); err == nil {
		t.Error("a request with too many addresses is accepted")
	}
}
