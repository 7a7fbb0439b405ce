package store_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

func TestEventsRecordActor(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	who := actor.Actor{Kind: actor.Owner, ID: uuid.New()}
	business, kayak := uuid.New(), uuid.New()
	taken, err := s.Reserve(actor.With(t.Context(), who), newReservation(business, kayak, 2, dates(today, today+1)),
		alwaysFits)
	if err != nil {
		t.Fatal(err)
	}
	want := []store.Reservation{taken, applyTransition(t, s, business, taken.ID, state.Pickup),
		applyTransition(t, s, business, taken.ID, state.Return)}
	again, _ := state.FindTransition(state.Return)
	if _, err := s.ApplyTransition(testkit.AsSystem(t), business, taken.ID, again, now); err == nil {
		t.Error("a reservation is returned twice")
	}
	hourly := mustReserve(t, s, setHours(newReservation(business, kayak, 1, dates(today, today)), 9*60, 11*60))
	want = append(want, hourly, applyTransition(t, s, business, hourly.ID, state.Cancel))

	rows, err := pool.Query(testkit.AsSystem(t), `
		SELECT concat_ws(' ', type, subject_kind, sequence, actor_kind), data FROM events ORDER BY serial`)
	if err != nil {
		t.Fatal(err)
	}
	var (
		lines   []string
		records []json.RawMessage
		line    string
		data    json.RawMessage
	)
	if _, err := pgx.ForEachRow(rows, []any{&line, &data}, func() error {
		lines, records = append(lines, line), append(records, append(json.RawMessage(nil), data...))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"reservation.created reservation 1 owner", "reservation.picked_up reservation 2 system",
		"reservation.returned reservation 3 system",
		"reservation.created reservation 1 system", "reservation.cancelled reservation 2 system",
	}, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range want {
		want[i].LinkHash = nil // Kept does not return the hash
	}
	got, err := s.DecodeReservations(testkit.AsSystem(t), records)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("stored events (-want +got):\n%s%v", diff, err)
	}
}
