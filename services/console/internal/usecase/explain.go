package usecase

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
)

// Explain says why a start can or cannot be booked (pages.md, "Why not?"), by the offer as it is published now. What could not be
// read makes the answer not computed. Faults: service_not_found, invalid_parameter.
func (o *Owner) Explain(ctx context.Context, slug string, start availability.Question) (*availability.Explanation, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Availability.Explain(ctx, availability.ExplainRequest{Slug: business.Slug, OfferVersion: business.Version, Question: start})
}
