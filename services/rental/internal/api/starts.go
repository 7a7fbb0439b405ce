package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// serveStarts answers with the times on a date at which a customer's reservation can begin. If data
// cannot be read, the field "computed" of the answer is false, as in /rental-available-dates.
func (p *Public) serveStarts(ctx context.Context, r rental.StartsRequest) (*rental.Starts, error) {
	var req usecase.Request
	req.RentalID, req.Quantity = r.RentalID, r.Quantity
	req.Dates.From, req.Dates.To = r.Date, r.Date
	for _, id := range r.Extras {
		req.Extras = append(req.Extras, usecase.Extra{RentalID: id, Quantity: r.Quantity})
	}
	found, err := usecase.FindStarts(ctx, p.offers, p.records, p.clock, r.Slug, req)
	switch {
	case fault.Is(err, fault.BusinessNotFound), fault.Is(err, fault.RentalNotFound),
		fault.Is(err, fault.InvalidParameter):
		return nil, err
	case err != nil:
		p.recordDegraded(ctx, "starts", err)
		return &rental.Starts{Starts: []rental.Start{}}, nil
	}
	answer := rental.Starts{Computed: true, Starts: make([]rental.Start, len(found))}
	for i, s := range found {
		answer.Starts[i] = rental.Start{Time: s.Time, Shortest: s.Shortest, Longest: s.Longest}
	}
	return &answer, nil
}
