package usecase

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// tables is a fake store with unfinished charges. It fails for the charge of the reservation `bad`.
type tables struct {
	all []store.Charged
	bad uuid.UUID
	// unknown is the id of a reservation that does not exist.
	unknown uuid.UUID
	noted   []uuid.UUID
}

var errBroken = errors.New("broken")

func (*tables) ReleaseUnfinished(context.Context, time.Time) (int, error) { return 1, errBroken }

func (t *tables) Unfinished(_ context.Context, after booking.ReservationID, limit int) ([]store.Charged, error) {
	from := slices.IndexFunc(t.all, func(c store.Charged) bool { return c.ReservationID == after }) + 1
	return t.all[from:min(len(t.all), from+limit)], nil
}

func (t *tables) Told(_ context.Context, _, id uuid.UUID, _ booking.Charge, _ time.Time) ([]event.Type, error) {
	if id == t.bad {
		return nil, errBroken
	}
	if id == t.unknown {
		return nil, store.ErrNotFound
	}
	t.noted = append(t.noted, id)
	return nil, nil
}

func (*tables) Counted(context.Context, int) ([]booking.ReservationID, error) { return nil, nil }

func (*tables) Uncounted(context.Context, booking.ReservationID) error { return nil }

// bank is a fake of booking that returns a charge for each reservation.
type bank struct{ unasked }

type unasked = Charges

func (bank) Charges(_ context.Context, asked []booking.ReservationID) ([]booking.ReservationCharge, error) {
	said := make([]booking.ReservationCharge, len(asked))
	for i, id := range asked {
		said[i].ReservationID = id
	}
	return said, nil
}

func TestAChargeThatCannotBeNotedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	var held tables
	for range booking.MaxCharges + 1 {
		held.all = append(held.all,
			store.Charged{ReservationID: booking.ReservationID{BusinessID: uuid.New(), ID: uuid.New()}})
	}
	held.bad = held.all[0].ID
	err := NewReconciliation(&held, bank{}, clock.Fixed(time.Unix(0, 0)), telemetry.Discard()).Ask(t.Context())
	if !errors.Is(err, errBroken) || len(held.noted) != len(held.all)-1 {
		t.Errorf("of %d others %d were noted: %v", len(held.all)-1, len(held.noted), err)
	}
}

// newsroom is a fake of booking that returns news about charges and stores which of them are noted.
type newsroom struct {
	unasked
	news  []booking.ReservationCharge
	noted []booking.NotedCharge
}

func (n *newsroom) News(context.Context) ([]booking.ReservationCharge, error) { return n.news, nil }

func (n *newsroom) Noted(_ context.Context, noted []booking.NotedCharge) error {
	n.noted = append(n.noted, noted...)
	return nil
}

func TestLearnKeepsNewsThatCannotBeNoted(t *testing.T) {
	t.Parallel()
	var (
		reports newsroom
		want    []booking.NotedCharge
		held    = tables{bad: uuid.New(), unknown: uuid.New()}
	)
	for i, id := range []uuid.UUID{held.bad, uuid.New(), held.unknown, uuid.New()} {
		of := booking.ReservationID{BusinessID: uuid.New(), ID: id}
		reports.news = append(reports.news, booking.ReservationCharge{ReservationID: of, News: int64(i + 1)})
		if id != held.bad {
			want = append(want, booking.NotedCharge{ReservationID: of, News: int64(i + 1)})
		}
	}
	err := NewReconciliation(&held, &reports, clock.Fixed(time.Unix(0, 0)), telemetry.Discard()).Learn(t.Context())
	if !errors.Is(err, errBroken) || !slices.Equal(reports.noted, want) {
		t.Errorf("noted are %v, want %v: %v", reports.noted, want, err)
	}
}
