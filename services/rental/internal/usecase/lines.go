package usecase

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/sale/pricelabel"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Extra is a request for units of another rental, which is reserved together with the main rental.
type Extra struct {
	RentalID uuid.UUID
	Quantity int
}

// Prices returns the prices of rentals; [pricing.Client] implements
// Prices. An error means that the prices could not be determined.
type Prices interface {
	Quotes(ctx context.Context, request pricing.QuotesRequest) (*pricing.QuotesResponse, error)
}

var _ Prices = (*pricing.Client)(nil)

// line is one rental of a request, with the requested number of units. If the field `isHourly` is
// true, the units are reserved for the span `span`, otherwise for the whole dates of the request.
type line struct {
	*catalog.Rental
	quantity int
	span     timespan.Span
	isHourly bool
}

// newLines returns the lines of a request: first the line of the main rental,
// then the lines of the extras. Faults: rental_not_found; invalid_parameter.
func newLines(offer *catalog.Snapshot, req Request) ([]line, error) {
	extras := append([]Extra{{RentalID: req.RentalID, Quantity: req.Quantity}}, req.Extras...)
	lines := make([]line, len(extras))
	for i, w := range extras {
		if slices.ContainsFunc(extras[:i], func(other Extra) bool { return other.RentalID == w.RentalID }) {
			return nil, request.Invalid("extras: send each rental once, with all its units.")
		}
		l := line{Rental: FindRental(offer, w.RentalID), quantity: w.Quantity}
		if l.Rental == nil {
			return nil, NewNotFoundFault()
		}
		var err error
		if l.span, l.isHourly, err = req.ResolveHours(l.Rental, offer.Location(),
			[2]string{"start_time", "end_time"}); err != nil {
			return nil, err
		}
		lines[i] = l
	}
	return lines, nil
}

// countUnits returns how many hours or days the customer pays for, rounded up. The argument `dates`
// is the span of the reservation's dates, and `days` is the number of these dates. If a
// rental with a price per hour is reserved for whole dates, all hours of the dates count.
func (l line) countUnits(dates timespan.Span, days int) int {
	switch {
	case l.PriceType == catalog.PriceDaily:
		return days
	case l.isHourly:
		dates = l.span
	}
	const hour = 3600
	return int((dates.End - dates.Start + hour - 1) / hour)
}

// price sets the prices of the reservation `r` and its extras according to the current pricing rules of the business.
// For each line, the basis is the price of one unit for one hour or day. price multiplies this basis by the number of
// hours or days and by the number of units.
//
// price returns the amount, in minor units, that must be paid online now. For each
// unit, the payment requirement of the rental determines which part of the price is
// due now. Faults: availability_unverified; [sale.ErrChanged] if the offer has changed.
func (o *Owner) price(ctx context.Context, offer *catalog.Snapshot, lines []line,
	r *store.NewReservation) (int64, error) {
	dates := timespan.Span{
		Start: timespan.Instant(r.Dates.From, 0, offer.Location()),
		End:   timespan.Instant(r.Dates.To+1, 0, offer.Location()),
	}
	ask := pricing.QuotesRequest{
		Slug:         offer.Slug,
		OfferVersion: offer.Version,
		PurchaseAt:   r.Now,
		OmitSteps:    len(offer.Rules) == 0,
	}
	for _, l := range lines {
		units := l.countUnits(dates, int(r.Dates.To-r.Dates.From)+1)
		item := pricing.Item{Kind: pricing.KindRental, ID: l.ID, Date: r.Dates.From, Units: &units}
		if l.isHourly {
			item.Start = &r.Hours.Start
		}
		ask.Items = append(ask.Items, item)
	}
	answer, err := o.prices.Quotes(ctx, ask)
	switch {
	case err != nil:
		return 0, newUnpricedFault(err)
	case answer.OfferVersion != offer.Version || len(answer.Quotes) != len(lines):
		return 0, sale.ErrChanged
	}
	due := int64(0)
	r.Price = &store.Price{Currency: offer.Money(), Changes: pricelabel.ListChanges(offer, r.Locale, answer.Quotes...)}
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

// newUnpricedFault returns a fault with code availability_unverified.
// The argument `err` is the reason why a price could not be determined.
func newUnpricedFault(err error) error {
	f := fault.Wrap(fault.AvailabilityUnverified, err,
		"The price could not be determined just now, so nothing was reserved; try again shortly.")
	f.RetryAfter = time.Second
	return f
}
