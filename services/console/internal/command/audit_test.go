package command_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

// newEvent returns an event that occurs `minute` minutes after [consoletest.Epoch].
func newEvent(business uuid.UUID, typ event.Type, kind event.SubjectKind, minute int) event.Event {
	return event.Event{
		ID: uuid.New(), Type: typ, BusinessID: business, Subject: event.Subject{Kind: kind, ID: uuid.New()},
		At: consoletest.Epoch.Add(time.Duration(minute) * time.Minute), Actor: actor.Actor{Kind: actor.Owner},
		Sequence: 1,
		Data:     json.RawMessage(`{"id":"x"}`),
	}
}

// readAllEvents reads the audit log of the business harbor in pages of four events.
func readAllEvents(t *testing.T, w *consoletest.Fixture) []event.Event {
	t.Helper()
	var got []event.Event
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		var list event.List
		answer := w.Call(t, "GET", "/admin/businesses/harbor/events?limit=4&cursor="+cursor, "")
		if answer.Status != 200 || json.Unmarshal([]byte(answer.Body), &list) != nil || len(list.Events) > 4 ||
			pages > 20 {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		got, cursor = append(got, list.Events...), list.NextCursor
	}
	return got
}

func TestAuditLogMergesServices(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.in = consoletest.BuildManifest("harbor", "Harbor")
	harbor := uuid.MustParse(decode(t, s.mustRun("apply", "-f", "-", "-o", "json"))["id"].(string))
	want := 0
	for minute := range 12 { // events of the same minute are ordered by their ids
		for i, of := range []struct {
			events *consoletest.Events
			typ    event.Type
			kind   event.SubjectKind
		}{
			{&w.Catalog.Events, event.BusinessPublished, event.Business},
			{&w.Booking.Events, event.BookingCreated, event.Booking},
			{&w.Rental.Events, event.ReservationCreated, event.Reservation},
		} {
			if minute%(i+1) == 0 {
				of.events.Record(newEvent(harbor, of.typ, of.kind, minute),
					newEvent(uuid.New(), of.typ, of.kind, minute))
				want++
			}
		}
	}
	got := readAllEvents(t, w)
	seen := map[uuid.UUID]bool{}
	for i, e := range got {
		if seen[e.ID] || e.BusinessID != harbor || i > 0 && e.At.After(got[i-1].At) {
			t.Errorf("%+v is out of place", e)
		}
		seen[e.ID] = true
	}
	if len(got) != want {
		t.Errorf("%d events, want %d", len(got), want)
	}

	lines := strings.Split(strings.TrimSpace(s.mustRun("audit", "harbor")), "\n")
	if len(lines) != want+1 || !strings.Contains(lines[1], "2026-11-21T09:11:00Z") || !strings.Contains(lines[1],
		"owner") {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
	for filter, n := range map[string]int{"--type=booking.created": 6, "--subject=reservation": 4,
		"--from=2026-11-21T09:10:00Z": 3, "--to=2026-11-20": 0,
		"--to=2026-11-21": want, "--subject=" + got[0].Subject.ID.String(): 1} {
		list := decode(t, s.mustRun("audit", "harbor", filter, "-o", "json"))
		if found := fmt.Sprint(len(list["events"].([]any))); found != fmt.Sprint(n) {
			t.Errorf("%s: %s, want %d", filter, found, n)
		}
	}
	for limit, n := range map[string]int{"0": want, "1": 1, "7": 7, "1000": want} {
		if lines := strings.Split(strings.TrimSpace(s.mustRun("audit", "harbor", "--limit", limit)),
			"\n"); len(lines) != n+1 || !strings.Contains(lines[1], got[0].Subject.ID.String()) {
			t.Errorf("--limit %s: %d lines, want %d and the newest first:\n%s", limit, len(lines)-1, n,
				strings.Join(lines, "\n"))
		}
	}
	s.expectFailure(2, "--limit: -1", "audit", "harbor", "--limit", "-1")
	s.expectFailure(1, "type:", "audit", "harbor", "--type", "boat.sunk")
	s.expectFailure(1, "subject:", "audit", "harbor", "--subject", "boat")
	s.expectFailure(1, "from:", "audit", "harbor", "--from", "yesterday")
	if help := s.mustRun("audit", "--help"); !strings.Contains(help, "slotmesh audit harbor --from") {
		t.Errorf("the help has no example: %s", help)
	}
	w.StopRental()
	if a := w.Call(t, "GET", "/admin/businesses/harbor/events", ""); a.Status != 503 {
		t.Errorf("a list with a gap: %d %s", a.Status, a.Body)
	}
}
