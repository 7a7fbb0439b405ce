// Package peers has the parts that the use cases of console share. These are the clients of the other services, the
// lookup of a business, the audit log, and the log of changes. All errors are faults. Each function returns the faults
// of the services that it calls, such as business_not_found, and the faults that the function's comment names.
package peers

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// Peers has the clients of the services that own the data of businesses. For a read that needs no further checks,
// callers use a client directly instead of a use case.
type Peers struct {
	Businesses    *catalogclient.Owner
	Offers        *catalogclient.Client
	Bookings      *bookingclient.Client
	Rentals       *rental.Client
	Availability  endpoints.Caller
	Audit         []EventLister // lists of events of the other services
	TeamLog       EventLister   // list of events about people and tokens
	Notifications *notifications.Client
	Clock         clock.Clock
	Logger        *slog.Logger
}

// Principal is the caller of a use case. The route has already checked that the principal may do the action. The use
// case limits the data that the principal can see and change.
type Principal = access.Principal

// FindBusiness returns the current data of a business from catalog. Fault: business_not_found. FindBusiness also
// returns this fault if the request was authorized for another business, which had the slug before and was removed.
func (o *Peers) FindBusiness(ctx context.Context, slug string) (*catalog.Snapshot, error) {
	business, err := o.Offers.Fresh(ctx, slug)
	if err != nil {
		return nil, err
	}
	if err := access.CheckBusiness(ctx, business.ID); err != nil {
		return nil, err
	}
	return business, nil
}

// ToUnfinishedFault converts the error of a write with several steps. The first step has succeeded, and a later step
// has failed. If a service was unavailable, ToUnfinishedFault returns the fault outcome_unknown, because a part of the
// write was executed. It returns any other fault unchanged.
func ToUnfinishedFault(err error) error {
	if fault.KindOf(err).Status < http.StatusInternalServerError {
		return err
	}
	return fault.Unknown(err)
}

// OpenRentals returns a client of the rental service for the business that has the slug. The client sends the id of
// this business with each call, so that a write fails if another business gets the slug. Reading this id needs the
// catalog service. For an operator, who may act in all businesses, the client sends no id, so that the call works even
// if catalog is unavailable. Fault: business_not_found.
func (o *Peers) OpenRentals(ctx context.Context, by Principal, slug string) (*rental.Client, error) {
	if by.IsOperator {
		return o.Rentals, nil
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Rentals.ForBusiness(business.ID), nil
}

// LogChange logs a change and the principal who made the change. The attributes must identify objects by id, and must
// not contain customers' data.
func (o *Peers) LogChange(ctx context.Context, by Principal, change, slug string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{
		slog.String("change", change), slog.String("slug", slug), slog.String("by", by.String()),
	}, attrs...)
	o.Logger.LogAttrs(ctx, slog.LevelInfo, "admin change", attrs...)
}
