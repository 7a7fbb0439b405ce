package store_test

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// readEvents returns the events of a subject in order, one string for each event.
func readEvents(t testing.TB, pool *pgxpool.Pool, subject uuid.UUID) []string {
	t.Helper()
	rows, err := pool.Query(actor.AsSystem(context.Background()), `
		SELECT concat_ws(' ', sequence, type, subject_kind, actor_kind, data->>'status', data->'payment'->>'status')
		FROM events WHERE subject_id = $1 ORDER BY sequence`, subject)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// checkRecorded fails the test unless each subject has one event for each of its changes. The newest event must show
// the subject as it is now. Intermediate steps of a payment that no event reports are not changes.
func checkRecorded(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	for _, of := range []struct{ table, row string }{
		{"bookings", `to_jsonb(s) - 'link_hash' = e.data - '{payment,from}'::text[]`},
		{"tickets", `to_jsonb(s) - 'link_hash' = e.data - 'payment'`},
		{"api_keys", `to_jsonb(s) - 'hash' - 'last_used_at' = e.data - 'last_used_at'`},
	} {
		mismatches := mustCount(t, pool, `
			SELECT count(*) FROM `+of.table+` s
			WHERE (SELECT count(*) FROM events e WHERE e.business_id = s.business_id AND e.subject_id = s.id) <> s.sequence
			   OR s.sequence > 0 AND NOT EXISTS (SELECT FROM events e WHERE e.business_id = s.business_id AND e.subject_id = s.id
			                  AND e.sequence = s.sequence AND `+of.row+`)`)
		if mismatches != 0 {
			t.Errorf("%d rows of %s differ from the last data in their events", mismatches, of.table)
		}
	}
}

// recording is a test that checks which events are recorded.
type recording struct {
	*testing.T
	s    *store.Store
	pool *pgxpool.Pool
}

// by returns the context of a change by an actor of this kind.
func (r recording) by(kind actor.Kind) context.Context {
	return actor.With(r.Context(), actor.Actor{Kind: kind})
}

func (r recording) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// expect fails the test unless the events of the subject are those in `want`, one string for each.
func (r recording) expect(subject uuid.UUID, want ...string) {
	r.Helper()
	if diff := cmp.Diff(want, readEvents(r, r.pool, subject)); diff != "" {
		r.Errorf("(-want +got):\n%s", diff)
	}
}

func transitionOf(m state.TransitionName) state.Transition {
	t, _ := state.FindTransition(m)
	return t
}

func TestEventsRecordActor(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	r := recording{t, s, pool}
	r.moves()
	r.pays()
	r.sellsAndMakesKeys()
	if n := mustCount(t, pool, `SELECT count(*) FROM events WHERE data ?| '{hash,link_hash}'`); n != 0 {
		t.Error("an event contains the hash of a secret")
	}
	if n := mustCount(t, pool,
		`SELECT count(*) FROM events WHERE substr(id::text, 15, 1) <> '7' OR substr(id::text, 20, 1) NOT IN ('8', '9', 'a', 'b')
		OR abs(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint - extract(epoch FROM now()) * 1000) > 600000`); n != 0 {
		t.Error("an id is not a UUIDv7 of the present time")
	}
	checkRecorded(t, pool)
}

func (r recording) moves() {
	plain := newBooking(uuid.New(), newPart(uuid.New(), 0, 0, 45))
	r.must(r.s.Book(r.by(actor.APIKey), plain))
	_, err := r.s.ApplyTransition(r.by(actor.Owner), plain.BusinessID, plain.ID, transitionOf(state.Confirm), now)
	r.must(err)
	if _, err := r.s.ApplyTransition(r.by(actor.Owner), plain.BusinessID, plain.ID, transitionOf(state.Confirm),
		now); err == nil {
		r.Error("a booking is confirmed twice")
	}
	updated, err := r.s.ApplyTransition(r.by(actor.Customer), plain.BusinessID, plain.ID, transitionOf(state.Cancel),
		now)
	r.must(err)
	if updated.Sequence != 3 {
		r.Errorf("the sequence is %d after 3 changes", updated.Sequence)
	}
	r.expect(plain.ID, "1 booking.created booking api_key pending", "2 booking.confirmed booking owner confirmed",
		"3 booking.cancelled booking customer cancelled")
}

func (r recording) pays() {
	paid := newBooking(uuid.New(), newPart(uuid.New(), 0, 0, 45))
	paid.Payment = &store.NewPayment{Provider: "stripe", Account: "acct_1", Amount: 4000, DueAt: now.Add(time.Minute)}
	r.must(r.s.Book(r.by(actor.Page), paid))
	r.expect(paid.ID, []string{}...) // no event until the booking can be paid
	r.must(r.s.OpenPayment(r.by(actor.Page), store.OpenPayment{
		BusinessID: paid.BusinessID, DueAt: now.Add(time.Hour), Write: paid.WriteIdentity(), Now: now,
		Confirmation: store.Confirmation{Details: paid.Details, Payment: &store.PaymentDetails{Provider: "stripe",
			Amount: 4000, Reference: "pi_1"}},
	}))
	r.must(r.s.MarkPaid(r.by(actor.Provider), paid.BusinessID, paid.ID, now))
	r.must(r.s.MarkPaid(r.by(actor.Provider), paid.BusinessID, paid.ID, now))
	r.expect(paid.ID, "1 booking.created booking page pending open",
		"2 payment.succeeded booking provider pending paid",
		"3 booking.confirmed booking provider confirmed paid")

	late := newBooking(uuid.New(), newPart(uuid.New(), 0, 0, 45))
	late.Payment = &store.NewPayment{Provider: "stripe", Account: "acct_1", Amount: 4000, DueAt: now.Add(-time.Minute)}
	r.must(r.s.Book(r.by(actor.Page), late))
	released, err := r.s.CancelUnopened(r.by(actor.System), now)
	if r.must(err); released != 1 {
		r.Errorf("released %d", released)
	}
	r.must(r.s.MarkPaid(r.by(actor.Provider), late.BusinessID, late.ID, now))
	back, err := r.s.StoreRefundResult(r.by(actor.System), late.BusinessID, late.ID, 1,
		payment.RefundState{Status: payment.RefundRefunded}, now)
	if r.must(err); !back {
		r.Error("a payment that was paid too late has no pending refund")
	}
	r.expect(late.ID, "1 payment.succeeded booking provider cancelled paid",
		"2 payment.refunded booking system cancelled paid")
}

func (r recording) sellsAndMakesKeys() {
	order := newGala(10, 10).newOrder(0, 2)
	_, err := r.s.SellTicket(r.by(actor.Owner), order)
	r.must(err)
	_, err = r.s.CancelTicket(r.by(actor.Owner), order.BusinessID, order.ID, now, noRefundPart)
	r.must(err)
	r.expect(order.ID, "1 ticket.sold ticket owner sold", "2 ticket.cancelled ticket owner cancelled")

	key := store.Key{BusinessID: uuid.New(), ID: uuid.New(), Name: "site", Scope: "all", Prefix: "0", CreatedAt: now}
	r.must(r.s.CreateKey(r.by(actor.Owner), key, sha256.Sum256(key.ID[:])))
	r.must(r.s.RevokeKey(r.by(actor.Owner), key.BusinessID, key.ID, now))
	r.must(r.s.RevokeKey(r.by(actor.Owner), key.BusinessID, key.ID, now))
	r.must(r.s.RevokeAllKeys(r.by(actor.Owner), key.BusinessID, now))
	r.expect(key.ID, "1 key.created key owner", "2 key.revoked key owner")
}
