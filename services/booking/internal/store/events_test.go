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

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// told is what an event says, as one line.
func told(t testing.TB, pool *pgxpool.Pool, subject uuid.UUID) []string {
	t.Helper()
	rows, err := pool.Query(context.Background(), `
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

// checkRecorded fails the test where a subject's events are not one for each of its changes, or the newest is not of what the
// subject is now. A charge's steps on the way to what is told of are no events.
func checkRecorded(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	for _, of := range []struct{ table, row string }{
		{"bookings", `to_jsonb(s) - 'link_hash' = e.data - '{payment,from}'::text[]`}, {"tickets", `to_jsonb(s) - 'link_hash' = e.data`},
		{"api_keys", `to_jsonb(s) - 'hash' - 'last_used_at' = e.data - 'last_used_at'`},
	} {
		wrong := count(t, pool, `
			SELECT count(*) FROM `+of.table+` s
			WHERE (SELECT count(*) FROM events e WHERE e.business_id = s.business_id AND e.subject_id = s.id) <> s.sequence
			   OR s.sequence > 0 AND NOT EXISTS (SELECT FROM events e WHERE e.business_id = s.business_id AND e.subject_id = s.id
			                  AND e.sequence = s.sequence AND `+of.row+`)`)
		if wrong != 0 {
			t.Errorf("%d rows of %s are not what their events tell", wrong, of.table)
		}
	}
}

func TestEveryChangeIsRecordedWithWhoMadeIt(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	by := func(kind actor.Kind) context.Context { return actor.With(t.Context(), actor.Actor{Kind: kind}) }
	transition := func(m state.Move) state.Transition { tr, _ := state.Of(m); return tr }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	expect := func(subject uuid.UUID, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, told(t, pool, subject)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}

	plain := newBooking(uuid.New(), part(uuid.New(), 0, 0, 45))
	must(s.Book(by(actor.APIKey), plain))
	_, err := s.Move(by(actor.Owner), plain.BusinessID, plain.ID, transition(state.Confirm), now)
	must(err)
	if _, err := s.Move(by(actor.Owner), plain.BusinessID, plain.ID, transition(state.Confirm), now); err == nil {
		t.Error("it is confirmed twice")
	}
	moved, err := s.Move(by(actor.Customer), plain.BusinessID, plain.ID, transition(state.Cancel), now)
	must(err)
	if moved.Sequence != 3 {
		t.Errorf("the sequence is %d after 3 changes", moved.Sequence)
	}
	expect(plain.ID, "1 booking.created booking api_key pending", "2 booking.confirmed booking owner confirmed",
		"3 booking.cancelled booking customer cancelled")

	paid := newBooking(uuid.New(), part(uuid.New(), 0, 0, 45))
	paid.Payment = &store.NewPayment{Provider: "stripe", Account: "acct_1", Amount: 4000, DueAt: now.Add(time.Minute)}
	must(s.Book(by(actor.Page), paid))
	expect(paid.ID, []string{}...) // until it can be paid
	must(s.OpenPayment(by(actor.Page), store.OpenPayment{
		BusinessID: paid.BusinessID, DueAt: now.Add(time.Hour), Now: now,
		Confirmation: store.Confirmation{Details: paid.Details, Payment: &store.PaymentDetails{Provider: "stripe", Amount: 4000, Reference: "pi_1"}},
	}))
	must(s.PaymentPaid(by(actor.Provider), paid.BusinessID, paid.ID, now))
	must(s.PaymentPaid(by(actor.Provider), paid.BusinessID, paid.ID, now))
	expect(paid.ID, "1 booking.created booking page pending open", "2 payment.succeeded booking provider pending paid",
		"3 booking.confirmed booking provider confirmed paid")

	late := newBooking(uuid.New(), part(uuid.New(), 0, 0, 45))
	late.Payment = &store.NewPayment{Provider: "stripe", Account: "acct_1", Amount: 4000, DueAt: now.Add(-time.Minute)}
	must(s.Book(by(actor.Page), late))
	released, err := s.ReleaseUnfinished(t.Context(), now)
	if must(err); released != 1 {
		t.Errorf("released %d", released)
	}
	must(s.PaymentPaid(by(actor.Provider), late.BusinessID, late.ID, now))
	back, err := s.RefundEnded(t.Context(), late.BusinessID, late.ID, 1, payment.RefundState{Status: payment.RefundRefunded}, now)
	if must(err); !back {
		t.Error("what was paid too late is not on its way back")
	}
	expect(late.ID, "1 payment.succeeded booking provider cancelled paid", "2 payment.refunded booking system cancelled paid")

	order := newGala(10, 10).order(0, 2)
	_, err = s.SellTicket(by(actor.Owner), order)
	must(err)
	_, err = s.CancelTicket(by(actor.Owner), order.BusinessID, order.ID, now)
	must(err)
	expect(order.ID, "1 ticket.sold ticket owner sold", "2 ticket.cancelled ticket owner cancelled")

	key := store.Key{BusinessID: uuid.New(), ID: uuid.New(), Name: "site", Scope: "all", Prefix: "0", CreatedAt: now}
	must(s.CreateKey(by(actor.Owner), key, sha256.Sum256(key.ID[:])))
	must(s.RevokeKey(by(actor.Owner), key.BusinessID, key.ID, now))
	must(s.RevokeKey(by(actor.Owner), key.BusinessID, key.ID, now))
	must(s.RevokeAllKeys(by(actor.Owner), key.BusinessID, now))
	expect(key.ID, "1 key.created key owner", "2 key.revoked key owner")
	if n := count(t, pool, `SELECT count(*) FROM events WHERE data ?| '{hash,link_hash}'`); n != 0 {
		t.Error("an event holds the hash of a secret")
	}
	if n := count(t, pool, `SELECT count(*) FROM events WHERE substr(id::text, 15, 1) <> '7' OR substr(id::text, 20, 1) NOT IN ('8', '9', 'a', 'b')
		OR abs(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint - extract(epoch FROM now()) * 1000) > 600000`); n != 0 {
		t.Error("an id is no UUIDv7 of now")
	}
	checkRecorded(t, pool)
}
