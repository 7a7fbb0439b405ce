package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

func (in *Internal) serveCustomers(ctx context.Context, r rental.With[customer.Search]) (*customer.List, error) {
	if err := r.Body.Validate(); err != nil {
		return nil, err
	}
	offer, err := in.findBusiness(ctx, r.At)
	if err != nil {
		return nil, err
	}
	customers, err := in.records.Customers(ctx, offer.ID, r.Body)
	if err != nil {
		return nil, err
	}
	return &customer.List{Customers: customers}, nil
}

func (in *Internal) serveCustomerReservations(ctx context.Context,
	r rental.With[customer.Of]) (*rental.CustomerData, error) {
	addresses, err := r.Body.Keys()
	if err != nil {
		return nil, err
	}
	offer, err := in.findBusiness(ctx, r.At)
	if err != nil {
		return nil, err
	}
	reservations, err := in.records.FindCustomerReservations(ctx, offer.ID, addresses, customer.MaxExported+1)
	if err != nil {
		return nil, err
	}
	held := rental.CustomerData{Reservations: make([]rental.Reservation, len(reservations))}
	for i, entry := range reservations {
		held.Reservations[i] = in.show(offer, entry)
	}
	return &held, nil
}

func (in *Internal) serveExpiringCustomers(ctx context.Context,
	r rental.With[customer.Expiring]) (*customer.ExpiringList, error) {
	offer, err := in.findBusiness(ctx, r.At)
	if err != nil {
		return nil, err
	}
	digests, err := in.records.ExpiringCustomers(ctx, offer.ID, r.Body.Then, customer.MaxExpiring+1)
	if err != nil {
		return nil, err
	}
	return new(customer.CutExpiring(digests)), nil
}

// eraseCustomer anonymizes a customer of a business, at the request of the owner.
func (in *Internal) eraseCustomer(ctx context.Context, r rental.With[customer.Erase]) (*customer.Erased, error) {
	var err error
	if r.Body.Addresses, err = r.Body.Keys(); err != nil {
		return nil, err
	}
	offer, err := in.findBusiness(ctx, r.At)
	if err != nil {
		return nil, err
	}
	now := in.clock.Now()
	erased, err := in.records.EraseCustomer(ctx, offer.ID,
		store.EraseRequest{Erase: r.Body, Now: now, Today: offer.Today(now), Zone: offer.Location()})
	if err != nil {
		return nil, err
	}
	return &erased, nil
}

// findIdempotencyResult returns the stored answer of an earlier write with the
// same Idempotency-Key. It returns nil if no write with the key succeeded.
func (in *Internal) findIdempotencyResult(c *fiber.Ctx) ([]byte, error) {
	id, err := server.Query(c).OptionalID(rental.QueryBusinessID)
	if err != nil {
		return nil, err
	}
	of := rental.OfSlug{Slug: c.Params("slug")}
	if id != nil {
		of.Business = *id
	}
	offer, err := in.findBusiness(c.UserContext(), of)
	switch {
	case fault.Is(err, fault.BusinessNotFound):
		return nil, nil // the removed business has no stored answers; the request itself fails with the same fault
	case err != nil:
		return nil, fault.Unknown(err)
	}
	return in.records.FindIdempotencyResult(c.UserContext(), offer.ID)
}
