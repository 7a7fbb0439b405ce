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

// fakeRecords is a fake store with unfinished payments. It fails for the payment of the reservation `bad`.
type fakeRecords struct {
	all     []store.ReservationPayment
	failing uuid.UUID
	// unknown is the id of a reservation that does not exist.
	unknown uuid.UUID
	stored  []uuid.UUID
}

var errBroken = errors.New("broken")

func (*fakeRecords) CancelUnopened(context.Context, time.Time) (int, error) { return 1, errBroken }

func (t *fakeRecords) UnfinishedPayments(_ context.Context, after booking.ReservationID,
	limit int) ([]store.ReservationPayment, error) {
	from := slices.IndexFunc(t.all, func(c store.ReservationPayment) bool { return c.ReservationID == after }) + 1
	return t.all[from:min(len(t.all), from+limit)], nil
}

func (t *fakeRecords) StoreReport(_ context.Context, _, id uuid.UUID, _ booking.PaymentState,
	_ time.Time) ([]event.Type, error) {
	if id == t.failing {
		return nil, errBroken
	}
	if id == t.unknown {
		return nil, store.ErrNotFound
	}
	t.stored = append(t.stored, id)
	return nil, nil
}

func (*fakeRecords) ReservationsToUncount(context.Context, int) ([]booking.ReservationID, error) {
	return nil, nil
}

func (*fakeRecords) MarkUncounted(context.Context, booking.ReservationID) error { return nil }

// fakePayments is a fake of booking that returns a payment for each reservation.
type fakePayments struct{ unusedPayments }

type unusedPayments = Payments

func (fakePayments) List(_ context.Context, ids []booking.ReservationID) ([]booking.ReservationPayment, error) {
	payments := make([]booking.ReservationPayment, len(ids))
	for i, id := range ids {
		payments[i].ReservationID = id
	}
	return payments, nil
}

func TestFailedReportDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	var records fakeRecords
	for range booking.MaxReservationPayments + 1 {
		records.all = append(records.all,
			store.ReservationPayment{ReservationID: booking.ReservationID{BusinessID: uuid.New(), ID: uuid.New()}})
	}
	records.failing = records.all[0].ID
	err := NewReconciliation(&records, fakePayments{}, clock.Fixed(time.Unix(0, 0)),
		telemetry.Discard()).RefreshPayments(t.Context())
	if !errors.Is(err, errBroken) || len(records.stored) != len(records.all)-1 {
		t.Errorf("of %d other payments, %d were stored: %v", len(records.all)-1, len(records.stored), err)
	}
}

// fakeReports is a fake of booking that returns news about payments and stores which of them are noted.
type fakeReports struct {
	unusedPayments
	list []booking.ReservationPayment
	acks []booking.ReportAcknowledgement
}

func (n *fakeReports) ListReports(context.Context) ([]booking.ReservationPayment, error) {
	return n.list, nil
}

func (n *fakeReports) AcknowledgeReports(_ context.Context, acks []booking.ReportAcknowledgement) error {
	n.acks = append(n.acks, acks...)
	return nil
}

func TestStoreReportsKeepsFailedReports(t *testing.T) {
	t.Parallel()
	var (
		reports fakeReports
		want    []booking.ReportAcknowledgement
		records = fakeRecords{failing: uuid.New(), unknown: uuid.New()}
	)
	for i, id := range []uuid.UUID{records.failing, uuid.New(), records.unknown, uuid.New()} {
		of := booking.ReservationID{BusinessID: uuid.New(), ID: id}
		reports.list = append(reports.list, booking.ReservationPayment{ReservationID: of, Reports: int64(i + 1)})
		if id != records.failing {
			want = append(want, booking.ReportAcknowledgement{ReservationID: of, Reports: int64(i + 1)})
		}
	}
	err := NewReconciliation(&records, &reports, clock.Fixed(time.Unix(0, 0)),
		telemetry.Discard()).StoreReports(t.Context())
	if !errors.Is(err, errBroken) || !slices.Equal(reports.acks, want) {
		t.Errorf("acknowledged are %v, want %v: %v", reports.acks, want, err)
	}
}
