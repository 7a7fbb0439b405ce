package store_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

func newAdaReservation(business, rental uuid.UUID, first, last int) store.NewReservation {
	r := newReservation(business, rental, 1, dates(today+timespan.Date(first), today+timespan.Date(last)))
	address, phone := "Ada.L@Example.com", "+351 210 555 019"
	r.CustomerName, r.CustomerEmail, r.CustomerPhone, r.Locale = "Ada Lovelace", &address, &phone, "en"
	r.FormData = json.RawMessage(`{"weight": "hazelnutty"}`)
	return r
}

func applyTransitions(t testing.TB, s *store.Store, ctx context.Context, r store.NewReservation,
	moves ...state.TransitionName) store.Reservation {
	t.Helper()
	var updated store.Reservation
	for _, m := range moves {
		transition, _ := state.FindTransition(m)
		var err error
		if updated, err = s.ApplyTransition(ctx, r.BusinessID, r.ID, transition, now); err != nil {
			t.Fatal(err)
		}
	}
	return updated
}

func TestEraseCustomerKeepsUpcomingReservations(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, kayak := uuid.New(), uuid.New()
	over, back, out, ahead := newAdaReservation(business, kayak, -3, -1), newAdaReservation(business, kayak, 0, 1),
		newAdaReservation(business, kayak, -9, -8), newAdaReservation(business, kayak, 0, 0)
	for _, r := range []store.NewReservation{over, back, out, ahead,
		newReservation(business, kayak, 1, dates(today, today))} {
		mustReserve(t, s, r)
	}
	keyed := clock.WithArrival(idempotency.With(testkit.AsSystem(t), idempotency.Request{Key: "cancel"}), time.Now())
	applyTransitions(t, s, keyed, back, state.Cancel) // stores an idempotency result with the customer's data
	applyTransitions(t, s, testkit.AsSystem(t), out, state.Pickup)
	const sums = `SELECT sum(quantity) + sum(end_date - start_date) + count(*) FROM reservations`
	var before, after int
	if err := pool.QueryRow(testkit.AsSystem(t), sums).Scan(&before); err != nil {
		t.Fatal(err)
	}
	erase := store.EraseRequest{Erase: customer.Erase{Addresses: []string{"ada.l@example.com"}}, Now: now, Today: today,
		Zone: time.UTC}
	got, err := s.EraseCustomer(testkit.AsSystem(t), business, erase)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got.Ahead, func(a, b customer.Ahead) int { return a.StartsAt.Compare(b.StartsAt) })
	want := customer.Erased{Reservations: 2, Ahead: []customer.Ahead{
		{Kind: "reservation", ID: out.ID, Status: "picked_up", StartsAt: now.Truncate(24*time.Hour).AddDate(0, 0, -9)},
		{Kind: "reservation", ID: ahead.ID, Status: "reserved", StartsAt: now.Truncate(24 * time.Hour)},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("erased (-want +got):\n%s", diff)
	}
	if held, err := s.FindCustomerReservations(testkit.AsSystem(t), business, erase.Addresses, 10); err != nil ||
		len(held) != 2 ||
		*held[0].CustomerEmail != "Ada.L@Example.com" {
		t.Errorf("the stored data are %+v, %v", held, err)
	}
	erase.Force = true
	if got, err = s.EraseCustomer(testkit.AsSystem(t), business, erase); err != nil || got.Reservations != 2 ||
		len(got.Ahead) != 0 {
		t.Errorf("forced: %+v, %v", got, err)
	}
	if left := testkit.FindInTables(t, pool, "Ada Lovelace", "ada.l@example.com", "555 019",
		"hazelnutty"); len(left) != 0 {
		t.Errorf("the tables still hold %q", left)
	}
	if again := applyTransitions(t, s, keyed, back, state.Cancel); again.ID != back.ID || again.CustomerName != "" ||
		again.CustomerPhone != nil || string(again.FormData) != "{}" {
		t.Errorf("the owner's write, repeated: %+v", again)
	}
	if err := pool.QueryRow(testkit.AsSystem(t), sums).Scan(&after); err != nil || after != before {
		t.Errorf("before %d, after %d, %v", before, after, err)
	}
	if found := testkit.FindInTables(t, pool, "Zoë"); len(found) != 1 {
		t.Error("the data of another customer was removed")
	}
}

// TestAnonymizeEndedStopsAtCutoff checks lifecycle.md §6: after its retention time, a reservation
// loses the name and e-mail address. A reservation by the day ends when its last date has ended in all time zones. A
// reservation that is picked up has not ended.
func TestAnonymizeEndedStopsAtCutoff(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		business, kayak := uuid.New(), uuid.New()
		cutoff := now.Add(time.Duration(rapid.IntRange(-10*24, 10*24).Draw(rt, "hours")) * time.Hour)
		due := map[uuid.UUID]bool{}
		n := 0
		for _, day := range rapid.SliceOfN(rapid.IntRange(-10, 10), 1, 10).Draw(rt, "days") {
			r := newAdaReservation(business, kayak, day, day)
			ends := time.Date(2027, 6, 10+day, 36, 0, 0, 0, time.UTC)
			if rapid.Bool().Draw(rt, "by the hour") {
				r = setHours(r, 9*60, 10*60)
				ends = time.Date(2027, 6, 10+day, 10, 0, 0, 0, time.UTC)
			}
			mustReserve(t, s, r)
			isOut := rapid.Bool().Draw(rt, "is out")
			if isOut {
				applyTransitions(t, s, actor.AsSystem(context.Background()), r, state.Pickup)
			}
			if due[r.ID] = !isOut && !ends.After(cutoff); due[r.ID] {
				n++
			}
		}
		ids, err := s.BusinessesToAnonymize(actor.AsSystem(context.Background()), uuid.Nil, cutoff, 1000)
		if err != nil || slices.Contains(ids, business) != (n > 0) {
			rt.Fatalf("the businesses with customers to anonymize are %v, %v; %d are due", ids, err, n)
		}
		if got, err := s.AnonymizeEnded(actor.AsSystem(context.Background()), business, cutoff); err != nil ||
			int(got) != n {
			rt.Fatalf("%d are anonymized, %v, want %d", got, err, n)
		}
		for id, gone := range due {
			var name string
			if err := pool.QueryRow(actor.AsSystem(context.Background()),
				`SELECT customer_name || coalesce(customer_email, '') FROM reservations WHERE id = $1`,
				id).Scan(&name); err != nil {
				rt.Fatal(err)
			}
			if (name == "") != gone {
				rt.Fatalf("at %v a reservation is of %q, and should be anonymized: %t", cutoff, name, gone)
			}
		}
	})
}

func TestCustomersMatchNameAddressAndPhone(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, kayak := uuid.New(), uuid.New()
	mustReserve(t, s, newAdaReservation(business, kayak, 0, 0))
	mustReserve(t, s, newAdaReservation(business, kayak, 1, 1))
	mustReserve(t, s, newReservation(business, kayak, 1, dates(today, today))) // without an e-mail address
	want := []customer.Customer{{Key: "ada.l@example.com", Email: "ada.l@example.com", Name: "Ada Lovelace",
		Phone: new("+351 210 555 019"), Reservations: 2, FirstAt: now, LastAt: now}}
	for query, ok := range map[string]bool{"": true, "LOVE": true, "l@EX": true, "zoë": false, "%": false,
		"210555-019": true, "555020": false,
		"LOVELÁCE ada": true, "ada\u0301": true, "lovelace bob": false} {
		got, err := s.Customers(t.Context(), business, customer.Search{Query: query, Limit: 10})
		if err != nil || ok && cmp.Diff(want, got) != "" || !ok && len(got) != 0 {
			t.Errorf("%q: %+v, %v", query, got, err)
		}
	}
}
