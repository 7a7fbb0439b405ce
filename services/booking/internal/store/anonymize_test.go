package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// newAdaBooking returns a booking of the customer Ada that starts `from` minutes after noon.
func newAdaBooking(business uuid.UUID, from int) store.NewBooking {
	b := newBooking(business, newPart(uuid.New(), 0, from, from+45))
	phone := "+351 210 555 019"
	b.Customer = store.Customer{Name: "Ada Lovelace", Email: "Ada.L@Example.com", Phone: &phone,
		Address: &booking.CustomerAddress{Address: postal.Address{Street: "Filbert Lane 7", City: "Lisboa"}, Note: "left bell"}}
	b.FormData, b.Locale = map[string]any{"allergies": "hazelnuts"}, "en"
	return b
}

var adaAddresses = []string{"Ada Lovelace", "ada.l@example.com", "555 019", "hazelnuts", "555 077", "pistachios", "Filbert Lane",
	"left bell", "has a cold"}

// readSums returns the numbers and statuses that must not change when customers are anonymized.
func readSums(t testing.TB, pool *pgxpool.Pool) string {
	t.Helper()
	var text string
	err := pool.QueryRow(actor.AsSystem(context.Background()), `
		SELECT format('%s bookings for %s, %s occupied, %s tickets, %s sold of events and %s of tiers, statuses %s',
			(SELECT count(*) FROM bookings), (SELECT sum(total) FROM bookings), (SELECT count(*) FROM occupied_time), (SELECT sum(quantity) FROM tickets),
			(SELECT sum(sold) FROM event_sales), (SELECT sum(sold) FROM tier_sales),
			(SELECT string_agg(id || status || starts_at || ends_at || services::text || updated_at, ',' ORDER BY id) FROM bookings))`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func sellTicketToAda(t *testing.T, s *store.Store, g gala) {
	t.Helper()
	address, phone := "ADA.L@example.com", "+351 210 555 077"
	order := g.newOrder(0, 2)
	order.CustomerName, order.CustomerEmail, order.CustomerPhone, order.Locale = "Ada Lovelace", &address, &phone, "en"
	order.FormData = json.RawMessage(`{"meal": "pistachios"}`)
	keyed := idempotency.With(testkit.AsSystem(t), idempotency.Request{Key: "tickets"}) // stores a result, too
	if _, err := s.SellTicket(clock.WithArrival(keyed, time.Now()), order); err != nil {
		t.Fatal(err)
	}
}

func TestEraseCustomerKeepsUpcomingSales(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	g := newGala(10, 10)
	business := g.business
	done, cancelled, ahead, other := newAdaBooking(business, 0), newAdaBooking(business, 60*24*30),
		newAdaBooking(business, 60*24*9),
		newBooking(business, newPart(uuid.New(), 0, 0, 45))
	elsewhere := newAdaBooking(uuid.New(), 0) // the same customer at another business
	mustBook(t, s, done, cancelled, ahead, other, elsewhere)
	sellTicketToAda(t, s, g)
	// A write of the owner with a key stores an idempotency result that contains the customer, for a repeated request.
	withKey := func(key string) context.Context {
		return clock.WithArrival(idempotency.With(testkit.AsSystem(t), idempotency.Request{Key: key}), time.Now())
	}
	cancel, _ := state.FindTransition(state.Cancel)
	byOwner := actor.With(withKey("cancel"), actor.Actor{Kind: actor.Owner})
	if _, err := s.ApplyTransition(actor.WithReason(byOwner, "Ada has a cold."), business, cancelled.ID, cancel, now); err != nil {
		t.Fatal(err)
	}
	if missing := len(adaAddresses) - len(testkit.FindInTables(t, pool, adaAddresses...)); missing != 0 {
		t.Fatalf("%d texts that the test looks for are missing before the anonymization", missing)
	}
	before, at := readSums(t, pool), noon.AddDate(0, 0, 1)
	erase := customer.Erase{Addresses: []string{"ada.l@example.com"}}
	got, err := s.EraseCustomer(withKey("erase"), business, erase, at)
	if err != nil {
		t.Fatal(err)
	}
	want := customer.Erased{Bookings: 2, Tickets: 1,
		Ahead: []customer.Ahead{{Kind: "booking", ID: ahead.ID, Status: "pending", StartsAt: ahead.StartsAt}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("erased (-want +got):\n%s", diff)
	}
	if again, err := s.EraseCustomer(withKey("erase"), business, erase, at.AddDate(1, 0, 0)); err != nil ||
		cmp.Diff(want, again) != "" {
		t.Errorf("repeated under its key: %+v, %v", again, err)
	}
	remaining, _, err := s.FindCustomerData(testkit.AsSystem(t), business, erase.Addresses, 10)
	if err != nil || len(remaining) != 1 || remaining[0].ID != ahead.ID || remaining[0].Customer.Name != "Ada Lovelace" {
		t.Errorf("the future bookings are %+v, %v", remaining, err)
	}
	erase.Force = true
	if got, err = s.EraseCustomer(testkit.AsSystem(t), business, erase, at); err != nil || got.Bookings != 1 ||
		len(got.Ahead) != 0 {
		t.Errorf("forced: %+v, %v", got, err)
	}
	if updated, err := s.ApplyTransition(withKey("cancel"), business, cancelled.ID, cancel, now); err != nil ||
		updated.ID != cancelled.ID || updated.Customer.Email != "" {
		t.Errorf("the owner's write, repeated: %+v, %v", updated, err)
	}
	if after := readSums(t, pool); after != before {
		t.Errorf("before %s\nafter  %s", before, after)
	}
	if n := mustCount(t, pool,
		`SELECT count(*) FROM bookings WHERE customer_name = 'Zoë' OR business_id = $1 AND customer_name = 'Ada Lovelace'`, elsewhere.BusinessID); n != 2 {
		t.Errorf("%d bookings of another customer and with another business are left, want 2", n)
	}
	if n := mustCount(t, pool,
		`SELECT count(*) FROM events WHERE type = 'customer.erased' AND subject_kind = 'customer'`); n != 2 {
		t.Errorf("%d erasings are recorded, want 2", n)
	}
	if _, err := s.Erase(testkit.AsSystem(t), []uuid.UUID{elsewhere.BusinessID}); err != nil {
		t.Fatal(err)
	}
	if left := testkit.FindInTables(t, pool, adaAddresses...); len(left) != 0 {
		t.Errorf("the tables still hold %q", left)
	}
}

// TestAnonymizeKeepsFirstBookingsPerCustomer shows that several first bookings can be anonymized together. The
// unique index of first bookings must not count two anonymized customers as the same customer.
func TestAnonymizeKeepsFirstBookingsPerCustomer(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business := uuid.New()
	for i := range 3 {
		b := newAdaBooking(business, i*60)
		b.Customer.Email, b.FirstBooking = fmt.Sprintf("c%d@example.com", i), true
		mustBook(t, s, b)
	}
	if n, err := s.AnonymizeEnded(testkit.AsSystem(t), business, noon.AddDate(1, 0, 0)); err != nil || n != 3 {
		t.Errorf("%d are anonymized, %v", n, err)
	}
	if left := testkit.FindInTables(t, pool, adaAddresses...); len(left) != 0 {
		t.Errorf("the tables still hold %q", left)
	}
}

// TestAnonymizeEndedStopsAtCutoff checks the rule of lifecycle.md §6. A set time after its end, a
// booking loses name, e-mail, phone and form data. The rest of the booking stays.
func TestAnonymizeEndedStopsAtCutoff(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		business, g := uuid.New(), newGala(100, 100)
		g.business = business
		type kept struct {
			table string
			id    uuid.UUID
			ends  time.Time
		}
		var all []kept
		for i, day := range rapid.SliceOfN(rapid.IntRange(0, 20), 1, 12).Draw(rt, "days") {
			if rapid.Bool().Draw(rt, "is a booking") {
				b := newAdaBooking(business, day*24*60+i*50)
				mustBook(t, s, b)
				all = append(all, kept{"bookings", b.ID, b.EndsAt})
				continue
			}
			order, address := g.newOrder(0, 1), "ada.l@example.com"
			order.EndsAt, order.CustomerName, order.CustomerEmail = noon.AddDate(0, 0, day), "Ada Lovelace", &address
			if _, err := s.SellTicket(actor.AsSystem(context.Background()), order); err != nil {
				rt.Fatal(err)
			}
			all = append(all, kept{"tickets", order.ID, order.EndsAt})
		}
		cutoff := noon.Add(time.Duration(rapid.IntRange(-1, 21*24).Draw(rt, "hours")) * time.Hour)
		due := 0
		for _, k := range all {
			if !k.ends.After(cutoff) {
				due++
			}
		}
		ids, err := s.BusinessesToAnonymize(actor.AsSystem(context.Background()), uuid.Nil, cutoff, 1000)
		if err != nil || slices.Contains(ids, business) != (due > 0) {
			rt.Fatalf("the businesses with customers to anonymize are %v, %v; %d are due", ids, err, due)
		}
		expiring, err := s.ExpiringCustomers(context.Background(), business, cutoff, 10)
		if err != nil || len(expiring) != min(due, 1) { // all are of one customer
			rt.Fatalf("%d customers expire, %v; %d bookings and orders are due", len(expiring), err, due)
		}
		if n, err := s.AnonymizeEnded(actor.AsSystem(context.Background()), business, cutoff); err != nil ||
			int(n) != due {
			rt.Fatalf("%d are anonymized, %v, want %d", n, err, due)
		}
		for _, k := range all {
			var occupied int
			err := pool.QueryRow(actor.AsSystem(context.Background()), `
				SELECT (SELECT count(*) FROM `+k.table+` WHERE id = $1 AND customer_name = 'Ada Lovelace' AND lower(customer_email) = 'ada.l@example.com' AND link_hash IS NOT DISTINCT FROM link_hash)
				     + (SELECT count(*) FROM events WHERE subject_id = $1 AND data->>'customer_name' = 'Ada Lovelace')`, k.id).Scan(&occupied)
			if err != nil {
				rt.Fatal(err)
			}
			if want := 2; k.ends.After(cutoff) && occupied != want || !k.ends.After(cutoff) && occupied != 0 {
				rt.Fatalf("%s that ended at %v: %d rows contain the customer at %v", k.table, k.ends, occupied, cutoff)
			}
		}
	})
}

func TestCustomersMatchNameAddressAndPhone(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	g := newGala(10, 10)
	old, newer := newAdaBooking(g.business, 0), newAdaBooking(g.business, 60)
	old.Customer.Name, newer.Now = "A. King", now.Add(time.Hour)
	newer.Customer.Phone = nil
	mustBook(t, s, old, newer, newBooking(g.business, newPart(uuid.New(), 0, 0, 45)))
	order, address, phone := g.newOrder(0, 2), "zoe@example.com", "+351 210 555 019"
	order.CustomerEmail, order.CustomerPhone = &address, new("+351 1 777")
	if _, err := s.SellTicket(testkit.AsSystem(t), order); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SellTicket(testkit.AsSystem(t), g.newOrder(0, 1)); err != nil { // without an e-mail address
		t.Fatal(err)
	}
	ada := customer.Customer{Key: "ada.l@example.com", Email: "ada.l@example.com", Name: "Ada Lovelace", Phone: &phone,
		Bookings: 2, FirstAt: now, LastAt: now.Add(time.Hour)}
	zoe := customer.Customer{Key: "zoe@example.com", Email: "zoe@example.com", Name: "Zoë", Phone: order.CustomerPhone,
		Bookings: 1, Tickets: 1, FirstAt: now, LastAt: now}
	for _, c := range []struct {
		query, after string
		limit        int
		want         []customer.Customer
	}{
		{"", "", 10, []customer.Customer{ada, zoe}},
		{"", "", 1, []customer.Customer{ada}},
		{"", "ada.l@example.com", 10, []customer.Customer{zoe}},
		{"KING", "", 10, []customer.Customer{ada}}, // the name in an older booking
		{"ZOE@", "", 10, []customer.Customer{zoe}},
		{"210-555", "", 10, []customer.Customer{ada}},
		{"1777", "", 10, []customer.Customer{zoe}}, // the phone number in an order of tickets
		{"%", "", 10, nil},
		{"nobody", "", 10, nil},
	} {
		got, err := s.Customers(testkit.AsSystem(t), g.business, customer.Search{Query: c.query, After: c.after,
			Limit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.want)+len(got) > 0 && cmp.Diff(c.want, got) != "" {
			t.Errorf("%q after %q: %s", c.query, c.after, cmp.Diff(c.want, got))
		}
	}
}
