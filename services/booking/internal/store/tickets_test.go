package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// gala is an event with several tiers and a capacity that the tiers share.
type gala struct {
	business, event uuid.UUID
	capacity        int
	tiers           []uuid.UUID
	tierCapacities  []int
}

func newGala(capacity int, tierCapacities ...int) gala {
	g := gala{business: uuid.New(), event: uuid.New(), capacity: capacity, tierCapacities: tierCapacities}
	for range tierCapacities {
		g.tiers = append(g.tiers, uuid.New())
	}
	return g
}

func (g gala) newOrder(tier, quantity int) store.NewTicket {
	return g.newOrderOf(map[int]int{tier: quantity})
}

// newOrderOf returns an order of tickets. The map `quantities` has the number of tickets by index of the tier.
func (g gala) newOrderOf(quantities map[int]int) store.NewTicket {
	order := store.NewTicket{
		Ticket: store.Ticket{
			ID: uuid.New(), Status: booking.StatusSold, EventID: g.event, EventName: "Gala", Currency: euro,
			LocalStart: noon, StartsAt: noon, EndsAt: noon.Add(time.Hour), CustomerName: "Zoë", CreatedAt: now,
		},
		BusinessID: g.business, EventCapacity: g.capacity, OfferVersion: 3,
	}
	for tier, quantity := range quantities { // a map has no fixed order
		order.Tiers = append(order.Tiers, store.SoldTier{ID: g.tiers[tier], Name: fmt.Sprintf("Tier %d", tier),
			Quantity: quantity})
		order.TierCapacities = append(order.TierCapacities, g.tierCapacities[tier])
		order.Quantity += quantity
	}
	return order
}

// noRefundPart returns a refund of 0, as for an order that was not paid online.
func noRefundPart(store.Ticket) (refund.Part, error) { return refund.Part{}, nil }

// checkCounters fails the test unless the counters of events and tiers equal the sums of the orders.
func checkCounters(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	mismatches := mustCount(t, pool, `
		SELECT count(*) FROM event_sales AS e
		WHERE sold <> (SELECT coalesce(sum(quantity), 0) FROM tickets AS t
		               WHERE t.business_id = e.business_id AND t.event_id = e.event_id AND t.status <> 'cancelled')`)
	mismatches += mustCount(t, pool, `
		SELECT count(*) FROM tier_sales AS s
		WHERE sold <> (SELECT coalesce(sum(tier.quantity), 0) FROM tickets AS t, jsonb_to_recordset(t.tiers) AS tier (id uuid, quantity integer)
		               WHERE t.business_id = s.business_id AND t.event_id = s.event_id AND tier.id = s.tier_id AND t.status <> 'cancelled')`)
	if mismatches != 0 {
		t.Errorf("%d counters differ from the orders", mismatches)
	}
}

// readSold returns the number of sold tickets of each tier, and the number of all tickets as the last element.
func (g gala) readSold(t *testing.T, pool *pgxpool.Pool) []int {
	t.Helper()
	var sums []int
	all := 0
	for _, tier := range g.tiers {
		n := mustCount(t, pool,
			`SELECT coalesce(sum(tier.quantity), 0) FROM tickets, jsonb_to_recordset(tiers) AS tier (id uuid, quantity integer)
			WHERE event_id = $1 AND tier.id = $2 AND status <> 'cancelled'`, g.event, tier)
		sums, all = append(sums, n), all+n
	}
	return append(sums, all)
}

// checkFull fails the test if a refused order would fit into the event and its tiers in the end.
func (g gala) checkFull(t *testing.T, sums []int, refused []store.NewTicket) {
	t.Helper()
	for _, o := range refused {
		fits := sums[len(sums)-1]+o.Quantity <= g.capacity
		for _, tier := range o.Tiers {
			i := slices.Index(g.tiers, tier.ID)
			fits = fits && sums[i]+tier.Quantity <= g.tierCapacities[i]
		}
		if fits {
			t.Errorf("%v were refused, and would fit: sold %v", o.Tiers, sums)
		}
	}
}

func TestConcurrentSellNeverOversells(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]gala{
		"the event is the bound":      newGala(60, 50, 40, 30),
		"the tiers are the bound":     newGala(200, 25, 20, 15),
		"one of the tiers is":         newGala(90, 10, 100, 100),
		"the last seat":               newGala(1, 1, 1, 1),
		"nothing is sold of no seats": newGala(0, 5, 5, 5),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t)
			refused := sellAtOnce(t, s, 200, func(i int) store.NewTicket {
				return g.newOrder(i%len(g.tiers), 1+i/len(g.tiers)%3)
			})
			sums := g.readSold(t, pool)
			for i, capacity := range append(g.tierCapacities, g.capacity) {
				if sums[i] > capacity {
					t.Errorf("%d tickets are sold, of %d: %v", sums[i], capacity, sums)
				}
			}
			g.checkFull(t, sums, refused)
			checkCounters(t, pool)
		})
	}
}

// TestConcurrentOrdersOfTiersAreAllOrNothing orders several tiers, named in different orders. Each order
// succeeds or fails as a whole. Without a fixed order of locking, the transactions would deadlock.
func TestConcurrentOrdersOfTiersAreAllOrNothing(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]gala{
		"the event is the bound": newGala(40, 50, 40, 30),
		"the tiers are":          newGala(200, 9, 12, 15),
		"the last of a tier":     newGala(200, 1, 100, 100),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t)
			refused := sellAtOnce(t, s, 64, func(i int) store.NewTicket {
				return g.newOrderOf([]map[int]int{{0: 1, 1: 2}, {1: 1, 2: 1}, {2: 2, 0: 1}, {0: 1, 1: 1, 2: 1}}[i%4])
			})
			if len(refused) == 0 || len(refused) == 64 {
				t.Errorf("%d of 64 orders were refused", len(refused))
			}
			sums := g.readSold(t, pool)
			for i, capacity := range append(g.tierCapacities, g.capacity) {
				if sums[i] > capacity {
					t.Errorf("%d tickets are sold, of %d: %v", sums[i], capacity, sums)
				}
			}
			g.checkFull(t, sums, refused)
			checkCounters(t, pool)
		})
	}
}

// sellAtOnce places `orders` orders at the same moment and returns the refused ones.
func sellAtOnce(t *testing.T, s *store.Store, orders int, order func(i int) store.NewTicket) []store.NewTicket {
	t.Helper()
	ctx, cancel := context.WithTimeout(actor.AsSystem(context.Background()), testkit.MaxWait)
	defer cancel()
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		refused []store.NewTicket
		start   = make(chan struct{})
	)
	for i := range orders {
		order := order(i)
		wg.Go(func() {
			<-start
			_, err := s.SellTicket(ctx, order)
			var soldOut *store.SoldOutError
			switch {
			case errors.As(err, &soldOut):
				mu.Lock()
				defer mu.Unlock()
				refused = append(refused, order)
			case err != nil:
				t.Errorf("a sale failed: %v", err)
			}
		})
	}
	close(start)
	wg.Wait()
	return refused
}

func TestConcurrentSellAndCancelKeepCounters(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	g := newGala(40, 30, 30)
	ctx, cancel := context.WithTimeout(actor.AsSystem(context.Background()), testkit.MaxWait)
	defer cancel()
	var wg sync.WaitGroup
	for worker := range 16 {
		rng := rand.New(rand.NewPCG(1, uint64(worker)))
		wg.Go(func() {
			for range 15 {
				order := g.newOrder(rng.IntN(2), 1+rng.IntN(4))
				var soldOut *store.SoldOutError
				if _, err := s.SellTicket(ctx, order); errors.As(err, &soldOut) {
					continue
				} else if err != nil {
					t.Errorf("a sale failed: %v", err)
				}
				if rng.IntN(3) == 0 {
					continue
				}
				if _, err := s.CancelTicket(ctx, g.business, order.ID, now, noRefundPart); err != nil {
					t.Errorf("a cancellation failed: %v", err)
				}
			}
		})
	}
	wg.Wait()
	checkCounters(t, pool)
	if sums := g.readSold(t, pool); sums[0] > 30 || sums[1] > 30 || sums[2] > 40 {
		t.Errorf("oversold: %v", sums)
	}
}

func TestCancelTicketFreesTicketsOnce(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	g := newGala(5, 5)
	order := g.newOrder(0, 5)
	if _, err := s.SellTicket(testkit.AsSystem(t), order); err != nil {
		t.Fatal(err)
	}
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		results = map[string]int{}
	)
	for range 20 {
		wg.Go(func() {
			_, err := s.CancelTicket(actor.AsSystem(context.Background()), g.business, order.ID, now.Add(time.Hour),
				noRefundPart)
			mu.Lock()
			defer mu.Unlock()
			results[fmt.Sprint(err)]++
		})
	}
	wg.Wait()
	if want := map[string]int{"<nil>": 1, store.ErrCancelled.Error(): 19}; cmp.Diff(want, results) != "" {
		t.Errorf("got %v, want %v", results, want)
	}
	checkCounters(t, pool)
	if _, err := s.SellTicket(testkit.AsSystem(t), g.newOrder(0, 5)); err != nil {
		t.Errorf("the freed tickets are not for sale: %v", err)
	}
	for name, id := range map[string]uuid.UUID{"unknown": uuid.New(), "another business's": order.ID} {
		if _, err := s.CancelTicket(testkit.AsSystem(t), uuid.New(), id, now, noRefundPart); !errors.Is(err,
			store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCountTicketsAheadFromToday(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	g, elsewhere := newGala(100, 100), newGala(100, 100)
	midnight := time.Date(2027, 3, 10, 0, 0, 0, 0, time.UTC)
	at := func(g gala, start time.Time, quantity int) store.NewTicket {
		order := g.newOrder(0, quantity)
		order.LocalStart = start
		return order
	}
	cancelled := at(g, midnight.Add(time.Hour), 16)
	for _, o := range []store.NewTicket{
		at(g, midnight.Add(-time.Minute), 1), at(g, midnight, 2), at(g, midnight.Add(72*time.Hour), 4),
		at(elsewhere, midnight, 8), cancelled,
	} {
		if _, err := s.SellTicket(testkit.AsSystem(t), o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.CancelTicket(testkit.AsSystem(t), g.business, cancelled.ID, now, noRefundPart); err != nil {
		t.Fatal(err)
	}
	today := timespan.NewDate(2027, 3, 10)
	for day, want := range map[timespan.Date]int{today - 1: 7, today: 6, today + 1: 4, today + 4: 0} {
		if n, err := s.CountTicketsAhead(testkit.AsSystem(t), g.business, day); err != nil || n != want {
			t.Errorf("on %s, there are %d future tickets, %v; want %d", day, n, err, want)
		}
	}
}

func TestSellUsesCurrentCapacity(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	g := newGala(10, 10)
	sell := func(quantity int) error {
		_, err := s.SellTicket(testkit.AsSystem(t), g.newOrder(0, quantity))
		return err
	}
	left := func(err error) string { return fmt.Sprint(err) }
	if err := sell(8); err != nil {
		t.Fatal(err)
	}
	if got := left(sell(3)); got != "2 tickets of the event and [2] of its tiers are left" {
		t.Error(got)
	}
	g.capacity, g.tierCapacities[0] = 6, 9 // below the number of sold tickets: further orders are refused
	if got := left(sell(1)); got != "0 tickets of the event and [1] of its tiers are left" {
		t.Error(got)
	}
	g.capacity, g.tierCapacities[0] = 20, 12
	if err := sell(4); err != nil {
		t.Error(err)
	}
	if got := left(sell(1)); got != "8 tickets of the event and [0] of its tiers are left" {
		t.Error(got)
	}
}

func TestSalesCountPerTier(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	g, other := newGala(100, 50, 50), newGala(100, 50)
	elsewhere := g
	elsewhere.business = uuid.New()
	for _, o := range []store.NewTicket{g.newOrder(0, 3), g.newOrder(1, 2), g.newOrder(1, 4), other.newOrder(0, 9),
		elsewhere.newOrder(0, 50)} {
		if _, err := s.SellTicket(testkit.AsSystem(t), o); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Sales(testkit.AsSystem(t), g.business, []uuid.UUID{g.event, other.event, uuid.New()})
	if err != nil {
		t.Fatal(err)
	}
	byTier := map[uuid.UUID]int{}
	for _, e := range got {
		byTier[e.EventID] = e.Sold
		for _, tier := range e.Tiers {
			byTier[tier.TierID] = tier.Sold
		}
	}
	if diff := cmp.Diff(map[uuid.UUID]int{g.event: 9, g.tiers[0]: 3, g.tiers[1]: 6}, byTier); diff != "" {
		t.Error(diff)
	}
}

func TestTicketsArePagedByAge(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	g, other := newGala(100, 50, 50), newGala(100, 50)
	other.business = g.business
	var want []uuid.UUID
	for i := range 5 {
		order := g.newOrder(i%2, 1+i)
		order.CreatedAt = now.Add(time.Duration(i) * time.Minute)
		elsewhere := other.newOrder(0, 1)
		for _, o := range []store.NewTicket{order, elsewhere} {
			if _, err := s.SellTicket(testkit.AsSystem(t), o); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, order.ID)
	}
	if _, err := s.CancelTicket(testkit.AsSystem(t), g.business, want[2], now, noRefundPart); err != nil {
		t.Fatal(err)
	}
	var got []uuid.UUID
	var third store.Ticket
	for cursor := ""; ; {
		page, next, err := s.Tickets(testkit.AsSystem(t), g.business, booking.TicketFilter{EventID: &g.event},
			request.Page{Limit: 2, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, ticket := range page {
			if got = append(got, ticket.ID); len(got) == 3 {
				third = ticket
			}
		}
		if cursor = next; next == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	cancelledAt := now
	whole := store.Ticket{
		ID: want[2], Status: "cancelled", EventID: g.event, EventName: "Gala", Currency: euro,
		Tiers: []store.SoldTier{{ID: g.tiers[0], Name: "Tier 0", Quantity: 3}}, LocalStart: noon, StartsAt: noon,
		EndsAt: noon.Add(time.Hour), Quantity: 3, CustomerName: "Zoë", FormData: json.RawMessage("{}"),
		CreatedAt: now.Add(2 * time.Minute), CancelledAt: &cancelledAt, Sequence: 2,
	}
	if diff := cmp.Diff(whole, third); diff != "" {
		t.Error(diff)
	}
	if all, _, err := s.Tickets(testkit.AsSystem(t), g.business, booking.TicketFilter{},
		request.Page{Limit: 100}); err != nil || len(all) != 10 {
		t.Errorf("%d orders of all events, %v", len(all), err)
	}
	if _, _, err := s.Tickets(testkit.AsSystem(t), g.business, booking.TicketFilter{},
		request.Page{Limit: 1, Cursor: "x"}); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("a bad cursor: %v", err)
	}
}

// TestTicketsMatchCustomer shows that a query finds a part of a name or an e-mail address in any case. The
// characters % and _ have no special meaning.
func TestTicketsMatchCustomer(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	g := newGala(100, 50)
	for name, address := range map[string]string{"Zoë Martins": "zoe@example.com", "Bruno 100%": "",
		"Martina_X": "ada@example.com"} {
		order := g.newOrder(0, 1)
		if order.CustomerName = name; address != "" {
			order.CustomerEmail = &address
		}
		if _, err := s.SellTicket(testkit.AsSystem(t), order); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]int{"": 3, "martin": 2, "MARTINS": 1, "0%": 1, "%": 1, "_": 1, "ADA@example": 1,
		"@example.com": 2, "nobody": 0} {
		found, _, err := s.Tickets(testkit.AsSystem(t), g.business,
			booking.TicketFilter{EventID: &g.event, Query: query}, request.Page{Limit: 10})
		if err != nil || len(found) != want {
			t.Errorf("%q finds %d, want %d: %v", query, len(found), want, err)
		}
	}
}
