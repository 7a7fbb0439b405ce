package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// A message is tried for a day from its first attempt on, and anew where its owner asks for it again: however long this
// service was away before that attempt.
func TestTheDayOfAttemptsBeginsWithTheFirstOne(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := uuid.New()
	w.in(func(tx pgx.Tx) error {
		_, err := w.store.AddMessage(testkit.AsSystem(t), tx, store.Message{
			BusinessID: w.business, ID: id, Kind: "booking_confirmed", EventID: uuid.New(),
			About:     event.Subject{Kind: event.Booking, ID: uuid.New()},
			Recipient: "ada.l@example.com", Locale: "en", Status: store.MessageQueued, AboutEndsAt: now, CreatedAt: now,
		})
		return err
	})
	begins := func(hours int) time.Duration {
		t.Helper()
		m, err := w.store.BeginSending(testkit.AsSystem(t),
			sending(w.business, id, now.Add(time.Duration(hours)*time.Hour)))
		if err != nil {
			t.Fatal(err)
		}
		return m.QueuedAt.Sub(now)
	}
	ends := func(status string) {
		t.Helper()
		w.in(func(tx pgx.Tx) error {
			return w.store.EndSending(testkit.AsSystem(t), tx, store.Outcome{BusinessID: w.business, ID: id,
				Status: status, Reason: "away", Now: now})
		})
	}
	if got := begins(48); got != 48*time.Hour {
		t.Errorf("the day begins after %v, want it to begin with the first attempt, after 48 hours", got)
	}
	ends(store.MessageQueued)
	if got := begins(60); got != 48*time.Hour {
		t.Errorf("after the second attempt it begins after %v", got)
	}
	ends(store.MessageFailed)
	w.in(func(tx pgx.Tx) error {
		_, err := w.store.Requeue(testkit.AsSystem(t), tx, w.business, id, now.Add(72*time.Hour))
		return err
	})
	if got := begins(120); got != 120*time.Hour {
		t.Errorf("asked for again it begins after %v, want 120 hours", got)
	}
}

// sending asks for an attempt under the limits of the service.
func sending(business, id uuid.UUID, at time.Time) store.Sending {
	return store.Sending{
		BusinessID: business, ID: id, Now: at, Replaceable: []string{"booking_confirmed", "booking_moved"},
		Newest:  []string{"owner_notice"},
		PerHour: 6, PerDay: 20, BusinessDay: 30, CustomersDay: 24,
	}
}

// limited attempts messages at given times and compares what the limits say with a plain count.
type limited struct {
	*world
	t        *testing.T
	attempts []attempted
}

type attempted struct {
	recipient, kind       string
	unlimited, byBusiness bool
	at                    time.Time
}

// add writes a message that the business has not caused, and to which the limits of its recipient apply.
func (l *limited) add(recipient, kind string, about uuid.UUID) uuid.UUID {
	l.t.Helper()
	return l.write(attempted{recipient: recipient, kind: kind}, about)
}

func (l *limited) write(m attempted, about uuid.UUID) uuid.UUID {
	l.t.Helper()
	id := uuid.New()
	l.in(func(tx pgx.Tx) error {
		_, err := l.store.AddMessage(testkit.AsSystem(l.t), tx, store.Message{
			BusinessID: l.business, ID: id, Kind: m.kind, EventID: uuid.New(),
			About:     event.Subject{Kind: event.Booking, ID: about},
			Recipient: m.recipient, Unlimited: m.unlimited, ByBusiness: m.byBusiness, Locale: "en",
			Status: store.MessageQueued, AboutEndsAt: now, CreatedAt: now,
		})
		return err
	})
	return id
}

// allowed counts by hand whether a message may go out.
func (l *limited) allowed(m attempted) bool {
	hour, day, business := 0, 0, 0
	for _, a := range l.attempts {
		if !a.at.After(m.at.Add(-24 * time.Hour)) {
			continue
		}
		business++
		if !strings.EqualFold(a.recipient, m.recipient) || a.unlimited || m.unlimited {
			continue
		}
		day++
		if a.at.After(m.at.Add(-time.Hour)) {
			hour++
		}
	}
	most := 24
	if m.byBusiness {
		most = 30
	}
	return hour < 6 && day < 20 && business < most
}

func TestBeginSendingHoldsMessagesOverALimit(t *testing.T) {
	t.Parallel()
	w := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		w.business = uuid.New()
		l := &limited{world: w, t: t}
		at := now
		for range 45 {
			at = at.Add(time.Duration(rapid.IntRange(0, 50).Draw(rt, "minutes")) * time.Minute)
			m := attempted{
				recipient: rapid.SampledFrom([]string{"ada@example.com", "ADA@example.com", "ada@example.com",
					"bob@example.com"}).Draw(rt, "recipient"),
				kind:      rapid.SampledFrom([]string{"booking_moved", "refunded", "owner_notice"}).Draw(rt, "kind"),
				at:        at,
				unlimited: rapid.Bool().Draw(rt, "unlimited"), byBusiness: rapid.Bool().Draw(rt, "by business"),
			}
			_, err := l.store.BeginSending(testkit.AsSystem(t), sending(l.business, l.write(m, uuid.New()), at))
			var held *store.HeldError
			if isHeld := errors.As(err, &held); err != nil && !isHeld || isHeld == l.allowed(m) {
				rt.Fatalf("%+v: %v, want it allowed: %v", m, err, l.allowed(m))
			}
			again := m
			if held != nil {
				again.at = held.Until
			}
			if held != nil && !l.allowed(again) && held.Limit == store.RecipientLimit && !businessFull(l, again) {
				rt.Fatalf("%+v: not allowed at %s either", m, held.Until)
			}
			if err == nil {
				l.attempts = append(l.attempts, m)
			}
		}
	})
}

// businessFull reports whether the limit of the business holds a message, whoever gets it.
func businessFull(l *limited, m attempted) bool {
	m.unlimited = true
	return !l.allowed(m)
}

// A held notice is replaced by the newest one to the same address, about whatever that is; one that no limit of the
// recipient applies to is not.
func TestBeginSendingReplacesAHeldNoticeByTheNewestToItsAddress(t *testing.T) {
	t.Parallel()
	for _, unlimited := range []bool{false, true} {
		l := &limited{world: open(t), t: t}
		notice := attempted{recipient: "desk@example.com", kind: "owner_notice", unlimited: unlimited}
		begin := func(id uuid.UUID, at time.Time) error {
			_, err := l.store.BeginSending(t.Context(), sending(l.business, id, at))
			return err
		}
		var waiting []uuid.UUID
		for range 24 + 3 { // the limit of the business holds the last three
			if id := l.write(notice, uuid.New()); begin(id, now) != nil {
				waiting = append(waiting, id)
			}
		}
		want, later := map[bool]int{false: 21, true: 3}[unlimited], now.Add(25*time.Hour)
		if len(waiting) != want {
			t.Fatalf("unlimited %v: %d wait, want %d", unlimited, len(waiting), want)
		}
		for i := len(waiting) - 1; i >= 0; i-- { // the newest is sent first
			id := waiting[i]
			replaced := !unlimited && i < len(waiting)-1
			if err := begin(id, later); errors.Is(err, store.ErrOutdated) != replaced || !replaced && err != nil {
				t.Errorf("unlimited %v: number %d of those that wait: %v, want it replaced: %v", unlimited, i, err,
					replaced)
			}
			if !replaced {
				l.in(func(tx pgx.Tx) error {
					return l.store.EndSending(t.Context(), tx, store.Outcome{BusinessID: l.business, ID: id,
						Status: store.MessageSent, Now: later})
				})
			}
		}
	}
}

func TestBeginSendingReplacesAHeldMessageByTheNewest(t *testing.T) {
	t.Parallel()
	l := &limited{world: open(t), t: t}
	for range 6 {
		if _, err := l.store.BeginSending(testkit.AsSystem(t),
			sending(l.business, l.add("ada@example.com", "booking_moved", uuid.New()), now)); err != nil {
			t.Fatal(err)
		}
	}
	about := uuid.New()
	first, refund := l.add("ada@example.com", "booking_moved", about), l.add("ada@example.com", "refunded", about)
	var held *store.HeldError
	if _, err := l.store.BeginSending(testkit.AsSystem(t), sending(l.business, first, now)); !errors.As(err, &held) ||
		!held.First || !held.Until.Equal(now.Add(time.Hour)) {
		t.Errorf("the seventh: %v", err)
	}
	second := l.add("ada@example.com", "booking_moved", about)
	if _, err := l.store.BeginSending(testkit.AsSystem(t), sending(l.business, second, now)); !errors.As(err, &held) {
		t.Errorf("the eighth: %v", err)
	}
	later := now.Add(time.Hour)
	if _, err := l.store.BeginSending(testkit.AsSystem(t), sending(l.business, second, later)); !errors.Is(err,
		store.ErrWaits) {
		t.Errorf("the newest before the others: %v", err)
	}
	if _, err := l.store.BeginSending(testkit.AsSystem(t), sending(l.business, first, later)); !errors.Is(err,
		store.ErrOutdated) {
		t.Errorf("the replaced one: %v", err)
	}
	if m, err := l.store.Message(testkit.AsSystem(t), l.business, first); err != nil ||
		m.Status != store.MessageNotSent || m.Reason == "" {
		t.Errorf("the replaced one is %s, %q, %v", m.Status, m.Reason, err)
	}
	for _, id := range []uuid.UUID{refund, second} {
		m, err := l.store.BeginSending(testkit.AsSystem(t), sending(l.business, id, later))
		if err != nil || m.Status != store.MessageQueued || m.Reason != "" || m.Attempts != 1 {
			t.Errorf("when the limit allows it: %+v, %v", m, err)
		}
		l.in(func(tx pgx.Tx) error {
			return l.store.EndSending(testkit.AsSystem(t), tx, store.Outcome{BusinessID: l.business, ID: id,
				Status: store.MessageSent, Now: later})
		})
	}
}

func TestLimitsCountNoMessageThatFailed(t *testing.T) {
	t.Parallel()
	l := &limited{world: open(t), t: t}
	begin := func() (uuid.UUID, error) {
		id := l.add("ada@example.com", "booking_moved", uuid.New())
		_, err := l.store.BeginSending(t.Context(), sending(l.business, id, now))
		return id, err
	}
	var ids []uuid.UUID
	for range 6 {
		id, err := begin()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for i, status := range []string{store.MessageSent, store.MessageQueued, store.MessageFailed, store.MessageNotSent} {
		l.in(func(tx pgx.Tx) error {
			return l.store.EndSending(t.Context(), tx, store.Outcome{BusinessID: l.business, ID: ids[i], Status: status,
				Reason: "away", Now: now})
		})
	}
	for range 2 { // in place of the one that failed and the one that is not sent
		if _, err := begin(); err != nil {
			t.Errorf("the limit is not reached: %v", err)
		}
	}
	var held *store.HeldError
	if _, err := begin(); !errors.As(err, &held) {
		t.Errorf("the limit is reached: %v", err)
	}
}
