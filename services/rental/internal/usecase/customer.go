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

// inLength refuses what is shorter or longer than the rental is rented for: days count both ends, hours only where times are given.
func inLength(r *catalog.Rental, asked Request, during timespan.Span, hourly bool) error {
	days := within("days", int64(asked.Dates.To-asked.Dates.From+1), 1, r.MinRentalDays, r.MaxRentalDays)
	if !hourly {
		return days
	}
	return cmp.Or(days, within("hours", during.End-during.Start, 3600, r.MinRentalHours, r.MaxRentalHours))
}

// within refuses a length outside of bounds, which count in units of so much.
func within(units string, length, unit int64, least, most *int) error {
	switch {
	case least != nil && length < int64(*least)*unit:
		return fault.Newf(fault.Conflict, "That is too short; it is rented for %d %s at least.", *least, units)
	case most != nil && length > int64(*most)*unit:
		return fault.Newf(fault.Conflict, "That is too long; it is rented for %d %s at most.", *most, units)
	}
	return nil
}
