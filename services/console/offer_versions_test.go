package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

// TestRestoreVersionAsksAboutConflicts shows that a return to an old version asks about affected bookings, as
// each form does. It is refused if the person compared the old version with one that is no longer the newest.
func TestRestoreVersionAsksAboutConflicts(t *testing.T) {
	t.Parallel()
	w := newAffectedBusiness(t)
	w.expectSaved(t, newHaircutForm("47", "agreed", "1"), 2)
	w.Catalog.Record(event.Event{
		ID: uuid.New(), Type: event.BusinessPublished, BusinessID: w.id, Subject: event.Subject{Kind: event.Business,
			ID: w.id}, At: consoletest.Epoch,
		Actor: actor.Actor{Kind: actor.System}, Data: []byte(`{"version": 2}`),
	})
	const versions = "/business/harbor/offer/versions"
	list := getPage(t, w.Fixture, versions, w.mia)
	if list.Status != 200 || strings.Count(list.Body, "· Automatic") != 1 || !strings.Contains(list.Body,
		versions+"/1") {
		t.Errorf("%d %s", list.Status, list.Body)
	}
	if one := getPage(t, w.Fixture, versions+"/1", w.mia); !strings.Contains(one.Body, "Haircut · Price") ||
		!strings.Contains(one.Body, "Restore this version") {
		t.Errorf("what differs: %d %s", one.Status, one.Body)
	}
	if now := getPage(t, w.Fixture, versions+"/2", w.mia); !strings.Contains(now.Body,
		"This is the live version.") ||
		strings.Contains(now.Body, "Restore this version") {
		t.Errorf("the newest: %d %s", now.Status, now.Body)
	}
	for _, none := range []string{"/9", "/0", "/x"} {
		if got := getPage(t, w.Fixture, versions+none, w.mia); got.Status != 404 {
			t.Errorf("%s: %d", none, got.Status)
		}
	}
	take := func(form url.Values) consoletest.Answer { return postForm(t, w.Fixture, versions+"/1", w.mia, form) }
	if got := take(url.Values{"over": {"2"}}); got.Status != 409 || !strings.Contains(got.Body,
		"1 booking is affected") || w.countVersions(t) != 2 {
		t.Errorf("not asked: %d %s", got.Status, got.Body)
	}
	if got := take(url.Values{"over": {"1"}, "agreed": {"2"}}); got.Status != 409 || !strings.Contains(got.Body,
		"This was changed a moment ago") || w.countVersions(t) != 2 {
		t.Errorf("a restore confirmed for another version: %d %s", got.Status, got.Body)
	}
	if got := take(url.Values{"over": {"2"}, "agreed": {"2"}}); got.Status != 303 ||
		!strings.HasSuffix(got.Header.Get("Location"), "saved=3") {
		t.Errorf("taken back: %d %s", got.Status, got.Body)
	}
	if text := w.Call(t, "GET", harb, "", "Accept", yaml).Body; text != consoletest.BuildManifest("harbor", "Harbor") {
		t.Errorf("the restored manifest differs: %s", text)
	}
}
