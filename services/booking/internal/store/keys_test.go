package store_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

func createKey(t *testing.T, s *store.Store, business uuid.UUID, secret string, created time.Time) store.Key {
	t.Helper()
	key := store.Key{BusinessID: business, ID: uuid.New(), Name: "website", Scope: booking.ScopeWrite,
		Prefix: "0123abcd", CreatedAt: created}
	if err := s.CreateKey(testkit.AsSystem(t), key, sha256.Sum256([]byte(secret))); err != nil {
		t.Fatal(err)
	}
	return key
}

func mustFind(t *testing.T, s *store.Store, secret string) store.Key {
	t.Helper()
	key, err := s.KeyByHash(testkit.AsSystem(t), sha256.Sum256([]byte(secret)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeyByHashFindsKey(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	want := createKey(t, s, uuid.New(), "one", now)
	createKey(t, s, uuid.New(), "two", now)
	if diff := cmp.Diff(want, mustFind(t, s, "one")); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if _, err := s.KeyByHash(testkit.AsSystem(t), sha256.Sum256([]byte("three"))); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown hash: %v", err)
	}
}

func TestRevokeKeyKeepsFirstTime(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	key := createKey(t, s, business, "one", now)
	createKey(t, s, business, "two", now)
	createKey(t, s, uuid.New(), "elsewhere", now)
	if err := s.RevokeKey(testkit.AsSystem(t), uuid.New(), key.ID, now); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another business revokes it: %v", err)
	}
	if err := s.RevokeKey(testkit.AsSystem(t), business, key.ID, now); err != nil {
		t.Fatal(err)
	}
	if err := s.RevokeKey(testkit.AsSystem(t), business, key.ID, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := s.RevokeAllKeys(testkit.AsSystem(t), business, now.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for secret, want := range map[string]*time.Time{"one": &now, "two": ptr(now.Add(2 * time.Hour)), "elsewhere": nil} {
		if diff := cmp.Diff(want, mustFind(t, s, secret).RevokedAt); diff != "" {
			t.Errorf("%s revoked at (-want +got):\n%s", secret, diff)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestTouchKeyStoresOnlyOlderUse(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	key := createKey(t, s, uuid.New(), "one", now)
	for _, c := range []struct{ at, since, want time.Time }{
		{now, now.Add(-time.Minute), now},
		{now.Add(59 * time.Second), now.Add(-time.Second), now},
		{now.Add(60 * time.Second), now, now.Add(60 * time.Second)},
	} {
		if err := s.TouchKey(testkit.AsSystem(t), key.BusinessID, key.ID, c.at, c.since); err != nil {
			t.Fatal(err)
		}
		if got := mustFind(t, s, "one").LastUsedAt; got == nil || !got.Equal(c.want) {
			t.Errorf("at %s it was last used %v, want %s", c.at, got, c.want)
		}
	}
}

func TestKeysArePagedOldestFirst(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	want := map[uuid.UUID]bool{}
	for i := range 5 {
		want[createKey(t, s, business, fmt.Sprint(i), now.Add(time.Duration(i/2)*time.Second)).ID] = true
	}
	createKey(t, s, uuid.New(), "elsewhere", now)
	var last time.Time
	for next := ""; ; {
		keys, after, err := s.Keys(testkit.AsSystem(t), business, request.Page{Limit: 2, Cursor: next})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if !want[k.ID] || k.CreatedAt.Before(last) {
				t.Errorf("unexpected %+v", k)
			}
			delete(want, k.ID)
			last = k.CreatedAt
		}
		if next = after; next == "" {
			break
		}
	}
	if len(want) > 0 {
		t.Errorf("%d were skipped", len(want))
	}
}

func TestListsRejectForeignCursors(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for _, c := range []string{"x", "!!!", "AAAA", "_________________________________w",
		"f_______AAAAAAAAAAAAAAAAAAAAAA"} {
		if _, _, err := s.Keys(testkit.AsSystem(t), uuid.New(), request.Page{Limit: 2, Cursor: c}); !fault.Is(err,
			fault.InvalidParameter) {
			t.Errorf("keys after %q: %v", c, err)
		}
		if _, _, err := s.Bookings(testkit.AsSystem(t), uuid.New(), booking.Filter{},
			request.Page{Limit: 2, Cursor: c}); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("bookings after %q: %v", c, err)
		}
	}
}

func TestBookingsAreFiltered(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	kiritimati, err := time.LoadLocation("Pacific/Kiritimati") // UTC+14: 12:00Z of 1 June is 02:00 of 2 June
	if err != nil {
		t.Fatal(err)
	}
	b := newBooking(business, newPart(uuid.New(), 0, 0, 45))
	b = localTime(b, kiritimati)
	phone := "+351 (210) 000-000"
	b.Customer.Phone = &phone
	if err := s.Book(testkit.AsSystem(t), b); err != nil {
		t.Fatal(err)
	}
	other := b.Services[0].ID
	other[0]++
	date := func(s string) *timespan.Date {
		d, err := timespan.ParseDate(s)
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	for _, c := range []struct {
		filter booking.Filter
		want   int
	}{
		{booking.Filter{}, 1},
		{booking.Filter{From: date("2027-06-02"), To: date("2027-06-02")}, 1},
		{booking.Filter{To: date("2027-06-01")}, 0},
		{booking.Filter{From: date("2027-06-03")}, 0},
		{booking.Filter{Status: "pending"}, 1},
		{booking.Filter{Status: "cancelled"}, 0},
		{booking.Filter{Query: strings.ToUpper(b.Customer.Name[:2])}, 1},
		{booking.Filter{Query: strings.ToUpper(b.Customer.Email)}, 1},
		{booking.Filter{Query: "210-000 (000)"}, 1},
		{booking.Filter{Query: "-"}, 0},
		{booking.Filter{Query: "%"}, 0},
		{booking.Filter{ServiceID: &b.Services[0].ID}, 1},
		{booking.Filter{ServiceID: &other}, 0},
		{booking.Filter{StaffID: b.StaffID}, 1},
		{booking.Filter{StaffID: &other}, 0},
		{booking.Filter{Source: b.Source}, 1},
		{booking.Filter{Source: "elsewhere"}, 0},
		{booking.Filter{Payment: booking.PaymentOpen}, 0},
	} {
		list, _, err := s.Bookings(testkit.AsSystem(t), business, c.filter, request.Page{Limit: 10})
		if err != nil || len(list) != c.want {
			t.Errorf("%+v finds %d, %v; want %d", c.filter, len(list), err, c.want)
		}
	}
}

func TestCountAheadCountsUpcomingBookings(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	var ids []uuid.UUID
	for i := range 4 {
		b := newBooking(business, newPart(uuid.New(), 0, i*60, i*60+45))
		ids = append(ids, b.ID)
		if err := s.Book(testkit.AsSystem(t), b); err != nil {
			t.Fatal(err)
		}
	}
	for i, move := range map[int]state.TransitionName{2: state.Confirm, 3: state.Cancel} {
		transition, _ := state.FindTransition(move)
		if _, err := s.ApplyTransition(testkit.AsSystem(t), business, ids[i], transition, now); err != nil {
			t.Fatal(err)
		}
	}
	for at, want := range map[time.Time]int{
		now:                         3,
		noon.Add(44 * time.Minute):  3, // one booking has begun and not ended
		noon.Add(45 * time.Minute):  2,
		noon.Add(200 * time.Minute): 0,
	} {
		if n, err := s.CountAhead(testkit.AsSystem(t), business, at); err != nil || n != want {
			t.Errorf("at %s, there are %d future bookings, %v; want %d", at, n, err, want)
		}
	}
}

// TestKeysAndFeedsAreLimited shows that a business has at most a fixed number of API keys and calendar feeds.
// If several are created at once for the last place, only one is created. Revoked keys no longer count.
func TestKeysAndFeedsAreLimited(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	key := func(n int) error {
		expires := now.Add(time.Hour)
		k := store.Key{BusinessID: business, ID: uuid.New(), Name: "k", Scope: booking.ScopeRead, Prefix: "01234567",
			CreatedAt: now, ExpiresAt: &expires}
		return s.CreateKey(testkit.AsSystem(t), k, sha256.Sum256(fmt.Append(nil, business, n)))
	}
	feed := func(n int) error {
		hash := sha256.Sum256(fmt.Append(nil, business, n))
		return s.CreateFeed(testkit.AsSystem(t), store.Feed{BusinessID: business, ID: uuid.New(),
			Shows: booking.ShowsTimes, CreatedAt: now}, hash[:])
	}
	for what, of := range map[string]struct {
		add     func(int) error
		most    int
		refusal error
	}{"keys": {key, store.MaxKeys, store.ErrTooManyKeys}, "feeds": {feed, store.MaxFeeds, store.ErrTooManyFeeds}} {
		for n := range of.most - 1 {
			if err := of.add(n); err != nil {
				t.Fatal(what, n, err)
			}
		}
		errs := make([]error, 4)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = of.add(of.most + i) })
		}
		all.Wait()
		added := 0
		for _, err := range errs {
			switch {
			case err == nil:
				added++
			case !errors.Is(err, of.refusal):
				t.Errorf("%s: %v", what, err)
			}
		}
		if added != 1 {
			t.Errorf("%s: %d were added to the last place", what, added)
		}
	}
	if err := s.RevokeAllKeys(testkit.AsSystem(t), business, now); err != nil {
		t.Fatal(err)
	}
	if err := key(1000); err != nil {
		t.Errorf("after a revocation: %v", err)
	}
}
