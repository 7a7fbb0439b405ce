package usecase

import (
	"cmp"
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// checkCustomerRules checks the rules that a reservation from the booking page must follow (pages.md, semantics.md §4).
// Reservations by the owner need not follow these rules. Faults: the faults of [catalog.Snapshot.CheckAccount];
// invalid_parameter if the e-mail address is missing; conflict if any other rule is broken.
//
// The other rules: The time is not in the past, is within the advance limit, and has an allowed length. Pick-up
// and return are within opening hours. The extras are upsells of the rental and include all required upsells.
func checkCustomerRules(offer *catalog.Snapshot, lines []line, req Request, now time.Time) error {
	own := lines[0]
	return cmp.Or(
		offer.CheckAccount(false, now),
		checkAddress(req),
		checkAdvanceLimit(offer, req, own.span, own.isHourly, now),
		checkLength(own.Rental, req, own.span, own.isHourly),
		checkOpeningHours(offer, own, req),
		checkUpsells(offer, lines),
	)
}

// checkUpsells refuses extras that are not upsells of the rental. It also refuses a rental without its required
// upsells. For each unit of the rental, the customer must reserve at least one unit of each required upsell. An
// inactive upsell is not required, because it cannot be reserved.
func checkUpsells(offer *catalog.Snapshot, lines []line) error {
	own, extras := lines[0], lines[1:]
	for _, extra := range extras {
		if !slices.ContainsFunc(own.Upsells, func(u catalog.Upsell) bool { return u.RentalID == extra.ID }) {
			return fault.Newf(fault.Conflict, "%s is not offered along with %s.", extra.Name, own.Name)
		}
	}
	for _, u := range own.Upsells {
		required := FindRental(offer, u.RentalID)
		if !u.Required || required == nil {
			continue
		}
		if !slices.ContainsFunc(extras,
			func(extra line) bool { return extra.ID == u.RentalID && extra.quantity >= own.quantity }) {
			return fault.Newf(fault.Conflict, "%s goes with %s; reserve at least %d of it, too.", required.Name,
				own.Name, own.quantity)
		}
	}
	return nil
}

func checkAddress(req Request) error {
	if req.CustomerEmail == nil {
		return request.Invalid("customer_email: this field is required and must not be empty.")
	}
	return nil
}

// checkAdvanceLimit refuses a reservation that begins in the past, or that ends after the last date within the advance
// limit.
func checkAdvanceLimit(offer *catalog.Snapshot, req Request, span timespan.Span, hourly bool, now time.Time) error {
	today := offer.Today(now)
	switch {
	case req.Dates.From < today || hourly && span.Start < now.Unix():
		return fault.New(fault.Conflict, "That time has begun; choose one that lies ahead.")
	case req.Dates.To > today+timespan.Date(offer.Bookings.AdvanceDays):
		return fault.Newf(fault.Conflict, "That is too far ahead; the last day is %s.",
			today+timespan.Date(offer.Bookings.AdvanceDays))
	}
	return nil
}

// checkOpeningHours refuses a pick-up or a return outside opening hours.
func checkOpeningHours(offer *catalog.Snapshot, own line, req Request) error {
	if req.IsWithinOpeningHours(own.Rental, offer, own.span, own.isHourly) {
		return nil
	}
	return fault.New(fault.Conflict, "Pick-up or return is outside opening hours; choose another time.")
}

// checkLength refuses a reservation that is shorter or longer than the rental allows.
func checkLength(r *catalog.Rental, req Request, span timespan.Span, hourly bool) error {
	violation := req.FindLengthViolation(r, span, hourly)
	switch {
	case violation == nil:
		return nil
	case violation.IsTooLong:
		return fault.Newf(fault.Conflict, "That is too long; it is rented for %d %s at most.", violation.Bound,
			violation.Unit)
	}
	return fault.Newf(fault.Conflict, "That is too short; it is rented for %d %s at least.", violation.Bound,
		violation.Unit)
}
