package api_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// runProcess is the context of a process that is killed after a number of points. There is a point before and after
// each SQL statement and each call of booking. A killed process does not send its next request, or does not receive the
// answer to it. It sends nothing afterwards.
type crashPoints struct {
	context.Context
	kill context.CancelFunc
	left atomic.Int64
}

func (l *crashPoints) pass() bool {
	if l.left.Add(-1) < 0 {
		l.kill()
		return false
	}
	return true
}

// process is a rental process that can be killed and started again.
type process struct {
	s        service
	name     string
	pool     *pgxpool.Pool
	records  *store.Store
	owner    *usecase.Owner
	payments *usecase.Reconciliation
	current  atomic.Pointer[crashPoints]
}

var _ pgx.QueryTracer = (*process)(nil)

func (p *process) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if l := p.current.Load(); !l.pass() {
		return l
	}
	return ctx
}

func (p *process) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {
	p.current.Load().pass()
}

func newProcess(t *testing.T, s service) *process {
	t.Helper()
	p := &process{s: s, name: uuid.NewString()}
	p.run(t, 1<<40, func(context.Context) {})
	cfg := s.pool.Config()
	cfg.ConnConfig.Tracer, cfg.ConnConfig.RuntimeParams["application_name"] = p, p.name
	var err error
	if p.pool, err = pgxpool.NewWithConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.pool.Close)
	p.records = store.New(p.pool)
	s.payments.shouldFail = func() bool { return !p.current.Load().pass() }
	p.owner = usecase.NewOwner(s.fakePeers, p.records, s.fakePeers, s.payments, s.links, requestTimeout, s.clock,
		telemetry.Discard())
	p.payments = usecase.NewReconciliation(p.records, s.payments, s.clock, telemetry.Discard())
	return p
}

// run runs `do` until it returns or the process is killed at the last point. It reports whether the process was not
// killed.
func (p *process) run(t *testing.T, points int64, do func(context.Context)) bool {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	l := &crashPoints{Context: ctx, kill: kill}
	l.left.Store(points)
	p.current.Store(l)
	do(l)
	if l.Err() == nil {
		return true
	}
	// The database releases the locks of the killed process after it has closed its connections.
	for p.pool.Reset(); ; {
		var n int
		if err := p.s.pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1`,
			p.name).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return false
		}
	}
}

// customer is a customer that repeats a reservation until it is answered. Depending on `pays` and `cancels`, the
// customer pays it and cancels it.
type customer struct {
	id                    uuid.UUID
	key                   string
	day                   timespan.Date
	willPay, willCancel   bool
	hasPaid, hasCancelled bool
}

// reserve makes a reservation of a kayak with a bike for two hours.
func (c *customer) reserve(ctx context.Context, from *usecase.Owner) (usecase.ReserveResult, error) {
	start, end, email := timespan.TimeOfDay(600), timespan.TimeOfDay(720), "zoe@example.com"
	page := idempotency.With(actor.With(ctx, actor.Actor{Kind: actor.Page}), idempotency.Request{Key: c.key})
	return from.Reserve(page, actor.Actor{Kind: actor.Page}, "harbor", usecase.Request{
		RentalID: uuid.MustParse(kayak), Extras: []usecase.Extra{{RentalID: uuid.MustParse(bike), Quantity: 1}},
		CustomerName: "Zoë", CustomerEmail: &email,
		Period: usecase.Period{Dates: occupancy.Dates{From: c.day, To: c.day}, Start: &start, End: &end, Quantity: 1},
	})
}

func (c *customer) act(ctx context.Context, p *process) {
	if c.id == uuid.Nil {
		result, err := c.reserve(ctx, p.owner)
		if err != nil || ctx.Err() != nil {
			return
		}
		c.id = result.ID
	}
	if c.willPay && !c.hasPaid {
		c.hasPaid = p.s.payments.pay(c.id)
	}
	if c.willCancel && !c.hasCancelled {
		offer, err := p.s.Get(ctx, "harbor")
		if err == nil {
			_, err = p.owner.Cancellations(offer).Cancel(idempotency.With(ctx,
				idempotency.Request{Key: c.key + " off"}),
				actor.Actor{Kind: actor.Owner}, offer.ID, c.id, booking.RefundFull)
		}
		c.hasCancelled = err == nil && ctx.Err() == nil
	}
}

// TestReserveKeepsReservationIfPaymentMayBeStored loses the answer to the commit that stores a payment. The
// reservation is not taken back, because the payment may be stored. A repeated request returns the same reservation.
func TestReserveKeepsReservationIfPaymentMayBeStored(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	pool, conns := testkit.OpenFaultyPool(t, s.pool)
	owner := usecase.NewOwner(s.fakePeers, store.New(pool), s.fakePeers, s.payments, s.links, requestTimeout, s.clock,
		telemetry.Discard())
	calls := 0
	s.payments.shouldFail = func() bool {
		if calls++; calls == 2 { // the payment is open; the next commit stores it
			conns.Break("commit", testkit.DropAnswer, false)
		}
		return false
	}
	c := customer{key: uuid.NewString(), day: timespan.NewDate(2027, time.June, 11)}
	if result, err := c.reserve(t.Context(), owner); !fault.Is(err, fault.OutcomeUnknown) {
		t.Errorf("got %+v, %v", result, err)
	}
	result, err := c.reserve(t.Context(), owner)
	if err != nil || result.CheckoutURL == "" {
		t.Fatalf("the same request again: %+v, %v", result, err)
	}
	s.expectState(t, result.ID, "pending", "open", 1, createdEvent)
}

// TestReservationSurvivesCrashAtAnyPoint kills rental at 40 random points while customers
// reserve, pay and cancel, and payments expire. In the end, each reservation is either reserved and paid, or cancelled.
// A cancelled reservation occupies no units, and its payment, if any, was refunded once.
func TestReservationSurvivesCrashAtAnyPoint(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	s := startOnlinePayment(t)
	p := newProcess(t, s)
	reserved, kills := 0, 0
	for round := 0; kills < 40; round++ {
		c := &customer{key: uuid.NewString(), day: timespan.NewDate(2027, time.June, 12) + timespan.Date(round),
			willPay: rng.IntN(3) > 0, willCancel: rng.IntN(2) == 0}
		runProcess := func(ctx context.Context) {
			c.act(ctx, p)
			_ = p.payments.RefreshPayments(ctx)
			_ = p.payments.ClosePayments(ctx)
		}
		for range 4 {
			if !p.run(t, rng.Int64N(120), runProcess) {
				kills++
			}
			s.clock.Advance(time.Duration(rng.IntN(20)) * time.Minute)
			s.payments.step()
		}
		for range 5 { // two wait for a killed attempt, one reserves, one expires, one reconciles
			if !p.run(t, 1<<40, runProcess) {
				t.Fatal("the process was killed, but should have ended")
			}
			s.payments.step()
			s.clock.Advance(expiresAfter)
		}
		reserved += p.expectEnded(t, c)
	}
	if n := s.countOccupied(t, kayak); n != reserved || s.countOccupied(t, bike) != reserved {
		t.Errorf("%d kayaks and %d bikes are occupied by %d reservations", n, s.countOccupied(t, bike), reserved)
	}
}

// expectEnded checks the final state of a customer's reservation and returns the number of occupied units.
func (p *process) expectEnded(t *testing.T, c *customer) int {
	t.Helper()
	var status string
	var unfinished, duplicates int
	err := p.s.pool.QueryRow(t.Context(), `SELECT (SELECT status FROM reservations WHERE id = $1),
		(SELECT count(*) FROM reservations WHERE status = 'pending' OR payment->>'status' IN ('creating', 'open', 'cancelling')),
		(SELECT count(*) FROM (SELECT FROM events WHERE subject_id = $1 GROUP BY type HAVING count(*) > 1) AS told)`, c.id).Scan(&status, &unfinished, &duplicates)
	if err != nil {
		t.Fatal(err)
	}
	a := p.s.payments.find(c.id)
	if unfinished != 0 || duplicates != 0 || c.willCancel && !c.hasCancelled && status != "cancelled" {
		t.Errorf("%s: %d wait, %d events are recorded twice, and cancelling was answered: %t", c.id, unfinished, duplicates,
			c.hasCancelled)
	}
	switch {
	case status == "reserved" && c.hasPaid && !c.willCancel && len(a.refunds) == 0:
		return 1
	case status == "cancelled" && !c.hasPaid && len(a.refunds) == 0:
	case status == "cancelled" && c.hasPaid && (c.willCancel || a.isLate) && slices.Equal(a.refunds, []int64{2600}):
	default:
		t.Errorf("status %s; paid: %t, to be cancelled: %t; refunds are %v; %+v", status, c.hasPaid, c.willCancel,
			a.refunds,
			a.PaymentState)
	}
	return 0
}
