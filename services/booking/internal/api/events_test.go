package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventclient"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func (w *fixture) events(t *testing.T) *eventclient.Client {
	t.Helper()
	p := peer.New("booking", w.internal, telemetry.Discard(), peer.Timeout(2*time.Minute))
	t.Cleanup(p.Close)
	return eventclient.New(p, bookingclient.Events)
}

// sameJSON fails the test unless `want`, encoded as JSON, equals `got`.
func sameJSON(t *testing.T, name string, want any, got json.RawMessage) {
	t.Helper()
	var w, g any
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestEventsContainSubjects shows that an event has the subject as the owner's lists show it. The
// event also names the actor that the peer sent with the change.
func TestEventsContainSubjects(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	w.expect("book", w.book(key, newOrder("09:30", map[string]any{"form_data": map[string]any{"notes": "x"}})), 201, "")
	client := w.client()
	first, err := client.Bookings(t.Context(), w.offer.ID, booking.Filter{}, request.Page{})
	if err != nil || len(first.Bookings) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	who := actor.Actor{Kind: actor.Owner, ID: uuid.New()}
	confirmed, err := client.Transition(actor.With(t.Context(), who), w.offer.ID, first.Bookings[0].ID,
		booking.TransitionConfirm)
	if err != nil {
		t.Fatal(err)
	}
	created, err := client.CreateKey(actor.With(t.Context(), who), w.offer.ID,
		booking.NewKey{Name: "site", Scope: booking.ScopeAll})
	if err != nil {
		t.Fatal(err)
	}
	created.Secret = ""
	page, err := w.events(t).Events(t.Context(), "", 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	var types []event.Type
	for _, e := range page.Events {
		if e.BusinessID == w.offer.ID {
			types = append(types, e.Type)
		}
	}
	if diff := cmp.Diff([]event.Type{event.KeyCreated, event.BookingCreated, event.BookingConfirmed, event.KeyCreated},
		types); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	last := page.Events[len(page.Events)-3:]
	sameJSON(t, "created", first.Bookings[0], last[0].Data)
	sameJSON(t, "confirmed", confirmed, last[1].Data)
	sameJSON(t, "a key", created, last[2].Data)
	if last[0].Actor.Kind != actor.APIKey || last[0].Actor.ID == uuid.Nil || last[1].Actor != who ||
		last[2].Actor != who {
		t.Errorf("the actors of the events are %v, %v, %v", last[0].Actor, last[1].Actor, last[2].Actor)
	}
	if !last[1].At.Equal(now) || last[1].Sequence != 2 ||
		last[1].Subject != (event.Subject{Kind: event.Booking, ID: confirmed.ID}) {
		t.Errorf("%+v", last[1])
	}
	if second, err := w.events(t).Events(t.Context(), page.Next, 100, 0); err != nil || len(second.Events) != 0 ||
		second.Next != page.Next {
		t.Errorf("after all: %+v, %v", second, err)
	}
}

func TestAuditLogListsNewestFirst(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	for _, at := range []string{"09:30", "10:30", "11:30"} {
		w.clock.Advance(time.Minute)
		w.expect(at, w.book(key, newOrder(at, nil)), 201, "")
	}
	events := w.events(t)
	list := func(f event.Filter, p request.Page) event.List {
		t.Helper()
		found, err := events.List(t.Context(), w.offer.ID, f, p)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	all := list(event.Filter{Kind: event.Booking}, request.Page{}).Events
	if len(all) != 3 || !all[0].At.After(all[1].At) || !all[1].At.After(all[2].At) {
		t.Fatalf("%+v", all)
	}
	first := list(event.Filter{Type: event.BookingCreated}, request.Page{Limit: 2})
	rest := list(event.Filter{Type: event.BookingCreated}, request.Page{Limit: 2, Cursor: first.NextCursor})
	if diff := cmp.Diff(all, append(first.Events, rest.Events...)); diff != "" || rest.NextCursor != "" {
		t.Errorf("page by page (-want +got):\n%s", diff)
	}
	for name, f := range map[string]event.Filter{
		"of a subject": {Subject: all[1].Subject.ID}, "of a time": {From: all[1].At, To: all[0].At},
	} {
		if got := list(f, request.Page{}).Events; len(got) != 1 || got[0].ID != all[1].ID {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := list(event.Filter{Type: event.BookingCancelled}, request.Page{}).Events; got == nil || len(got) != 0 {
		t.Errorf("of another type: %+v", got)
	}
	if other, err := events.List(t.Context(), uuid.New(), event.Filter{}, request.Page{}); err != nil ||
		len(other.Events) != 0 {
		t.Errorf("of another business: %+v, %v", other, err)
	}
	for _, bad := range []event.Filter{{Kind: "boat"}, {Type: "boat.sunk"}} {
		if _, err := events.List(t.Context(), w.offer.ID, bad, request.Page{}); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := events.List(t.Context(), w.offer.ID, event.Filter{}, request.Page{Cursor: "x"}); !fault.Is(err,
		fault.InvalidParameter) {
		t.Errorf("a bad cursor: %v", err)
	}
}
