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

// withKey returns the context of a request with this Idempotency-Key.
func withKey(t *testing.T, key string) context.Context {
	return idempotency.With(t.Context(), idempotency.Request{Key: key})
}

func TestRepeatedSaleGetsFirstAnswer(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(noChange))
	client, business := w.client(), w.offer.ID
	first, err := client.SellTicket(withKey(t, "a"), business, tickets(vipID, 2))
	if err != nil {
		t.Fatal(err)
	}
	if second, err := client.SellTicket(withKey(t, "a"), business, tickets(vipID, 2)); err != nil || !cmp.Equal(second,
		first) {
		t.Errorf("the same request: %+v, %v; want %+v", second, err, first)
	}
	if _, err := client.SellTicket(withKey(t, "a"), business, tickets(vipID, 1)); !fault.Is(err,
		fault.IdempotencyMismatch) {
		t.Errorf("another order under the key: %v", err)
	}
	if _, err := client.CancelTicket(withKey(t, "a"), business, first.ID, booking.Cancel{}); !fault.Is(err,
		fault.IdempotencyMismatch) {
		t.Errorf("another path under the key: %v", err)
	}
	w.change(withGala(func(e *catalog.Event) { e.Active = false }))
	if second, err := client.SellTicket(withKey(t, "a"), business, tickets(vipID, 2)); err != nil || !cmp.Equal(second,
		first) {
		t.Errorf("where nothing is sold any more: %+v, %v; want %+v", second, err, first)
	}
	if _, err := client.SellTicket(withKey(t, "b"), business, tickets(vipID, 2)); !fault.Is(err, fault.Conflict) {
		t.Errorf("a new key: %v", err)
	}
	for range 2 {
		cancelled, err := client.CancelTicket(withKey(t, "c"), business, first.ID, booking.Cancel{})
		if err != nil || cancelled.Status != booking.StatusCancelled {
			t.Errorf("cancel: %+v, %v", cancelled, err)
		}
	}
}

func TestRepeatedTransitionGetsFirstAnswer(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	id := w.book(w.key("write"), newOrder("09:30", nil)).body.Booking.ID
	for range 2 {
		updated, err := w.client().Transition(withKey(t, "a"), w.offer.ID, id, booking.TransitionConfirm)
		if err != nil || updated.Status != booking.StatusConfirmed || updated.ID != id {
			t.Errorf("confirm: %+v, %v", updated, err)
		}
	}
	if _, err := w.client().Transition(withKey(t, "b"), w.offer.ID, id, booking.TransitionConfirm); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("another key: %v", err)
	}
}

func TestRepeatedKeyRequestNamesKey(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	req := booking.NewKey{Name: "site", Scope: booking.ScopeAll}
	created, err := w.client().CreateKey(withKey(t, "a"), w.offer.ID, req)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.client().CreateKey(withKey(t, "a"), w.offer.ID, req)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(fault.Of(err).Sentence, created.ID.String()) {
		t.Errorf("a repeated request: %v", err)
	}
	for range 2 {
		if err := w.client().RevokeKey(withKey(t, "r"), w.offer.ID, created.ID); err != nil {
			t.Error(err)
		}
	}
	if err := w.client().RevokeKey(withKey(t, "s"), w.offer.ID, uuid.New()); !fault.Is(err, fault.NotFound) {
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

func TestUnreadableIdempotencyKeyIsRejected(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	var f *fault.Error
	_, err := w.client().CreateKey(withKey(t, "a b"), w.offer.ID, booking.NewKey{Name: "site", Scope: booking.ScopeAll})
	if !errors.As(err, &f) || f.Kind != fault.InvalidParameter || !strings.HasPrefix(f.Sentence, "Idempotency-Key:") {
		t.Error(err)
	}
}
