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
	anna, ben    = uuid.New(), uuid.New()
	notifyNobody = false
	at10         = plan.Place{StartsAt: monday, EndsAt: monday.Add(time.Hour), StaffID: &anna}
	at11         = plan.Place{StartsAt: monday.Add(time.Hour), EndsAt: monday.Add(2 * time.Hour), StaffID: &anna}
	at10Ben      = plan.Place{StartsAt: monday, EndsAt: monday.Add(time.Hour), StaffID: &ben}
)

// newChange returns a change of a booking. The booking has the place at after the change, and had the
// place from before it.
func newChange(typ event.Type, status string, by actor.Kind, at plan.Place, from *plan.Place) plan.Change {
	return plan.Change{
		Event: event.Event{ID: uuid.New(), Type: typ, Actor: actor.Actor{Kind: by},
			Subject: event.Subject{Kind: event.Booking}},
		Subject: plan.Subject{Status: status, Email: "ada@example.com", StartsAt: at.StartsAt, EndsAt: at.EndsAt,
			StaffID: at.StaffID, FormerPlace: from},
	}
}

func newReschedule(by actor.Kind, from, to plan.Place) plan.Change {
	return newChange(event.BookingRescheduled, "confirmed", by, to, &from)
}

var harbour, station = plan.Location{ID: uuid.New(), Name: "Harbour"}, plan.Location{ID: uuid.New(), Name: "Station"}

// formerHarbour is the harbour with its former address as its name.
var formerHarbour = plan.Location{ID: harbour.ID, Name: "Kai 1, 20457 Hamburg"}

// newRelocation returns a change by the owner of the location of a booking.
func newRelocation(from, to *plan.Location) plan.Change {
	former := at10
	former.Location = from
	c := newChange(event.BookingRelocated, "confirmed", actor.Owner, at10, &former)
	c.Subject.Location = to
	return c
}

// withAddress makes a change state that the booking takes place at an address of the customer.
func withAddress(c plan.Change) plan.Change {
	c.Subject.Address = &struct{}{}
	return c
}

func withoutNotification(c plan.Change) plan.Change {
	c.Subject.Notify = &notifyNobody
	return c
}

func TestDraftBatchWritesOneCustomerMessage(t *testing.T) {
	t.Parallel()
	newCreated := func(by actor.Kind, status string) plan.Change {
		return newChange(event.BookingCreated, status, by, at10, nil)
	}
	confirmed := newChange(event.BookingConfirmed, "confirmed", actor.Owner, at10, nil)
	cancelled := newChange(event.BookingCancelled, "cancelled", actor.Owner, at10, nil)
	for name, c := range map[string]struct {
		changes []plan.Change
		want    []letter.Kind // of the customer's messages, after the last change
	}{
		"one move": {[]plan.Change{newReschedule(actor.Owner, at10, at11)},
			[]letter.Kind{letter.BookingRescheduled}},
		"a move and its undo": {[]plan.Change{newReschedule(actor.Owner, at10, at11),
			newReschedule(actor.Owner, at11, at10)}, nil},
		"another location": {[]plan.Change{newRelocation(&harbour, &station)}, []letter.Kind{letter.BookingRescheduled}},
		"another location and back": {[]plan.Change{newRelocation(&harbour, &station), newRelocation(&station, &harbour)},
			nil},
		"another address of the customer": {[]plan.Change{withAddress(newRelocation(&harbour, &harbour))},
			[]letter.Kind{letter.BookingRescheduled}},
		"another address, silently": {[]plan.Change{withoutNotification(withAddress(newRelocation(&harbour, &harbour)))},
			nil},
		"from the customer to the business and back to another address": {[]plan.Change{newRelocation(&harbour, &station),
			withAddress(newRelocation(&station, &harbour))}, []letter.Kind{letter.BookingRescheduled}},
		"to the customer and back to the business": {[]plan.Change{withAddress(newRelocation(&harbour, &station)),
			newRelocation(&station, &harbour)}, nil},
		"another address of the place": {[]plan.Change{newRelocation(&formerHarbour, &harbour)},
			[]letter.Kind{letter.BookingRescheduled}},
		"another address of the only place": {[]plan.Change{newRelocation(&formerHarbour, nil)},
			[]letter.Kind{letter.BookingRescheduled}},
		"moved, another address of the place, and back": {[]plan.Change{newReschedule(actor.Owner, at10, at11),
			newRelocation(&formerHarbour, nil), newReschedule(actor.Owner, at11, at10)},
			[]letter.Kind{letter.BookingRescheduled}},
		"another member": {[]plan.Change{newReschedule(actor.Owner, at10, at10Ben)},
			[]letter.Kind{letter.BookingRescheduled}},
		"nothing that the customer notices": {[]plan.Change{newReschedule(actor.Owner, at10, at10)}, nil},
		"two moves": {[]plan.Change{newReschedule(actor.Owner, at10, at11),
			newReschedule(actor.Owner, at11, at10Ben)}, []letter.Kind{letter.BookingRescheduled}},
		"moved and cancelled": {[]plan.Change{newReschedule(actor.Owner, at10, at11), cancelled},
			[]letter.Kind{letter.BookingCancelled}},
		"confirmed and moved": {[]plan.Change{confirmed, newReschedule(actor.Owner, at10, at11)},
			[]letter.Kind{letter.BookingConfirmed}},
		"confirmed, moved and back": {
			[]plan.Change{confirmed, newReschedule(actor.Owner, at10, at11), newReschedule(actor.Owner, at11, at10)},
			[]letter.Kind{letter.BookingConfirmed},
		},
		"booked and paid at once": {
			[]plan.Change{newCreated(actor.Page, "pending"), newChange(event.BookingConfirmed, "confirmed",
				actor.Provider,
				at10, nil)}, []letter.Kind{letter.BookingConfirmed},
		},
		"booked by the business and cancelled": {[]plan.Change{newCreated(actor.Owner, "confirmed"), cancelled}, nil},
		"booked by the customer and cancelled": {[]plan.Change{newCreated(actor.Page, "pending"), cancelled},
			[]letter.Kind{letter.BookingCancelled}},
		"silently moved": {[]plan.Change{withoutNotification(newReschedule(actor.Owner, at10, at11))}, nil},
		"moved and silently cancelled": {[]plan.Change{newReschedule(actor.Owner, at10, at11),
			withoutNotification(cancelled)}, nil},
		"silently moved and cancelled": {[]plan.Change{withoutNotification(newReschedule(actor.Owner, at10, at11)),
			cancelled}, []letter.Kind{letter.BookingCancelled}},
	} {
		drafts, _ := plan.DraftBatch(c.changes, owners)
		var got []letter.Kind
		for i, list := range drafts {
			for _, d := range list {
				if d.Kind == letter.OwnerNotice {
					continue
				}
				got = append(got, d.Kind)
				if last := c.changes[len(c.changes)-1].Event.ID; i != len(drafts)-1 || d.EventID != last {
					t.Errorf("%s: the message belongs to change %d", name, i)
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The business reschedules a booking several times before the messages are written. The customer gets
// one message if the time or the staff member differs at the end, otherwise none.
func TestDraftBatchComparesFinalState(t *testing.T) {
	t.Parallel()
	places := []plan.Place{at10, at11, at10Ben}
	rapid.Check(t, func(t *rapid.T) {
		current := rapid.IntRange(0, 2).Draw(t, "first")
		first := current
		var changes []plan.Change
		for range rapid.IntRange(1, 8).Draw(t, "moves") {
			to := rapid.IntRange(0, 2).Draw(t, "to")
			changes = append(changes, newReschedule(actor.Owner, places[current], places[to]))
			current = to
		}
		drafts, before := plan.DraftBatch(changes, nil)
		n := 0
		for _, list := range drafts {
			n += len(list)
		}
		if isDifferent := first != current; n > 1 || isDifferent != (n == 1) || *before != places[first] {
			t.Fatalf("%d messages from %d to %d", n, first, current)
		}
	})
}

func TestDraftBatchKeepsNoticesAndRefunds(t *testing.T) {
	t.Parallel()
	changes := []plan.Change{
		newReschedule(actor.Customer, at10, at11), newChange(event.PaymentRefunded, "confirmed", actor.Provider, at11,
			nil),
		newReschedule(actor.Customer, at11, at10Ben),
	}
	drafts, _ := plan.DraftBatch(changes, owners)
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
		{letter.BookingRescheduled, letter.OwnerNotice, letter.OwnerNotice},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
