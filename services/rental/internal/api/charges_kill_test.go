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

// life is the context of a process that is killed after a number of points. There is a point before and after each SQL
// statement and each call of booking. A killed process does not send its next request, or does not receive the answer
// to it. It sends nothing afterwards.
type life struct {
	context.Context
	kill   context.CancelFunc
	points atomic.Int64
}

func (l *life) lives() bool {
	if l.points.Add(-1) < 0 {
		l.kill()
		return false
	}
	return true
}

// process is a rental process that can be killed and started again.
type process struct {
	s       service
	name    string
	pool    *pgxpool.Pool
	records *store.Store
	owner   *usecase.Owner
	news    *usecase.Reconciliation
	now     atomic.Pointer[life]
}

var _ pgx.QueryTracer = (*process)(nil)

func (p *process) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if l := p.now.Load(); !l.lives() {
		return l
	}
	return ctx
}

func (p *process) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {
	p.now.Load().lives()
}

func newProcess(t *testing.T, s service) *process {
	t.Helper()
	p := &process{s: s, name: uuid.NewString()}
	p.live(t, 1<<40, func(context.Context) {})
	cfg := s.pool.Config()
	cfg.ConnConfig.Tracer, cfg.ConnConfig.RuntimeParams["application_name"] = p, p.name
	var err error
	if p.pool, err = pgxpool.NewWithConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.pool.Close)
	p.records = store.New(p.pool)
	s.bank.away = func() bool { return !p.now.Load().lives() }
	p.owner = usecase.NewOwner(s.peers, p.records, s.peers, s.bank, s.links, requestTimeout, s.clock,
		telemetry.Discard())
	p.news = usecase.NewReconciliation(p.records, s.bank, s.clock, telemetry.Discard())
	return p
}

// live runs `do` until it returns or the process is killed at the last point. It reports whether the process was not
// killed.
func (p *process) live(t *testing.T, points int64, do func(context.Context)) bool {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	l := &life{Context: ctx, kill: kill}
	l.points.Store(points)
	p.now.Store(l)
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
	id              uuid.UUID
	key             string
	day             timespan.Date
	pays, cancels   bool
	paid, cancelled bool
}

// reserves makes a reservation of a kayak with a bike for two hours.
func (c *customer) reserves(ctx context.Context, from *usecase.Owner) (usecase.Made, error) {
	start, end, email := timespan.TimeOfDay(600), timespan.TimeOfDay(720), "zoe@example.com"
	page := idempotency.With(actor.With(ctx, actor.Actor{Kind: actor.Page}), idempotency.Request{Key: c.key})
	return from.Reserve(page, actor.Actor{Kind: actor.Page}, "harbor", usecase.Request{
		RentalID: uuid.MustParse(kayak), Extras: []usecase.Extra{{RentalID: uuid.MustParse(bike), Quantity: 1}},
		CustomerName: "Zoë", CustomerEmail: &email,
		Stretch: usecase.Stretch{Dates: occupancy.Dates{From: c.day, To: c.day}, Start: &start, End: &end, Quantity: 1},
	})
}

func (c *customer) acts(ctx context.Context, p *process) {
	if c.id == uuid.Nil {
		made, err := c.reserves(ctx, p.owner)
		if err != nil || ctx.Err() != nil {
			return
		}
		c.id = made.ID
	}
	if c.pays && !c.paid {
		c.paid = p.s.bank.pay(c.id)
	}
	if c.cancels && !c.cancelled {
		offer, err := p.s.Get(ctx, "harbor")
		if err == nil {
			_, err = p.owner.Cancellations(offer).Cancel(idempotency.With(ctx, idempotency.Request{Key: c.key + " off"}),
				actor.Actor{Kind: actor.Owner}, offer.ID, c.id, booking.RefundFull)
		}
		c.cancelled = err == nil && ctx.Err() == nil
	}
}

// TestAReservationWhoseChargeMayBeNotedIsLeftToTheNextLook loses the answer to the commit that stores a charge. The
// reservation is not taken back, because the charge may be stored. A repeated request returns the same reservation.
func TestAReservationWhoseChargeMayBeNotedIsLeftToTheNextLook(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	pool, wires := testkit.OpenFaultyPool(t, s.pool)
	owner := usecase.NewOwner(s.peers, store.New(pool), s.peers, s.bank, s.links, requestTimeout, s.clock,
		telemetry.Discard())
	calls := 0
	s.bank.away = func() bool {
		if calls++; calls == 2 { // the charge is open; the next commit stores it
			wires.Break("commit", testkit.DropAnswer, false)
		}
		return false
	}
	c := customer{key: uuid.NewString(), day: timespan.NewDate(2027, time.June, 11)}
	if made, err := c.reserves(t.Context(), owner); !fault.Is(err, fault.OutcomeUnknown) {
		t.Errorf("got %+v, %v", made, err)
	}
	made, err := c.reserves(t.Context(), owner)
	if err != nil || made.CheckoutURL == "" {
		t.Fatalf("the same request again: %+v, %v", made, err)
	}
	s.expect(t, made.ID, "pending", "open", 1, created)
}

// TestKilledAtAnyPointAReservationIsPaidOrFreedAndRefundedOnce kills rental at 40 random points while customers
// reserve, pay and cancel, and charges expire. In the end, each reservation is either reserved and paid, or cancelled.
// A cancelled reservation occupies no units, and its payment, if any, was refunded once.
func TestKilledAtAnyPointAReservationIsPaidOrFreedAndRefundedOnce(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	s := startOnlinePayment(t)
	p := newProcess(t, s)
	reserved, died := 0, 0
	for round := 0; died < 40; round++ {
		c := &customer{key: uuid.NewString(), day: timespan.NewDate(2027, time.June, 12) + timespan.Date(round),
			pays: rng.IntN(3) > 0, cancels: rng.IntN(2) == 0}
		life := func(ctx context.Context) {
			c.acts(ctx, p)
			_ = p.news.Ask(ctx)
			_ = p.news.Tell(ctx)
		}
		for range 4 {
			if !p.live(t, rng.Int64N(120), life) {
				died++
			}
			s.clock.Advance(time.Duration(rng.IntN(20)) * time.Minute)
			s.bank.step()
		}
		for range 5 { // two wait for a killed attempt, one reserves, one expires, one reconciles
			if !p.live(t, 1<<40, life) {
				t.Fatal("it was killed")
			}
			s.bank.step()
			s.clock.Advance(expiresAfter)
		}
		reserved += p.expectEnded(t, c)
	}
	if n := s.held(t, kayak); n != reserved || s.held(t, bike) != reserved {
		t.Errorf("%d kayaks and %d bikes are held by %d reservations", n, s.held(t, bike), reserved)
	}
}

// expectEnded checks the final state of a customer's reservation and returns the number of occupied units.
func (p *process) expectEnded(t *testing.T, c *customer) int {
	t.Helper()
	var status string
	var waiting, twice int
	err := p.s.pool.QueryRow(t.Context(), `SELECT (SELECT status FROM reservations WHERE id = $1),
		(SELECT count(*) FROM reservations WHERE status = 'pending' OR payment->>'status' IN ('creating', 'open', 'cancelling')),
		(SELECT count(*) FROM (SELECT FROM events WHERE subject_id = $1 GROUP BY type HAVING count(*) > 1) AS told)`, c.id).Scan(&status, &waiting, &twice)
	if err != nil {
		t.Fatal(err)
	}
	a := p.s.bank.of(c.id)
	if waiting != 0 || twice != 0 || c.cancels && !c.cancelled && status != "cancelled" {
		t.Errorf("%s: %d wait, %d events are told twice, and cancelling was answered: %t", c.id, waiting, twice,
			c.cancelled)
	}
	switch {
	case status == "reserved" && c.paid && !c.cancels && len(a.given) == 0:
		return 1
	case status == "cancelled" && !c.paid && len(a.given) == 0:
	case status == "cancelled" && c.paid && (c.cancels || a.late) && slices.Equal(a.given, []int64{2600}):
	default:
		t.Errorf("it is %s; paid: %t, to be cancelled: %t; %v went back; %+v", status, c.paid, c.cancels, a.given,
			a.Charge)
	}
	return 0
}
