package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// starts answers with the times on a date at which a customer's reservation can begin. If data
// cannot be read, the field "computed" of the answer is false, as in /rental-available-dates.
func (p *Public) starts(ctx context.Context, r rental.StartsRequest) (*rental.Starts, error) {
	var asked usecase.Request
	asked.RentalID, asked.Quantity = r.RentalID, r.Quantity
	asked.Dates.From, asked.Dates.To = r.Date, r.Date
	for _, id := range r.Extras {
		asked.Extras = append(asked.Extras, usecase.Extra{RentalID: id, Quantity: r.Quantity})
	}
	found, err := usecase.Starts(ctx, p.offers, p.records, p.clock, r.Slug, asked)
	switch {
	case fault.Is(err, fault.BusinessNotFound), fault.Is(err, fault.RentalNotFound),
		fault.Is(err, fault.InvalidParameter):
		return nil, err
	case err != nil:
		p.note(ctx, "starts", err)
		return &rental.Starts{Starts: []rental.Start{}}, nil
	}
	answer := rental.Starts{Computed: true, Starts: make([]rental.Start, len(found))}
	for i, s := range found {
		answer.Starts[i] = rental.Start{Time: s.Time, Shortest: s.Shortest, Longest: s.Longest}
	}
	return &answer, nil
}
