package usecase_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

var errAway = errors.New("the connection broke")

// memory is a store of bookings in memory, for one goroutine. It decides like the statements of [store.Store].
type memory struct {
	usecase.Bookings // the methods that Book does not call
	bookings         []store.NewBooking
	payments         map[uuid.UUID]string // the status of a payment by the id of its booking
	keys             map[uuid.UUID]*key   // by the id of the write
	refused          map[uuid.UUID]time.Time
	newest           int64             // the newest version of the offer
	revoked          uuid.UUID         // an API key
	fail             map[string]error  // the errors of methods, by their names
	before           map[string]func() // called once before a method, by its name
}

var _ usecase.Bookings = (*memory)(nil)

// key is the row of an idempotency key.
type key struct {
	request      postgres.LockRequest
	confirmation *store.Confirmation // nil while the request is in progress
}

func newMemory() *memory {
	return &memory{payments: map[uuid.UUID]string{}, keys: map[uuid.UUID]*key{}, refused: map[uuid.UUID]time.Time{},
		fail: map[string]error{}, before: map[string]func(){}}
}

func (m *memory) call(method string) error {
	if do := m.before[method]; do != nil {
		delete(m.before, method)
		do()
	}
	return m.fail[method]
}

func (m *memory) Snapshot(ctx context.Context, _ uuid.UUID, from, to time.Time,
	req store.SnapshotRequest) (store.Snapshot, error) {
	if err := m.call("Snapshot"); err != nil {
		return store.Snapshot{}, err
	}
	s := store.Snapshot{IsFirst: req.FirstBookingOf != "" && !m.hasBooked(req.FirstBookingOf)}
	if req.Lock != nil {
		s.Lock, _ = m.AcquireLock(ctx, *req.Lock)
	}
	for _, b := range m.bookings {
		for _, part := range b.Parts {
			if part.Occupies.Start < to.Unix() && from.Unix() < part.Occupies.End {
				busy := booking.Busy{Resource: part.Resource}
				busy.Add(part.Occupies)
				s.Occupied.Busy = append(s.Occupied.Busy, busy)
			}
		}
	}
	return s, nil
}

func (m *memory) hasBooked(address string) bool {
	return slices.ContainsFunc(m.bookings, func(b store.NewBooking) bool {
		return strings.EqualFold(b.Customer.Email, address)
	})
}

func (m *memory) AcquireLock(_ context.Context, r postgres.LockRequest) (store.LockResult, error) {
	if k := m.keys[r.ID]; k != nil && (k.confirmation != nil || r.Now.Sub(k.request.Now) < r.Duration) {
		return store.LockResult{IsSameRequest: k.request.Hash == r.Hash, Confirmation: k.confirmation}, nil
	}
	m.keys[r.ID] = &key{request: r}
	return store.LockResult{Lock: &postgres.Lock{Write: r.Write, AcquiredAt: r.Now}}, nil
}

// holds reports whether the lock is still valid. A request without an idempotency key needs no lock.
func (m *memory) holds(l *postgres.Lock) bool {
	return l == nil || m.keys[l.ID] != nil && m.keys[l.ID].request.Now.Equal(l.AcquiredAt)
}

func (m *memory) FindConfirmation(_ context.Context, r postgres.LockRequest) (store.Confirmation, error) {
	if err := m.call("FindConfirmation"); err != nil {
		return store.Confirmation{}, err
	}
	k := m.keys[r.ID]
	if k == nil || k.confirmation == nil {
		m.refused[r.ID] = r.StartTime
	}
	if k == nil || k.confirmation == nil || k.request.Hash != r.Hash {
		return store.Confirmation{}, store.ErrNotFound
	}
	return *k.confirmation, nil
}

func (m *memory) Refuse(_ context.Context, l postgres.Lock) error {
	if err := m.call("Refuse"); err != nil {
		return err
	}
	if m.holds(&l) {
		m.refused[l.ID] = l.StartTime
		delete(m.keys, l.ID)
	}
	return nil
}

func (m *memory) ReleaseLock(_ context.Context, l postgres.Lock) error {
	if m.holds(&l) {
		delete(m.keys, l.ID)
	}
	return nil
}

func (m *memory) Book(_ context.Context, b store.NewBooking) error {
	if err := m.call("Book"); err != nil {
		return err
	}
	open := 0
	for _, other := range m.bookings {
		if slices.ContainsFunc(b.Parts, func(p availability.Part) bool {
			return slices.ContainsFunc(other.Parts, func(o availability.Part) bool {
				return o.Resource == p.Resource && o.Occupies.Overlaps(p.Occupies)
			})
		}) {
			return store.ErrOccupied
		}
		if other.MaxOpen != nil && other.Customer.Email == b.Customer.Email {
			open++
		}
	}
	write := b.WriteIdentity()
	switch {
	case !m.holds(b.Lock):
		return store.ErrLockLost
	case b.FirstBooking && m.hasBooked(b.Customer.Email):
		return store.ErrOccupied
	case b.MaxOpen != nil && open >= *b.MaxOpen:
		return store.ErrTooManyOpen
	case m.refused[write.ID].After(write.StartTime):
		return postgres.ErrRefused
	case m.newest > b.OfferVersion:
		return store.ErrOfferChanged
	case b.APIKey != uuid.Nil && b.APIKey == m.revoked:
		return store.ErrKeyRevoked
	}
	m.bookings = append(m.bookings, b)
	if b.Payment != nil {
		m.payments[b.ID] = store.PaymentCreating
		return nil
	}
	m.confirm(b.Lock, store.Confirmation{Details: b.Details})
	return nil
}

func (m *memory) confirm(l *postgres.Lock, c store.Confirmation) {
	if l != nil {
		c.IsRepeated = true // the stored confirmation answers repeated requests
		m.keys[l.ID].confirmation = &c
	}
}

func (m *memory) OpenPayment(_ context.Context, p store.OpenPayment) error {
	if err := m.call("OpenPayment"); err != nil {
		return err
	}
	if m.refused[p.Write.ID].After(p.Write.StartTime) {
		return postgres.ErrRefused
	}
	m.payments[p.Confirmation.ID] = store.PaymentOpen
	m.confirm(p.Lock, p.Confirmation)
	return nil
}

func (m *memory) AbandonPayment(_ context.Context, a store.AbandonRequest, _ time.Time) error {
	m.bookings = slices.DeleteFunc(m.bookings, func(b store.NewBooking) bool { return b.ID == a.ID })
	m.payments[a.ID] = store.PaymentCancelling
	if a.IsNotCreated {
		m.payments[a.ID] = store.PaymentCancelled
	}
	return nil
}
