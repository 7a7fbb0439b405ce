// Package usecase does what the owner of businesses asks for, by calling the services that own the data. It logs every
// change with the person who made it. The admin API and the owner's pages call the same functions. Errors are faults:
// those of the clients' methods, such as business_not_found, and those named here.
package usecase

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/bookingclient"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/catalogclient"
	"github.com/slotmesh/slotmesh/libs/peer/notifications"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
)

// Owner does what the owner of businesses asks for. Callers use its clients directly for reads that need no checks.
type Owner struct {
	Businesses    *catalogclient.Owner
	Offers        *catalogclient.Client
	Bookings      *bookingclient.Client
	Rentals       *rental.Client
	Availability  *availability.Client
	Audit         []EventLister // events of every other service that has events
	TeamLog       EventLister   // events of people and tokens
	Notifications *notifications.Client
	Removals      RemovalNotes
	Makers        Makers
	Mailer        OwnerMailer
	Clock         clock.Clock
	Logger        *slog.Logger
}

// Principal is the caller. The route has already authorized the action; a use case limits it to what the principal may
// see and change.
type Principal = access.Principal

// Business finds a business as catalog has it now. A removed business is not found, even if another business has its
// slug by then. Fault: business_not_found.
func (o *Owner) Business(ctx context.Context, slug string) (*catalog.Offer, error) {
	business, err := o.Offers.Fresh(ctx, slug)
	if err != nil {
		return nil, err
	}
	if err := access.SameAsJudged(ctx, business.ID); err != nil {
		return nil, err
	}
	return business, nil
}

// unfinished returns the fault of a write that failed after a part of it was done. If a service was unavailable, the
// fault is outcome_unknown, because the write was not refused as a whole. A refusal of the rest is returned unchanged.
func unfinished(err error) error {
	if fault.KindOf(err).Status < http.StatusInternalServerError {
		return err
	}
	return fault.Unknown(err)
}

// rentals returns a client of rental for the business that has a slug now, not for one that had it before. For an
// operator, who sees all businesses, rental finds the business itself, even while catalog is unavailable. Fault:
// business_not_found.
func (o *Owner) rentals(ctx context.Context, by Principal, slug string) (*rental.Client, error) {
	if by.Operator {
		return o.Rentals, nil
	}
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Rentals.Of(business.ID), nil
}

// changed logs a change and the principal who made it. The attributes name things by id and must not contain customers'
// data.
func (o *Owner) changed(ctx context.Context, by Principal, change, slug string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{
		slog.String("change", change), slog.String("slug", slug), slog.String("by", by.String()),
	}, attrs...)
	o.Logger.LogAttrs(ctx, slog.LevelInfo, "admin change", attrs...)
}
