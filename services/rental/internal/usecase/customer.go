package usecase

import (
	"cmp"
	"time"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// customersMay refuses what owners may reserve and customers may not, on the booking page (pages.md, semantics.md §4). Faults: what the
// business's account does not allow; invalid_parameter without an e-mail address; conflict for the past, beyond the advance limit, and
// for a time that is shorter or longer than the rental is rented for; payment_unavailable for what must be paid online.
func customersMay(offer *catalog.Offer, r *catalog.Rental, asked Request, during timespan.Span, hourly bool, now time.Time) error {
	return cmp.Or(
		offer.CheckAccount(false, now),
		hasAddress(asked),
		inReach(offer, asked, during, hourly, now),
		inLength(r, asked, during, hourly),
		offer.CheckPrepaid(offer.Payments.Modes.Rentals, r.PaymentRequirement, r.Price),
	)
}

func hasAddress(asked Request) error {
	if asked.CustomerEmail == nil {
		return request.Invalid("customer_email: this field is required and must not be empty.")
	}
	return nil
}

// inReach refuses what begins in the past, or ends beyond the advance limit.
func inReach(offer *catalog.Offer, asked Request, during timespan.Span, hourly bool, now time.Time) error {
	today := offer.Today(now)
	switch {
	case asked.Dates.From < today || hourly && during.Start < now.Unix():
		return fault.New(fault.Conflict, "That time has begun; choose one that lies ahead.")
	case asked.Dates.To > today+timespan.Date(offer.Bookings.AdvanceDays):
		return fault.Newf(fault.Conflict, "That is too far ahead; the last day is %s.", today+timespan.Date(offer.Bookings.AdvanceDays))
	}
	return nil
}

// inLength refuses what is shorter or longer than the rental is rented for.
func inLength(r *catalog.Rental, asked Request, during timespan.Span, hourly bool) error {
	wrong := asked.WrongLength(r, during, hourly)
	switch {
	case wrong == nil:
		return nil
	case wrong.TooLong:
		return fault.Newf(fault.Conflict, "That is too long; it is rented for %d %s at most.", wrong.Bound, wrong.Unit)
	}
	return fault.Newf(fault.Conflict, "That is too short; it is rented for %d %s at least.", wrong.Bound, wrong.Unit)
}
