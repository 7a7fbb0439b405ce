package usecase

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/pricing"
	"github.com/slotmesh/slotmesh/libs/pricelabel"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Extra asks for units of another rental that goes with the reserved one.
type Extra struct {
	RentalID uuid.UUID
	Quantity int
}

// Prices returns quotes; [pricing.Client] implements it. An error means that the prices could not be determined.
type Prices interface {
	Quotes(ctx context.Context, request pricing.QuotesRequest) (*pricing.QuotesResponse, error)
}

var _ Prices = (*pricing.Client)(nil)

// line is one rental of a request, with its number of units. If hourly, they
// are reserved for during, otherwise for the whole dates of the request.
type line struct {
	*catalog.Rental
	quantity int
	during   timespan.Span
	hourly   bool
}

// linesOf returns the lines of a request: the rental itself first,
// then its extras. Faults: rental_not_found; invalid_parameter.
func linesOf(offer *catalog.Offer, asked Request) ([]line, error) {
	wanted := append([]Extra{{RentalID: asked.RentalID, Quantity: asked.Quantity}}, asked.Extras...)
	lines := make([]line, len(wanted))
	for i, w := range wanted {
		if slices.ContainsFunc(wanted[:i], func(other Extra) bool { return other.RentalID == w.RentalID }) {
			return nil, request.Invalid("extras: send each rental once, with all its units.")
		}
		l := line{Rental: Rental(offer, w.RentalID), quantity: w.Quantity}
		if l.Rental == nil {
			return nil, NotFound()
		}
		var err error
		if l.during, l.hourly, err = asked.Hours(l.Rental, offer.Location(), [2]string{"start_time", "end_time"}); err != nil {
			return nil, err
		}
		lines[i] = l
	}
	return lines, nil
}

// time returns for how many hours or days a line is priced; a part of one counts as a whole.
// A rental by the hour that is reserved for whole dates is priced for all hours of dates.
func (l line) time(dates timespan.Span, days int) int {
	switch {
	case l.PriceType == catalog.PriceDaily:
		return days
	case l.hourly:
		dates = l.during
	}
	const hour = 3600
	return int((dates.End - dates.Start + hour - 1) / hour)
}

// price sets the prices of a reservation and its extras by the business's rules as of now. A price
// is that of one unit for an hour or a day, times the whole time, times all units. It returns the
// amount to pay at the time of booking, which the payment requirement of each rental derives from
// the price of one unit. Faults: availability_unverified; [errAgain] if the offer has changed.
func (o *Owner) price(ctx context.Context, offer *catalog.Offer, lines []line, r *store.NewReservation) (int64, error) {
	dates := timespan.Span{
		Start: timespan.Instant(r.Dates.From, 0, offer.Location()), End: timespan.Instant(r.Dates.To+1, 0, offer.Location()),
	}
	ask := pricing.QuotesRequest{Slug: offer.Slug, OfferVersion: offer.Version, PurchaseAt: r.Now, OmitSteps: len(offer.Rules) == 0}
	for _, l := range lines {
		units := l.time(dates, int(r.Dates.To-r.Dates.From)+1)
		item := pricing.Item{Kind: pricing.KindRental, ID: l.ID, Date: r.Dates.From, Units: &units}
		if l.hourly {
			item.Start = &r.Hours.Start
		}
		ask.Items = append(ask.Items, item)
	}
	answer, err := o.prices.Quotes(ctx, ask)
	switch {
	case err != nil:
		return 0, unpriced(err)
	case answer.OfferVersion != offer.Version || len(answer.Quotes) != len(lines):
		return 0, errAgain
	}
	due := int64(0)
	r.Price = &store.Price{Currency: offer.Money(), Changes: pricelabel.Changes(offer, r.Locale, answer.Quotes...)}
	for i, quote := range answer.Quotes {
		l, unit := lines[i], quote.Price*int64(*ask.Items[i].Units)
		due += catalog.Due(l.PaymentRequirement, l.DepositValue, unit, offer.Money()) * int64(l.quantity)
		price := unit * int64(l.quantity)
		r.Price.Total += price
		if i == 0 {
			r.Price.Own = price
			continue
		}
		r.Extras[i-1].Price = &price
	}
	return due, nil
}

// unpriced returns the fault for a price that could not be determined.
func unpriced(err error) error {
	f := fault.Wrap(fault.AvailabilityUnverified, err, "The price could not be determined just now, so nothing was reserved; try again shortly.")
	f.RetryAfter = time.Second
	return f
}
