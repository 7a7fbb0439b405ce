// Package api is rental's HTTP API. The public port serves /rental-availability. The internal port
// serves /rental-available-dates; the availability service forwards the answers to the public
// (interface.md §4). The internal port also serves reservations, and the number of units that can
// be booked online, to other services. These services use the client in libs/contracts/rental.
package api

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// Offers returns the offers of businesses.
type Offers interface {
	usecase.Offers
	// AtLeast returns the offer with the given version or a newer version.
	AtLeast(ctx context.Context, slug string, version int64) (*catalog.Snapshot, error)
}

// Records is the part of the store that the API uses; [store.Store] documents its methods.
type Records interface {
	FindOccupying(ctx context.Context, businessID uuid.UUID, rentalIDs []uuid.UUID,
		dates occupancy.Dates) (map[uuid.UUID][]occupancy.Reservation, error)
	Reservations(ctx context.Context, businessID uuid.UUID, filter rental.Filter,
		page request.Page) ([]store.Reservation, string, error)
	RevenueReport(ctx context.Context, businessID uuid.UUID, q report.Query, currency string) ([]report.RevenueRow,
		error)
	FindIdempotencyResult(ctx context.Context, businessID uuid.UUID) ([]byte, error)
	LinkHash(ctx context.Context, businessID, id uuid.UUID) ([]byte, error)
	Reservation(ctx context.Context, businessID, id uuid.UUID) (store.Reservation, error)
	Customers(ctx context.Context, businessID uuid.UUID, search customer.Search) ([]customer.Customer, error)
	FindCustomerReservations(ctx context.Context, businessID uuid.UUID, addresses []string,
		limit int) ([]store.Reservation, error)
	ExpiringCustomers(ctx context.Context, businessID uuid.UUID, endedBy time.Time, limit int) ([]string, error)
	EraseCustomer(ctx context.Context, businessID uuid.UUID, request store.EraseRequest) (customer.Erased, error)
}

var (
	_ Offers  = (*catalogclient.Client)(nil)
	_ Records = (*store.Store)(nil)
)

// Sentences returns the message for each reason why a rental is not available,
// in the languages of the pages. [message.Catalog] documents its methods.
type Sentences interface {
	Choose(wanted ...string) string
	Say(code string, id message.ID) (string, error)
	SayCount(code string, id message.ID, count int) (string, error)
}

var _ Sentences = (*message.Catalog)(nil)
