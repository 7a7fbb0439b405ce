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

// The day of attempts begins with the first attempt, even if the service was unavailable before it. It
// begins again with the first attempt after a retry by the owner.
func TestBeginSendingStartsDayOfAttempts(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	id := uuid.New()
	w.runInTx(func(tx pgx.Tx) error {
		_, err := w.store.AddMessage(testkit.AsSystem(t), tx, store.Message{
			BusinessID: w.business, ID: id, Kind: "booking_confirmed", EventID: uuid.New(),
			About:     event.Subject{Kind: event.Booking, ID: uuid.New()},
			Recipient: "ada.l@example.com", Locale: "en", Status: store.MessageQueued, AboutEndsAt: now, CreatedAt: now,
		})
		return err
	})
	beginAttempt := func(hours int) time.Duration {
		t.Helper()
		m, err := w.store.BeginSending(testkit.AsSystem(t),
			newSendRequest(w.business, id, now.Add(time.Duration(hours)*time.Hour)))
		if err != nil {
			t.Fatal(err)
		}
		return m.QueuedAt.Sub(now)
	}
	endAttempt := func(status string) {
		t.Helper()
		w.runInTx(func(tx pgx.Tx) error {
			return w.store.EndSending(testkit.AsSystem(t), tx, store.SendResult{BusinessID: w.business, ID: id,
				Status: status, Reason: "away", Now: now})
		})
	}
	if got := beginAttempt(48); got != 48*time.Hour {
		t.Errorf("the day begins after %v, want 48 hours, the time of the first attempt", got)
	}
	endAttempt(store.MessageQueued)
	if got := beginAttempt(60); got != 48*time.Hour {
		t.Errorf("after the second attempt, the day begins after %v", got)
	}
	endAttempt(store.MessageFailed)
	w.runInTx(func(tx pgx.Tx) error {
		_, err := w.store.Requeue(testkit.AsSystem(t), tx, w.business, id, now.Add(72*time.Hour))
		return err
	})
	if got := beginAttempt(120); got != 120*time.Hour {
		t.Errorf("after a retry, the day begins after %v, want 120 hours", got)
	}
}

// newSendRequest returns a request to begin an attempt, with the limits of the service.
func newSendRequest(business, id uuid.UUID, at time.Time) store.SendRequest {
	return store.SendRequest{
		BusinessID: business, ID: id, Now: at, ReplaceableKinds: []string{"booking_confirmed", "booking_moved"},
		NewestOnlyKinds: []string{"owner_notice"},
		MaxPerHour:      6, MaxPerDay: 20, MaxBusinessDay: 30, MaxCustomersDay: 24,
	}
}

// limitFixture records attempts and computes the limits by a simple count.
type limitFixture struct {
	*fixture
	t        *testing.T
	attempts []attempt
}

type attempt struct {
	recipient, kind           string
	isUnlimited, isByBusiness bool
	at                        time.Time
}

// add stores a message that the business did not cause, and to which the limits per recipient apply.
func (l *limitFixture) add(recipient, kind string, about uuid.UUID) uuid.UUID {
	l.t.Helper()
	return l.addMessage(attempt{recipient: recipient, kind: kind}, about)
}

func (l *limitFixture) addMessage(m attempt, about uuid.UUID) uuid.UUID {
	l.t.Helper()
	id := uuid.New()
	l.runInTx(func(tx pgx.Tx) error {
		_, err := l.store.AddMessage(testkit.AsSystem(l.t), tx, store.Message{
			BusinessID: l.business, ID: id, Kind: m.kind, EventID: uuid.New(),
			About:     event.Subject{Kind: event.Booking, ID: about},
			Recipient: m.recipient, IsUnlimited: m.isUnlimited, IsByBusiness: m.isByBusiness, Locale: "en",
			Status: store.MessageQueued, AboutEndsAt: now, CreatedAt: now,
		})
		return err
	})
	return id
}

// isAllowed counts the recorded attempts and reports whether the limits allow the message.
func (l *limitFixture) isAllowed(m attempt) bool {
	hour, day, business := 0, 0, 0
	for _, a := range l.attempts {
		if !a.at.After(m.at.Add(-24 * time.Hour)) {
			continue
		}
		business++
		if !strings.EqualFold(a.recipient, m.recipient) || a.isUnlimited || m.isUnlimited {
			continue
		}
		day++
		if a.at.After(m.at.Add(-time.Hour)) {
			hour++
		}
	}
	maxBusiness := 24
	if m.isByBusiness {
		maxBusiness = 30
	}
	return hour < 6 && day < 20 && business < maxBusiness
}

func TestBeginSendingHoldsMessagesOverALimit(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	rapid.Check(t, func(rt *rapid.T) {
		w.business = uuid.New()
		l := &limitFixture{fixture: w, t: t}
		at := now
		for range 45 {
			at = at.Add(time.Duration(rapid.IntRange(0, 50).Draw(rt, "minutes")) * time.Minute)
			m := attempt{
				recipient: rapid.SampledFrom([]string{"ada@example.com", "ADA@example.com", "ada@example.com",
					"bob@example.com"}).Draw(rt, "recipient"),
				kind:        rapid.SampledFrom([]string{"booking_moved", "refunded", "owner_notice"}).Draw(rt, "kind"),
				at:          at,
				isUnlimited: rapid.Bool().Draw(rt, "unlimited"), isByBusiness: rapid.Bool().Draw(rt, "by business"),
			}
			_, err := l.store.BeginSending(testkit.AsSystem(t), newSendRequest(l.business, l.addMessage(m, uuid.New()),
				at))
			var limitErr *store.LimitError
			if isHeld := errors.As(err, &limitErr); err != nil && !isHeld || isHeld == l.isAllowed(m) {
				rt.Fatalf("%+v: %v, want it allowed: %v", m, err, l.isAllowed(m))
			}
			later := m
			if limitErr != nil {
				later.at = limitErr.Until
			}
			if limitErr != nil && !l.isAllowed(later) && limitErr.Limit == store.RecipientLimit &&
				!isBusinessLimitReached(l, later) {
				rt.Fatalf("%+v: not allowed at %s either", m, limitErr.Until)
			}
			if err == nil {
				l.attempts = append(l.attempts, m)
			}
		}
	})
}

// isBusinessLimitReached reports whether the limit of the business holds the message back.
func isBusinessLimitReached(l *limitFixture, m attempt) bool {
	m.isUnlimited = true
	return !l.isAllowed(m)
}

// The newest notice to an address replaces the held notices to the same address, also about other
// subjects. A notice without limits per recipient is not replaced.
func TestBeginSendingReplacesHeldNotice(t *testing.T) {
	t.Parallel()
	for _, unlimited := range []bool{false, true} {
		l := &limitFixture{fixture: newFixture(t), t: t}
		notice := attempt{recipient: "desk@example.com", kind: "owner_notice", isUnlimited: unlimited}
		begin := func(id uuid.UUID, at time.Time) error {
			_, err := l.store.BeginSending(t.Context(), newSendRequest(l.business, id, at))
			return err
		}
		var waiting []uuid.UUID
		for range 24 + 3 { // the limit of the business holds the last three
			if id := l.addMessage(notice, uuid.New()); begin(id, now) != nil {
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
				t.Errorf("unlimited %v: waiting message %d: %v, want it replaced: %v", unlimited, i, err,
					replaced)
			}
			if !replaced {
				l.runInTx(func(tx pgx.Tx) error {
					return l.store.EndSending(t.Context(), tx, store.SendResult{BusinessID: l.business, ID: id,
						Status: store.MessageSent, Now: later})
				})
			}
		}
	}
}

func TestBeginSendingReplacesHeldMessage(t *testing.T) {
	t.Parallel()
	l := &limitFixture{fixture: newFixture(t), t: t}
	for range 6 {
		if _, err := l.store.BeginSending(testkit.AsSystem(t),
			newSendRequest(l.business, l.add("ada@example.com", "booking_moved", uuid.New()), now)); err != nil {
			t.Fatal(err)
		}
	}
	about := uuid.New()
	first, refund := l.add("ada@example.com", "booking_moved", about), l.add("ada@example.com", "refunded", about)
	var limitErr *store.LimitError
	if _, err := l.store.BeginSending(testkit.AsSystem(t), newSendRequest(l.business, first, now)); !errors.As(err,
		&limitErr) ||
		!limitErr.IsFirst || !limitErr.Until.Equal(now.Add(time.Hour)) {
		t.Errorf("the seventh: %v", err)
	}
	second := l.add("ada@example.com", "booking_moved", about)
	if _, err := l.store.BeginSending(testkit.AsSystem(t), newSendRequest(l.business, second, now)); !errors.As(err,
		&limitErr) {
		t.Errorf("the eighth: %v", err)
	}
	later := now.Add(time.Hour)
	if _, err := l.store.BeginSending(testkit.AsSystem(t), newSendRequest(l.business, second, later)); !errors.Is(err,
		store.ErrMustWait) {
		t.Errorf("the newest before the others: %v", err)
	}
	if _, err := l.store.BeginSending(testkit.AsSystem(t), newSendRequest(l.business, first, later)); !errors.Is(err,
		store.ErrOutdated) {
		t.Errorf("the replaced one: %v", err)
	}
	if m, err := l.store.Message(testkit.AsSystem(t), l.business, first); err != nil ||
		m.Status != store.MessageNotSent || m.Reason == "" {
		t.Errorf("the replaced one is %s, %q, %v", m.Status, m.Reason, err)
	}
	for _, id := range []uuid.UUID{refund, second} {
		m, err := l.store.BeginSending(testkit.AsSystem(t), newSendRequest(l.business, id, later))
		if err != nil || m.Status != store.MessageQueued || m.Reason != "" || m.Attempts != 1 {
			t.Errorf("when the limit allows it: %+v, %v", m, err)
		}
		l.runInTx(func(tx pgx.Tx) error {
			return l.store.EndSending(testkit.AsSystem(t), tx, store.SendResult{BusinessID: l.business, ID: id,
				Status: store.MessageSent, Now: later})
		})
	}
}

func TestBeginSendingCountsNoFailedMessage(t *testing.T) {
	t.Parallel()
	l := &limitFixture{fixture: newFixture(t), t: t}
	begin := func() (uuid.UUID, error) {
		id := l.add("ada@example.com", "booking_moved", uuid.New())
		_, err := l.store.BeginSending(t.Context(), newSendRequest(l.business, id, now))
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
		l.runInTx(func(tx pgx.Tx) error {
			return l.store.EndSending(t.Context(), tx, store.SendResult{BusinessID: l.business, ID: ids[i],
				Status: status,
				Reason: "away", Now: now})
		})
	}
	for range 2 { // the failed message and the unsent one do not count
		if _, err := begin(); err != nil {
			t.Errorf("the limit is not reached: %v", err)
		}
	}
	var limitErr *store.LimitError
	if _, err := begin(); !errors.As(err, &limitErr) {
		t.Errorf("the limit is reached: %v", err)
	}
}
