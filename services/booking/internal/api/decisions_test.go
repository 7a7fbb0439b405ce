package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

const (
	deskEmail  = "Desk@harbor.example"
	ownerEmail = "owner@harbor.example"
)

// decider is a recipient of a notice with the link to a booking.
type decider struct {
	*fixture
	client   *bookingclient.Decisions
	business uuid.UUID
	id       uuid.UUID
	token    string
}

// newDecider lists two addresses for notices and returns the first of them, with the link to the booking `id`.
func (w *fixture) newDecider(id uuid.UUID) *decider {
	w.t.Helper()
	w.change(func(o *catalog.Snapshot) { o.Notifications.OwnerEmails = []string{deskEmail, ownerEmail} })
	p := peer.New("booking", w.internal, telemetry.Discard(), peer.Timeout(2*time.Minute))
	w.t.Cleanup(p.Close)
	d := &decider{w, bookingclient.NewDecisions(p), w.offer.ID, id, ""}
	d.token = d.tokenOf(strings.ToLower(deskEmail))
	return d
}

// tokenOf returns the token of the link in the notice to the given address.
func (d *decider) tokenOf(email string) string {
	d.t.Helper()
	url, err := d.client.Link(d.t.Context(), d.business, booking.DecisionRecipient{Booking: d.id, Slug: "harbor",
		Email: email})
	if err != nil {
		d.t.Fatal(err)
	}
	token, isLink := strings.CutPrefix(url, pagesURL+"/b/harbor/decide/")
	if !isLink || !link.IsDecisionToken(token) {
		d.t.Fatalf("the link is %s", url)
	}
	return token
}

func (d *decider) read(token string) *booking.Decision {
	d.t.Helper()
	decision, err := d.client.Read(d.t.Context(), d.business, token)
	if err != nil {
		d.t.Fatal(err)
	}
	return decision
}

func (d *decider) decide(token, transition string, sequence int) error {
	return d.client.Decide(d.t.Context(), d.business, booking.Decide{Token: token, Sequence: sequence,
		Transition: transition})
}

// changeEvents executes a statement for the events.
func (d *decider) changeEvents(sql string) {
	d.t.Helper()
	if _, err := d.pool.Exec(d.t.Context(), sql); err != nil {
		d.t.Fatal(err)
	}
}

// TestEventOfCancellationHasReason shows that the business's reason is in the event of a cancellation, by a link and by
// the owner, and that a reason that is too long or is not text changes nothing.
func TestEventOfCancellationHasReason(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", booking.MaxReason)
	for reason, want := range map[string]any{" Anna is ill.\r\nSorry! ": "Anna is ill.\nSorry!", "": nil, long: long} {
		for name, cancel := range map[string]func(*decider) error{
			"by link": func(d *decider) error {
				return d.client.Decide(t.Context(), d.business, booking.Decide{Token: d.token, Reason: reason,
					Sequence: d.read(d.token).Booking.Sequence, Transition: booking.TransitionCancel})
			},
			"by the owner": func(d *decider) error {
				_, err := d.fixture.client().Cancel(t.Context(), d.business, d.id, booking.Cancel{Reason: reason})
				return err
			},
		} {
			w := open(t, noLimits)
			d := w.newDecider(w.mustBook(nil))
			for _, invalid := range []string{long + "!", "a\x00"} {
				_, err := w.client().Cancel(t.Context(), d.business, d.id, booking.Cancel{Reason: invalid})
				if !fault.Is(err, fault.InvalidParameter) {
					t.Errorf("an invalid reason: %v", err)
				}
			}
			if err := cancel(d); err != nil {
				t.Fatal(err)
			}
			page, err := w.events(t).Events(t.Context(), "", 100, 0)
			if err != nil {
				t.Fatal(err)
			}
			var data map[string]any
			last := page.Events[len(page.Events)-1]
			if err := json.Unmarshal(last.Data, &data); err != nil || last.Type != event.BookingCancelled ||
				data["cancel_reason"] != want || data["status"] != "cancelled" {
				t.Errorf("%s: %s has the reason %v, want %v; %v", name, last.Type, data["cancel_reason"], want, err)
			}
		}
	}
}

// TestRecipientDecidesByLink shows that each recipient of a notice sees the booking and decides about it once. After
// the decision, the links of both show who decided, and the event names the recipient.
func TestRecipientDecidesByLink(t *testing.T) {
	t.Parallel()
	for transition, status := range map[string]string{booking.TransitionConfirm: "confirmed",
		booking.TransitionCancel: "cancelled"} {
		w := open(t, noLimits)
		d := w.newDecider(w.mustBook(nil))
		first := d.read(d.token)
		if !first.IsOpen || first.Made != nil || first.Booking.ID != d.id || first.Booking.CustomerEmail == "" {
			t.Fatalf("before the decision: %+v", first)
		}
		if err := d.decide(d.token, transition, first.Booking.Sequence); err != nil {
			t.Fatal(err)
		}
		own, others := d.read(d.token), d.read(d.tokenOf(ownerEmail))
		want := &booking.MadeDecision{At: w.clock.Now().UTC(), By: booking.DecidedByYou}
		if diff := cmp.Diff(want, own.Made); diff != "" || own.IsOpen || own.Booking.Status != status {
			t.Errorf("own link: %+v (-want +got):\n%s", own.Booking.Status, diff)
		}
		want.By, want.Email = booking.DecidedByRecipient, "D…@harbor.example"
		if diff := cmp.Diff(want, others.Made); diff != "" {
			t.Errorf("the link of the other recipient (-want +got):\n%s", diff)
		}
		for _, again := range []string{booking.TransitionConfirm, booking.TransitionCancel} {
			if err := d.decide(d.tokenOf(ownerEmail), again, own.Booking.Sequence); !fault.Is(err, fault.Conflict) {
				t.Errorf("%s after %s: %v", again, transition, err)
			}
		}
		recipient := link.RecipientID(d.business, deskEmail)
		if n := w.countOf(`SELECT count(*) FROM events WHERE subject_id = $1 AND actor_kind = 'owner' AND actor_id = $2`,
			d.id, recipient); n != 1 {
			t.Errorf("%d events of the recipient", n)
		}
	}
}

// TestDecisionsShowOtherAuthors shows who decided if no recipient did.
func TestDecisionsShowOtherAuthors(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	d := w.newDecider(w.mustBook(nil))
	ctx := actor.With(t.Context(), actor.Actor{Kind: actor.Owner, ID: uuid.New()})
	if _, err := w.client().Transition(ctx, d.business, d.id, booking.TransitionConfirm); err != nil {
		t.Fatal(err)
	}
	if made := d.read(d.token).Made; made == nil || made.By != booking.DecidedByTeam {
		t.Errorf("signed in: %+v", made)
	}
	d.changeEvents(`UPDATE events SET actor_kind = 'customer', actor_id = NULL WHERE type = 'booking.confirmed'`)
	if made := d.read(d.token).Made; made == nil || made.By != booking.DecidedByCustomer {
		t.Errorf("the customer: %+v", made)
	}
	d.changeEvents(`UPDATE events SET actor_kind = 'system' WHERE type = 'booking.confirmed'`)
	if made := d.read(d.token).Made; made == nil || made.By != booking.DecidedBySystem {
		t.Errorf("automatically: %+v", made)
	}
	d.changeEvents(`DELETE FROM events`)
	if d := d.read(d.token); d.Made != nil || d.IsOpen {
		t.Errorf("without events: %+v", d.Made)
	}
}

// TestInvalidDecisionLinksGetSameFault shows that a link reveals nothing and does nothing if it was changed, belongs to
// another business or another purpose, or if its recipient no longer gets notices.
func TestInvalidDecisionLinksGetSameFault(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	d := w.newDecider(w.mustBook(nil))
	sequence := d.read(d.token).Booking.Sequence
	customer, _ := link.NewToken()
	stranger := d.tokenOf("stranger@example.com")
	expectUnknown := func(name string, business uuid.UUID, token string) {
		t.Helper()
		_, errRead := d.client.Read(t.Context(), business, token)
		errWrite := d.client.Decide(t.Context(), business, booking.Decide{Token: token, Sequence: sequence,
			Transition: booking.TransitionConfirm})
		for _, err := range []error{errRead, errWrite} {
			if !fault.Is(err, fault.NotFound) || err.Error() != link.NewNotFoundFault().Error() {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	changed := []byte(d.token)
	changed[0] ^= 1
	expectUnknown("changed", d.business, string(changed))
	expectUnknown("a customer's token", d.business, customer)
	expectUnknown("of an address that is not listed", d.business, stranger)
	expectUnknown("of another business", uuid.New(), d.token)
	w.change(func(o *catalog.Snapshot) { o.Notifications.OwnerEmails = []string{ownerEmail} })
	expectUnknown("of a removed address", d.business, d.token)
	w.clock.Advance(60 * 24 * time.Hour)
	if _, err := d.client.Read(t.Context(), d.business, d.tokenOf(ownerEmail)); !fault.Is(err, fault.NotFound) {
		t.Errorf("long after the booking: %v", err)
	}
	if n := w.count(`SELECT count(*) FROM bookings WHERE status = 'pending'`); n != 1 {
		t.Errorf("%d bookings are pending", n)
	}
}

// TestDecisionNeedsNewestOfferAndState shows that the transaction that writes checks the permission and the state: a
// stale list of addresses permits nothing, a page that shows an earlier state decides nothing, and nothing is decided
// after the start.
func TestDecisionNeedsNewestOfferAndState(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	d := w.newDecider(w.mustBook(nil))
	sequence := d.read(d.token).Booking.Sequence
	if err := d.decide(d.token, booking.TransitionConfirm, sequence+1); !fault.Is(err, fault.Conflict) {
		t.Errorf("of another state: %v", err)
	}
	if err := d.decide(d.token, booking.TransitionComplete, sequence); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("another transition: %v", err)
	}
	// Catalog has published a version without the address, and booking knows its number, but reads the old version.
	if err := w.store.StorePublished(t.Context(), d.business, w.offer.Version+1); err != nil {
		t.Fatal(err)
	}
	if err := d.decide(d.token, booking.TransitionConfirm, sequence); !fault.Is(err, fault.AvailabilityUnverified) {
		t.Errorf("by a stale offer: %v", err)
	}
	w.change(func(*catalog.Snapshot) {})
	w.clock.Set(d.read(d.token).Booking.StartsAt)
	if err := d.decide(d.token, booking.TransitionConfirm, sequence); !fault.Is(err, fault.Conflict) {
		t.Errorf("at the start: %v", err)
	}
	if d := d.read(d.token); d.IsOpen || d.Made != nil || d.Booking.Status != booking.StatusPending {
		t.Errorf("at the start: %+v", d)
	}
}

// TestOneDecisionWins shows that of many concurrent decisions about a booking, exactly one is made.
func TestOneDecisionWins(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	d := w.newDecider(w.mustBook(nil))
	sequence, other := d.read(d.token).Booking.Sequence, d.tokenOf(ownerEmail)
	var (
		group sync.WaitGroup
		made  atomic.Int32
	)
	for i := range 8 {
		group.Go(func() {
			token, transition := d.token, booking.TransitionConfirm
			if i%2 == 0 {
				token, transition = other, booking.TransitionCancel
			}
			err := d.client.Decide(context.Background(), d.business, booking.Decide{Token: token, Sequence: sequence,
				Transition: transition})
			if err == nil {
				made.Add(1)
			} else if !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("%d decisions", n)
	}
}

// TestDecliningByLinkRefundsAll shows that the page states the full refund of a paid booking, although the cancellation
// policy gives less, and that declining starts it.
func TestDecliningByLinkRefundsAll(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	s.change(func(o *catalog.Snapshot) { o.Bookings.AutoConfirm = false })
	id, _ := s.buyPaid(f, "09:30")
	s.clock.Advance(24 * time.Hour)
	d := s.newDecider(id)
	open := d.read(d.token)
	if open.Refund != "40.00" {
		t.Errorf("the page states %s", open.Refund)
	}
	if err := d.decide(d.token, booking.TransitionCancel, open.Booking.Sequence); err != nil {
		t.Fatal(err)
	}
	s.expectRefund("declined", id, "0.00", &booking.Refund{Amount: "40.00", Percent: 100,
		Status: booking.RefundPending})
}
