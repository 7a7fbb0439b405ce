package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// named returns the context of a request with this Idempotency-Key.
func named(t *testing.T, key string) context.Context {
	return idempotency.With(t.Context(), idempotency.Request{Key: key})
}

func TestARepeatedSaleIsAnsweredAsTheFirst(t *testing.T) {
	t.Parallel()
	w := open(t, none)
	w.change(withGala(asItIs))
	client, business := w.client(), w.offer.ID
	first, err := client.SellTicket(named(t, "a"), business, tickets(vipID, 2))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := client.SellTicket(named(t, "a"), business, tickets(vipID, 2)); err != nil || !cmp.Equal(again,
		first) {
		t.Errorf("the same request: %+v, %v; want %+v", again, err, first)
	}
	if _, err := client.SellTicket(named(t, "a"), business, tickets(vipID, 1)); !fault.Is(err,
		fault.IdempotencyMismatch) {
		t.Errorf("another order under the key: %v", err)
	}
	if _, err := client.CancelTicket(named(t, "a"), business, first.ID, booking.Cancel{}); !fault.Is(err,
		fault.IdempotencyMismatch) {
		t.Errorf("another path under the key: %v", err)
	}
	w.change(withGala(func(e *catalog.Event) { e.Active = false }))
	if again, err := client.SellTicket(named(t, "a"), business, tickets(vipID, 2)); err != nil || !cmp.Equal(again,
		first) {
		t.Errorf("where nothing is sold any more: %+v, %v; want %+v", again, err, first)
	}
	if _, err := client.SellTicket(named(t, "b"), business, tickets(vipID, 2)); !fault.Is(err, fault.Conflict) {
		t.Errorf("a new key: %v", err)
	}
	for range 2 {
		cancelled, err := client.CancelTicket(named(t, "c"), business, first.ID, booking.Cancel{})
		if err != nil || cancelled.Status != booking.StatusCancelled {
			t.Errorf("cancel: %+v, %v", cancelled, err)
		}
	}
}

func TestARepeatedMoveIsAnsweredAsTheFirst(t *testing.T) {
	t.Parallel()
	w := open(t, none)
	id := w.book(w.key("write"), order("09:30", nil)).body.Booking.ID
	for range 2 {
		moved, err := w.client().Move(named(t, "a"), w.offer.ID, id, booking.MoveConfirm)
		if err != nil || moved.Status != booking.StatusConfirmed || moved.ID != id {
			t.Errorf("confirm: %+v, %v", moved, err)
		}
	}
	if _, err := w.client().Move(named(t, "b"), w.offer.ID, id, booking.MoveConfirm); !fault.Is(err, fault.Conflict) {
		t.Errorf("another key: %v", err)
	}
}

func TestARepeatedRequestForAKeyNamesTheKey(t *testing.T) {
	t.Parallel()
	w := open(t, none)
	wanted := booking.NewKey{Name: "site", Scope: booking.ScopeAll}
	made, err := w.client().CreateKey(named(t, "a"), w.offer.ID, wanted)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.client().CreateKey(named(t, "a"), w.offer.ID, wanted)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(fault.Of(err).Sentence, made.ID.String()) {
		t.Errorf("a repeated request: %v", err)
	}
	for range 2 {
		if err := w.client().RevokeKey(named(t, "r"), w.offer.ID, made.ID); err != nil {
			t.Error(err)
		}
	}
	if err := w.client().RevokeKey(named(t, "s"), w.offer.ID, uuid.New()); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	list, err := w.client().Keys(t.Context(), w.offer.ID, request.Page{})
	n := 0
	for _, k := range list.Keys {
		if k.Name == "site" {
			n++
		}
	}
	if n != 1 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
}

func TestAKeyThatIsUnreadableIsRefused(t *testing.T) {
	t.Parallel()
	w := open(t, none)
	var f *fault.Error
	_, err := w.client().CreateKey(named(t, "a b"), w.offer.ID, booking.NewKey{Name: "site", Scope: booking.ScopeAll})
	if !errors.As(err, &f) || f.Kind != fault.InvalidParameter || !strings.HasPrefix(f.Sentence, "Idempotency-Key:") {
		t.Error(err)
	}
}
