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

// crashPoints decides when a process is killed. The process passes a point before and after each statement and each
// call of the provider, and is killed at the last point.
//
// If the last point is before a statement or call, the process does not send it. If the last point is after it, the
// process does not get the answer. A killed process sends nothing more.
type crashPoints struct {
	context.Context
	kill context.CancelFunc
	left atomic.Int64
}

var errKilled = errors.New("the process was killed")

func newCrashPoints(t *testing.T, points int64) *crashPoints {
	ctx, kill := context.WithCancel(t.Context())
	l := &crashPoints{Context: ctx, kill: kill}
	l.left.Store(points)
	return l
}

// pass reports whether the process survives this point.
func (l *crashPoints) pass() bool {
	if l.left.Add(-1) < 0 {
		l.kill()
		return false
	}
	return true
}

// crashingProcess traces the database and wraps the provider for the current process.
type crashingProcess struct {
	payment.Provider
	current atomic.Pointer[crashPoints]
}

var _ pgx.QueryTracer = (*crashingProcess)(nil)

func (m *crashingProcess) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if l := m.current.Load(); !l.pass() {
		return l
	}
	return ctx
}

func (m *crashingProcess) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {
	m.current.Load().pass()
}

func (m *crashingProcess) Refund(ctx context.Context, r payment.Refund) (payment.RefundState, error) {
	l := m.current.Load()
	if !l.pass() {
		return payment.RefundState{}, errKilled
	}
	state, err := m.Provider.Refund(ctx, r)
	if !l.pass() {
		return payment.RefundState{}, errKilled
	}
	return state, err
}

// pool opens connections that end with the process; `process` is their application_name.
func (m *crashingProcess) pool(t *testing.T, cfg *pgxpool.Config, process string) *pgxpool.Pool {
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

// saleKind has the functions to buy and cancel one kind of sale, and to check its refund.
type saleKind struct {
	buy    func(round int) (id uuid.UUID, reference string)
	cancel func(ctx context.Context, records *store.Store, id uuid.UUID, wanted booking.RefundAmount) error
	expect func(id uuid.UUID, reference string, owed int64)
}

// TestRefundSurvivesCrash kills the process that cancels and refunds at 200 random points, up to five
// times for one booking. In that time the provider answers, fails, breaks connections and forgets its idempotency keys.
// The client repeats its cancellation until it gets an answer. In the end, the right amount is refunded once.
func TestRefundSurvivesCrash(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	s.killRefunds(t, f, 200, saleKind{
		buy: func(round int) (uuid.UUID, string) { return s.buyPaid(f, fmt.Sprintf("%02d:00", round%24)) },
		cancel: func(ctx context.Context, records *store.Store, id uuid.UUID, requested booking.RefundAmount) error {
			_, err := usecase.NewCancellations(records, s.providers, s.clock).Bookings.Cancel(ctx,
				actor.Actor{Kind: actor.Owner}, s.offer.ID, id, requested)
			return err
		},
		expect: func(id uuid.UUID, reference string, amount int64) { s.expectRefunded(f, id, reference, amount) },
	})
}

// TestTicketRefundSurvivesCrash kills the process in the same way while it cancels and refunds orders of
// tickets. Each order takes the last ticket of its event.
func TestTicketRefundSurvivesCrash(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openTicketPayments(t, f.URL)
	s.change(withGala(func(e *catalog.Event) {
		e.Public, e.PaymentRequirement, e.TotalCapacity, e.Date = true, catalog.RequirementFull, 1,
			timespan.NewDate(2030, time.March, 1)
		e.Tiers[0].Price = 4000
	}))
	s.killRefunds(t, f, 100, saleKind{
		buy: func(int) (uuid.UUID, string) {
			order, page := s.order("", newTierOrder(1, 0))
			s.paysFor(f, page)
			return order.ID, "pi_of_" + page
		},
		cancel: func(ctx context.Context, records *store.Store, id uuid.UUID, requested booking.RefundAmount) error {
			_, err := usecase.NewCancellations(records, s.providers, s.clock).Tickets.Cancel(ctx,
				actor.Actor{Kind: actor.Owner}, s.offer.ID, id, requested)
			return err
		},
		expect: func(id uuid.UUID, reference string, amount int64) {
			s.expectTicketsRefunded(f, id, reference, amount)
		},
	})
}

func (s *paymentFixture) killRefunds(t *testing.T, f *fakeStripe, deaths int, of saleKind) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	m := &crashingProcess{Provider: s.providers[stripe.Name]}
	m.current.Store(newCrashPoints(t, 1<<40))
	process := uuid.NewString()
	pool := m.pool(t, s.pool.Config(), process)
	records := store.New(pool)
	providers := payment.Providers{stripe.Name: m}
	payments := usecase.NewPayments(records, usecase.PaymentOptions{Providers: providers, CallTimeout: time.Minute},
		s.clock,
		telemetry.Discard())

	kills := 0
	for round := 0; kills < deaths; round++ {
		id, reference := of.buy(round)
		requested, amount := drawRefund(rng)
		answered := false
		// live runs the process until it is killed or finished, and reports whether it finished.
		live := func(points int64) bool {
			l := newCrashPoints(t, points)
			defer l.kill()
			m.current.Store(l)
			if !answered {
				err := of.cancel(idempotency.With(l, idempotency.Request{Key: id.String()}), records, id, requested)
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
			f.set([]behavior{answers, answers, fails, breaks, throttles, answersNonsense}[rng.IntN(6)])
			if !live(rng.Int64N(70)) {
				kills++
			}
			if rng.IntN(3) == 0 {
				f.forgetKeys()
			}
			s.clock.Advance(61 * time.Minute)
		}
		f.set(answers)
		if !live(1<<40) || !answered {
			t.Fatalf("round %d: the cancellation was not answered at last", round)
		}
		of.expect(id, reference, amount)
	}
}

// expectTicketsRefunded fails the test unless the order is cancelled and the provider refunded `amount` cents. The
// stored refund and the events must show the same.
func (s *paymentFixture) expectTicketsRefunded(f *fakeStripe, id uuid.UUID, reference string, amount int64) {
	s.t.Helper()
	var refunds []int64
	gotEvents := "ticket.created payment.succeeded ticket.sold ticket.cancelled"
	if amount > 0 {
		refunds = []int64{amount}
		gotEvents += " payment.refunded"
	}
	if got := f.sumRefunds(reference); !slices.Equal(got, refunds) {
		s.t.Errorf("%s: refunds are %v, want %v", id, got, refunds)
	}
	var status, events string
	var refunded, occupied int64
	err := s.pool.QueryRow(s.t.Context(),
		`SELECT t.status, p.refunded, (SELECT string_agg(type, ' ' ORDER BY sequence) FROM events e WHERE e.subject_id = t.id),
			(SELECT sold FROM event_sales e WHERE e.event_id = t.event_id)
		FROM tickets t JOIN payments p ON p.business_id = t.business_id AND p.subject_id = t.id WHERE t.id = $1`, id).Scan(&status, &refunded, &events, &occupied)
	if err != nil {
		s.t.Fatal(err)
	}
	if status != "cancelled" || refunded != amount || occupied != 0 || events != gotEvents {
		s.t.Errorf("%s: status %s, %d occupied, %d refunded, events %s; want cancelled, 0, %d and %s", id,
			status, occupied, refunded, events, amount, gotEvents)
	}
}

// drawRefund returns a random refund that the owner requests of a payment of 40.00, and its amount in cents.
func drawRefund(rng *rand.Rand) (booking.RefundAmount, int64) {
	cents := 1 + rng.Int64N(4000)
	all := []booking.RefundAmount{booking.RefundFull, booking.RefundNone,
		booking.RefundAmount(fmt.Sprintf("%d.%02d", cents/100, cents%100))}
	i := rng.IntN(len(all))
	return all[i], []int64{4000, 0, cents}[i]
}

// expectRefunded fails the test unless the booking is cancelled and the provider refunded `amount` cents. The stored
// refund and the events must show the same.
func (s *paymentFixture) expectRefunded(f *fakeStripe, id uuid.UUID, reference string, amount int64) {
	s.t.Helper()
	var refunds []int64
	gotEvents := "booking.created payment.succeeded booking.confirmed booking.cancelled"
	if amount > 0 {
		refunds = []int64{amount}
		gotEvents += " payment.refunded"
	}
	if got := f.sumRefunds(reference); !slices.Equal(got, refunds) {
		s.t.Errorf("%s: refunds are %v, want %v", id, got, refunds)
	}
	var booking, events string
	var refunded, occupied int64
	err := s.pool.QueryRow(s.t.Context(),
		`SELECT b.status, p.refunded, (SELECT string_agg(type, ' ' ORDER BY sequence) FROM events e WHERE e.subject_id = b.id),
			(SELECT count(*) FROM occupied_time o WHERE o.business_id = b.business_id AND o.booking_id = b.id)
		FROM bookings b JOIN payments p ON p.business_id = b.business_id AND p.subject_id = b.id WHERE b.id = $1`, id).Scan(&booking, &refunded, &events, &occupied)
	if err != nil {
		s.t.Fatal(err)
	}
	if booking != "cancelled" || refunded != amount || occupied != 0 || strings.TrimSpace(events) != gotEvents {
		s.t.Errorf("%s: status %s, %d occupied times, %d refunded, events %s; want cancelled, 0, %d and %s",
			id, booking, occupied, refunded, events, amount, gotEvents)
	}
}
