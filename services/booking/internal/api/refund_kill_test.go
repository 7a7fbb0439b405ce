package api_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/stripe"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// life is the life of a process. The process passes a point before and after each statement and each call of the
// provider, and is killed at the last point.
//
// If the last point is before a statement or call, the process does not send it. If the last point is after it, the
// process does not get the answer. A killed process sends nothing more.
type life struct {
	context.Context
	kill   context.CancelFunc
	points atomic.Int64
}

var errKilled = errors.New("the process was killed")

func newLife(t *testing.T, points int64) *life {
	ctx, kill := context.WithCancel(t.Context())
	l := &life{Context: ctx, kill: kill}
	l.points.Store(points)
	return l
}

// lives reports whether the process survives this point.
func (l *life) lives() bool {
	if l.points.Add(-1) < 0 {
		l.kill()
		return false
	}
	return true
}

// mortal traces the database and wraps the provider for the current process.
type mortal struct {
	payment.Provider
	now atomic.Pointer[life]
}

var _ pgx.QueryTracer = (*mortal)(nil)

func (m *mortal) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if l := m.now.Load(); !l.lives() {
		return l
	}
	return ctx
}

func (m *mortal) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {
	m.now.Load().lives()
}

func (m *mortal) Refund(ctx context.Context, r payment.Refund) (payment.RefundState, error) {
	l := m.now.Load()
	if !l.lives() {
		return payment.RefundState{}, errKilled
	}
	said, err := m.Provider.Refund(ctx, r)
	if !l.lives() {
		return payment.RefundState{}, errKilled
	}
	return said, err
}

// pool opens connections that end with the process; `process` is their application_name.
func (m *mortal) pool(t *testing.T, cfg *pgxpool.Config, process string) *pgxpool.Pool {
	t.Helper()
	cfg.ConnConfig.Tracer = m
	cfg.ConnConfig.RuntimeParams["application_name"] = process
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// boughtKind has the functions to buy and cancel one kind of sale, and to check its refund.
type boughtKind struct {
	buy    func(round int) (id uuid.UUID, reference string)
	cancel func(ctx context.Context, records *store.Store, id uuid.UUID, wanted booking.RefundAmount) error
	expect func(id uuid.UUID, reference string, owed int64)
}

// TestKilledAtAnyPointARefundIsMadeOnce kills the process that cancels and refunds at 200 random points, up to five
// times for one booking. In that time the provider answers, fails, breaks connections and forgets its idempotency keys.
// The client repeats its cancellation until it gets an answer. In the end, the right amount is refunded once.
func TestKilledAtAnyPointARefundIsMadeOnce(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	s.killRefunds(t, f, 200, boughtKind{
		buy: func(round int) (uuid.UUID, string) { return s.bought(f, fmt.Sprintf("%02d:00", round%24)) },
		cancel: func(ctx context.Context, records *store.Store, id uuid.UUID, wanted booking.RefundAmount) error {
			_, err := usecase.NewCancellations(records, s.providers, s.clock).Bookings.Cancel(ctx,
				actor.Actor{Kind: actor.Owner}, s.offer.ID, id, wanted)
			return err
		},
		expect: func(id uuid.UUID, reference string, owed int64) { s.expectGivenBack(f, id, reference, owed) },
	})
}

// TestKilledAtAnyPointTicketsAreRefundedOnce kills the process in the same way while it cancels and refunds orders of
// tickets. Each order takes the last ticket of its event.
func TestKilledAtAnyPointTicketsAreRefundedOnce(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openBoxOffice(t, f.URL)
	s.change(withGala(func(e *catalog.Event) {
		e.Public, e.PaymentRequirement, e.TotalCapacity, e.Date = true, catalog.RequirementFull, 1,
			timespan.NewDate(2030, time.March, 1)
		e.Tiers[0].Price = 4000
	}))
	s.killRefunds(t, f, 100, boughtKind{
		buy: func(int) (uuid.UUID, string) {
			sold, page := s.order("", seats(1, 0))
			s.paysFor(f, page)
			return sold.ID, "pi_of_" + page
		},
		cancel: func(ctx context.Context, records *store.Store, id uuid.UUID, wanted booking.RefundAmount) error {
			_, err := usecase.NewCancellations(records, s.providers, s.clock).Tickets.Cancel(ctx,
				actor.Actor{Kind: actor.Owner}, s.offer.ID, id, wanted)
			return err
		},
		expect: func(id uuid.UUID, reference string, owed int64) { s.expectTicketsGivenBack(f, id, reference, owed) },
	})
}

func (s *shop) killRefunds(t *testing.T, f *fakeStripe, deaths int, of boughtKind) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	m := &mortal{Provider: s.providers[stripe.Name]}
	m.now.Store(newLife(t, 1<<40))
	process := uuid.NewString()
	pool := m.pool(t, s.pool.Config(), process)
	records := store.New(pool)
	providers := payment.Providers{stripe.Name: m}
	payments := usecase.NewPayments(records, usecase.PaymentOptions{Providers: providers, Within: time.Minute}, s.clock,
		telemetry.Discard())

	died := 0
	for round := 0; died < deaths; round++ {
		id, reference := of.buy(round)
		wanted, owed := howMuch(rng)
		answered := false
		// live runs the process until it is killed or finished, and reports whether it finished.
		live := func(points int64) bool {
			l := newLife(t, points)
			defer l.kill()
			m.now.Store(l)
			if !answered {
				err := of.cancel(idempotency.With(l, idempotency.Request{Key: id.String()}), records, id, wanted)
				answered = err == nil && l.Err() == nil
			}
			_ = payments.Reconcile(l)
			if l.Err() == nil {
				return true
			}
			// The database releases the locks of the process when it notices that the connections are closed.
			for pool.Reset(); s.count(`SELECT count(*) FROM pg_stat_activity WHERE application_name = '`+process+
				`'`) > 0; {
			}
			return false
		}
		for range 5 {
			f.set([]manner{answers, answers, fails, breaks, throttles, answersNonsense}[rng.IntN(6)])
			if !live(rng.Int64N(70)) {
				died++
			}
			if rng.IntN(3) == 0 {
				f.forget()
			}
			s.clock.Advance(61 * time.Minute)
		}
		f.set(answers)
		if !live(1<<40) || !answered {
			t.Fatalf("round %d: the cancellation was not answered at last", round)
		}
		of.expect(id, reference, owed)
	}
}

// expectTicketsGivenBack fails the test unless the order is cancelled and the provider refunded `owed` cents. The
// stored refund and the events must show the same.
func (s *shop) expectTicketsGivenBack(f *fakeStripe, id uuid.UUID, reference string, owed int64) {
	s.t.Helper()
	var given []int64
	told := "ticket.created payment.succeeded ticket.sold ticket.cancelled"
	if owed > 0 {
		given = []int64{owed}
		told += " payment.refunded"
	}
	if got := f.given(reference); !slices.Equal(got, given) {
		s.t.Errorf("%s: %v went back, want %v", id, got, given)
	}
	var status, events string
	var refunded, held int64
	err := s.pool.QueryRow(s.t.Context(),
		`SELECT t.status, p.refunded, (SELECT string_agg(type, ' ' ORDER BY sequence) FROM events e WHERE e.subject_id = t.id),
			(SELECT sold FROM event_sales e WHERE e.event_id = t.event_id)
		FROM tickets t JOIN payments p ON p.business_id = t.business_id AND p.subject_id = t.id WHERE t.id = $1`, id).Scan(&status, &refunded, &events, &held)
	if err != nil {
		s.t.Fatal(err)
	}
	if status != "cancelled" || refunded != owed || held != 0 || events != told {
		s.t.Errorf("%s: it is %s, holds %d, %d is noted as refunded, told are %s; want cancelled, 0, %d and %s", id,
			status, held, refunded, events, owed, told)
	}
}

// howMuch returns a random refund that the owner requests of a payment of 40.00, and its amount in cents.
func howMuch(rng *rand.Rand) (booking.RefundAmount, int64) {
	cents := 1 + rng.Int64N(4000)
	all := []booking.RefundAmount{booking.RefundFull, booking.RefundNone,
		booking.RefundAmount(fmt.Sprintf("%d.%02d", cents/100, cents%100))}
	i := rng.IntN(len(all))
	return all[i], []int64{4000, 0, cents}[i]
}

// expectGivenBack fails the test unless the booking is cancelled and the provider refunded `owed` cents. The stored
// refund and the events must show the same.
func (s *shop) expectGivenBack(f *fakeStripe, id uuid.UUID, reference string, owed int64) {
	s.t.Helper()
	var given []int64
	told := "booking.created payment.succeeded booking.confirmed booking.cancelled"
	if owed > 0 {
		given = []int64{owed}
		told += " payment.refunded"
	}
	if got := f.given(reference); !slices.Equal(got, given) {
		s.t.Errorf("%s: %v went back, want %v", id, got, given)
	}
	var booking, events string
	var refunded, held int64
	err := s.pool.QueryRow(s.t.Context(),
		`SELECT b.status, p.refunded, (SELECT string_agg(type, ' ' ORDER BY sequence) FROM events e WHERE e.subject_id = b.id),
			(SELECT count(*) FROM occupied_time o WHERE o.business_id = b.business_id AND o.booking_id = b.id)
		FROM bookings b JOIN payments p ON p.business_id = b.business_id AND p.subject_id = b.id WHERE b.id = $1`, id).Scan(&booking, &refunded, &events, &held)
	if err != nil {
		s.t.Fatal(err)
	}
	if booking != "cancelled" || refunded != owed || held != 0 || strings.TrimSpace(events) != told {
		s.t.Errorf("%s: it is %s, holds %d times, %d is noted as refunded, told are %s; want cancelled, 0, %d and %s",
			id, booking, held, refunded, events, owed, told)
	}
}
