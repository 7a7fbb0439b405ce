package store_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// TestOccupiedEqualsTable compares Occupied with a plain SQL query. Short windows are
// read by booking and long windows by resource, and both must give the same rows as the query.
func TestOccupiedEqualsTable(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	class := newSession(10)
	mustBook(t, s, class.seats(2), class.seats(3), newBooking(class.business, newPart(class.teacher, 0, 300, 330)))
	turn := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // PostgreSQL counts times from this one
	r, members := rand.New(rand.NewPCG(1, 2)), []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	for i := range 120 {
		member, at := r.IntN(len(members)), r.IntN(4000)-2000
		if i%2 == 0 {
			at -= int(noon.Sub(turn).Minutes())
		}
		err := s.Book(testkit.AsSystem(t),
			newBooking(class.business, newPart(members[member], member*r.IntN(3), at, at+1+r.IntN(60))))
		if err != nil && !errors.Is(err, store.ErrOccupied) {
			t.Fatal(err)
		}
	}
	for _, middle := range []time.Time{noon, turn} {
		for _, length := range []time.Duration{time.Hour, 72 * time.Hour, 73 * time.Hour, booking.MaxOccupiedWindow} {
			from := middle.Add(-length / 2)
			got, err := s.Occupied(testkit.AsSystem(t), class.business, from, from.Add(length), false)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := pool.Query(testkit.AsSystem(t), `
				SELECT DISTINCT resource_id::text, lane, holder = '00000000-0000-0000-0000-000000000000' AS class,
				       extract(epoch FROM lower(during))::bigint AS start, extract(epoch FROM upper(during))::bigint AS "end"
				FROM occupied_time WHERE business_id = $1 AND lower(during) < $3 AND upper(during) > $2
				ORDER BY 1, lane, 3, 4, 5`, class.business, from, from.Add(length))
			if err != nil {
				t.Fatal(err)
			}
			want, err := pgx.CollectRows(rows, pgx.RowToStructByPos[occupiedRow])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, flatten(got)); diff != "" || len(want) == 0 {
				t.Errorf("%s from %s: %d spans (-want +got):\n%s", length, from, len(want), diff)
			}
		}
	}
}

// occupiedRow is a row of occupied time.
type occupiedRow struct {
	Resource   string
	Lane       int
	Class      bool
	Start, End int64
}

func flatten(o booking.Occupied) []occupiedRow {
	var all []occupiedRow
	for _, b := range o.Busy {
		for _, s := range b.Spans() {
			all = append(all, occupiedRow{b.ID.String(), b.CapacityUnit, b.Class, s.Start, s.End})
		}
	}
	return all
}

// TestOccupiedRejectsTextFormat shows that Occupied returns an error on a connection that sends values as text.
// Occupied decodes the binary format, and must not decode text as binary values.
func TestOccupiedRejectsTextFormat(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	b := newBooking(uuid.New(), newPart(uuid.New(), 0, 0, 60))
	mustBook(t, s, b)
	cfg := pool.Config()
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	inText, err := pgxpool.NewWithConfig(testkit.AsSystem(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer inText.Close()
	for _, days := range []int{1, 62} {
		got, err := store.New(inText).Occupied(testkit.AsSystem(t), b.BusinessID, noon, noon.AddDate(0, 0, days), false)
		if err == nil || !strings.Contains(err.Error(), "in text") {
			t.Errorf("%d days: %+v, %v", days, got, err)
		}
	}
}
