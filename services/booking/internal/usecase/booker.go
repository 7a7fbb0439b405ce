package usecase

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Offers reads the newest version of an offer, never an older version. Fault:
// business_not_found. Any other error means that the offer could not be read.
type Offers interface {
	Fresh(ctx context.Context, slug string) (*catalog.Snapshot, error)
}

// Availability returns the assignments that can serve a start. Faults: invalid_parameter,
// service_not_found. Any other error means that the assignments could not be computed.
type Availability interface {
	Bookable(ctx context.Context, request availability.BookableRequest) (*availability.BookableResponse, error)
}

// Pricing computes the prices of several services in one call. An error means that no price could be computed.
type Pricing interface {
	Quotes(ctx context.Context, request pricing.QuotesRequest) (*pricing.QuotesResponse, error)
}

// Bookings stores bookings, their charges and their confirmations.
// [store.Store] implements Bookings and documents the methods.
type Bookings interface {
	Snapshot(ctx context.Context, businessID uuid.UUID, from, to time.Time,
		request store.SnapshotRequest) (store.Snapshot, error)
	Booking(ctx context.Context, businessID, id uuid.UUID) (store.Booking, error)
	Reschedule(ctx context.Context, r store.Reschedule) (store.Booking, error)
	Book(ctx context.Context, b store.NewBooking) error
	AcquireLock(ctx context.Context, request postgres.LockRequest) (store.LockResult, error)
	FindConfirmation(ctx context.Context, request postgres.LockRequest) (store.Confirmation, error)
	Refuse(ctx context.Context, l postgres.Lock) error
	ReleaseLock(ctx context.Context, l postgres.Lock) error
	OpenPayment(ctx context.Context, p store.OpenPayment) error
	AbandonPayment(ctx context.Context, a store.AbandonRequest, now time.Time) error
	FindOpenPayment(ctx context.Context, businessID, id uuid.UUID, now time.Time) (store.PaymentHandle, error)
}

var _ Bookings = (*store.Store)(nil)

// Booker makes and reschedules bookings. It is safe for concurrent use.
type Booker struct {
	Dependencies
	// RefuseTimeout is the timeout for the database call that refuses an idempotency key.
	// AbandonTimeout is the timeout for the cancellation of a booking whose charge could not be
	// opened. Both operations continue after the deadline of the request. NewBooker sets both fields.
	RefuseTimeout, AbandonTimeout time.Duration

	lostRaces   metric.Int64Counter
	reschedules metric.Int64Counter
}

// Dependencies are the clients, stores and settings that a [Booker] uses.
type Dependencies struct {
	Offers       Offers
	Availability Availability
	Pricing      Pricing
	Bookings     Bookings
	Payments     PaymentOptions
	// HandleNotice processes a provider's notice about a charge ([Payments.HandleNotice]).
	HandleNotice func(ctx context.Context, provider string, n payment.Notice) error
	Links        *link.Links
	Clock        clock.Clock
	// RequestTimeout is the longest time that a request may take. When this time and a
	// margin have passed, another request can acquire the idempotency lock of the request.
	RequestTimeout time.Duration
	Telemetry      *telemetry.Telemetry
}

// NewBooker returns a Booker with the given dependencies and default timeouts.
func NewBooker(deps Dependencies) *Booker {
	return &Booker{
		Dependencies: deps, RefuseTimeout: time.Second, AbandonTimeout: 2 * time.Second,
		lostRaces: deps.Telemetry.Counter("slotmesh.bookings.refused_by_constraint",
			"Bookings and reschedules that the database refused because of a concurrent one."),
		reschedules: deps.Telemetry.Counter("slotmesh.bookings.rescheduled",
			"Requests to reschedule a booking by outcome: moved, unchanged, or the messageCode of the refusal."),
	}
}
