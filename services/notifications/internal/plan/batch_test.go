package plan_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
)

var (
	anna, ben = uuid.New(), uuid.New()
	silent    = false
	at10      = plan.Place{StartsAt: monday, EndsAt: monday.Add(time.Hour), StaffID: &anna}
	at11      = plan.Place{StartsAt: monday.Add(time.Hour), EndsAt: monday.Add(2 * time.Hour), StaffID: &anna}
	at10Ben   = plan.Place{StartsAt: monday, EndsAt: monday.Add(time.Hour), StaffID: &ben}
)

// changed is a change of a booking that leaves it at a place.
func changed(typ event.Type, status string, by actor.Kind, at plan.Place, from *plan.Place) plan.Change {
	return plan.Change{
		Event: event.Event{ID: uuid.New(), Type: typ, Actor: actor.Actor{Kind: by},
			Subject: event.Subject{Kind: event.Booking}},
		Subject: plan.Subject{Status: status, Email: "ada@example.com", StartsAt: at.StartsAt, EndsAt: at.EndsAt,
			StaffID: at.StaffID, From: from},
	}
}

func rescheduled(by actor.Kind, from, to plan.Place) plan.Change {
	return changed(event.BookingRescheduled, "confirmed", by, to, &from)
}

func silently(c plan.Change) plan.Change {
	c.Subject.Notify = &silent
	return c
}

func TestBatchGivesTheCustomerOneMessage(t *testing.T) {
	t.Parallel()
	created := func(by actor.Kind, status string) plan.Change {
		return changed(event.BookingCreated, status, by, at10, nil)
	}
	confirmed := changed(event.BookingConfirmed, "confirmed", actor.Owner, at10, nil)
	cancelled := changed(event.BookingCancelled, "cancelled", actor.Owner, at10, nil)
	for name, c := range map[string]struct {
		changes []plan.Change
		want    []letter.Kind // of the customer's messages, after the last change
	}{
		"one move": {[]plan.Change{rescheduled(actor.Owner, at10, at11)},
			[]letter.Kind{letter.BookingMoved}},
		"a move and its undo": {[]plan.Change{rescheduled(actor.Owner, at10, at11),
			rescheduled(actor.Owner, at11, at10)}, nil},
		"another member": {[]plan.Change{rescheduled(actor.Owner, at10, at10Ben)},
			[]letter.Kind{letter.BookingMoved}},
		"nothing that the customer notices": {[]plan.Change{rescheduled(actor.Owner, at10, at10)}, nil},
		"two moves": {[]plan.Change{rescheduled(actor.Owner, at10, at11),
			rescheduled(actor.Owner, at11, at10Ben)}, []letter.Kind{letter.BookingMoved}},
		"moved and cancelled": {[]plan.Change{rescheduled(actor.Owner, at10, at11), cancelled},
			[]letter.Kind{letter.BookingCancelled}},
		"confirmed and moved": {[]plan.Change{confirmed, rescheduled(actor.Owner, at10, at11)},
			[]letter.Kind{letter.BookingConfirmed}},
		"confirmed, moved and back": {
			[]plan.Change{confirmed, rescheduled(actor.Owner, at10, at11), rescheduled(actor.Owner, at11, at10)},
			[]letter.Kind{letter.BookingConfirmed},
		},
		"booked and paid at once": {
			[]plan.Change{created(actor.Page, "pending"), changed(event.BookingConfirmed, "confirmed", actor.Provider,
				at10, nil)}, []letter.Kind{letter.BookingConfirmed},
		},
		"booked by the business and cancelled": {[]plan.Change{created(actor.Owner, "confirmed"), cancelled}, nil},
		"booked by the customer and cancelled": {[]plan.Change{created(actor.Page, "pending"), cancelled},
			[]letter.Kind{letter.BookingCancelled}},
		"silently moved": {[]plan.Change{silently(rescheduled(actor.Owner, at10, at11))}, nil},
		"moved and silently cancelled": {[]plan.Change{rescheduled(actor.Owner, at10, at11),
			silently(cancelled)}, nil},
		"silently moved and cancelled": {[]plan.Change{silently(rescheduled(actor.Owner, at10, at11)),
			cancelled}, []letter.Kind{letter.BookingCancelled}},
	} {
		drafts, _ := plan.Batch(c.changes, owners)
		var got []letter.Kind
		for i, list := range drafts {
			for _, d := range list {
				if d.Kind == letter.OwnerNotice {
					continue
				}
				got = append(got, d.Kind)
				if last := c.changes[len(c.changes)-1].Event.ID; i != len(drafts)-1 || d.EventID != last {
					t.Errorf("%s: the message is of change %d", name, i)
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// However the business moves a booking within the delay, the customer gets one message if time or member differ at the
// end, otherwise none.
func TestBatchComparesTheStateAtTheEnd(t *testing.T) {
	t.Parallel()
	places := []plan.Place{at10, at11, at10Ben}
	rapid.Check(t, func(t *rapid.T) {
		was := rapid.IntRange(0, 2).Draw(t, "first")
		first := was
		var changes []plan.Change
		for range rapid.IntRange(1, 8).Draw(t, "moves") {
			to := rapid.IntRange(0, 2).Draw(t, "to")
			changes = append(changes, rescheduled(actor.Owner, places[was], places[to]))
			was = to
		}
		drafts, before := plan.Batch(changes, nil)
		n := 0
		for _, list := range drafts {
			n += len(list)
		}
		if differs := first != was; n > 1 || differs != (n == 1) || *before != places[first] {
			t.Fatalf("%d messages from %d to %d", n, first, was)
		}
	})
}

func TestBatchKeepsNoticesAndRefunds(t *testing.T) {
	t.Parallel()
	changes := []plan.Change{
		rescheduled(actor.Customer, at10, at11), changed(event.PaymentRefunded, "confirmed", actor.Provider, at11, nil),
		rescheduled(actor.Customer, at11, at10Ben),
	}
	drafts, _ := plan.Batch(changes, owners)
	var got [][]letter.Kind
	for _, list := range drafts {
		var kinds []letter.Kind
		for _, d := range list {
			kinds = append(kinds, d.Kind)
		}
		got = append(got, kinds)
	}
	want := [][]letter.Kind{
		{letter.OwnerNotice, letter.OwnerNotice}, {letter.Refunded},
		{letter.BookingMoved, letter.OwnerNotice, letter.OwnerNotice},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
