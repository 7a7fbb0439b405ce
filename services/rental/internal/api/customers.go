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

func (in *Internal) customers(ctx context.Context, r rental.With[customer.Search]) (*customer.List, error) {
	if err := r.Body.Validate(); err != nil {
		return nil, err
	}
	offer, err := in.business(ctx, r.At)
	if err != nil {
		return nil, err
	}
	found, err := in.records.Customers(ctx, offer.ID, r.Body)
	if err != nil {
		return nil, err
	}
	return &customer.List{Customers: found}, nil
}

func (in *Internal) held(ctx context.Context, r rental.With[customer.Of]) (*rental.Held, error) {
	address, err := customer.Check(r.Body.Email)
	if err != nil {
		return nil, err
	}
	offer, err := in.business(ctx, r.At)
	if err != nil {
		return nil, err
	}
	found, err := in.records.Held(ctx, offer.ID, address, customer.MostHeld+1)
	if err != nil {
		return nil, err
	}
	held := rental.Held{Reservations: make([]rental.Reservation, len(found))}
	for i, each := range found {
		held.Reservations[i] = in.show(offer, each)
	}
	return &held, nil
}

func (in *Internal) expiringCustomers(ctx context.Context,
	r rental.With[customer.Expiring]) (*customer.ExpiringList, error) {
	offer, err := in.business(ctx, r.At)
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
	if r.Body.Email, err = customer.Check(r.Body.Email); err != nil {
		return nil, err
	}
	offer, err := in.business(ctx, r.At)
	if err != nil {
		return nil, err
	}
	now := in.clock.Now()
	erased, err := in.records.EraseCustomer(ctx, offer.ID,
		store.Erase{Erase: r.Body, Now: now, Today: offer.Today(now), Zone: offer.Location()})
	if err != nil {
		return nil, err
	}
	return &erased, nil
}

// outcome returns the stored answer of an earlier write with the
// same Idempotency-Key. It returns nil if there was no such write.
func (in *Internal) outcome(c *fiber.Ctx) ([]byte, error) {
	id, err := server.Query(c).OptionalID(rental.QueryBusinessID)
	if err != nil {
		return nil, err
	}
	of := rental.OfSlug{Slug: c.Params("slug")}
	if id != nil {
		of.Business = *id
	}
	offer, err := in.business(c.UserContext(), of)
	switch {
	case fault.Is(err, fault.BusinessNotFound):
		return nil, nil // no stored answer is left; the request itself fails with the same fault
	case err != nil:
		return nil, fault.Unknown(err)
	}
	return in.records.FindIdempotencyResult(c.UserContext(), offer.ID)
}
