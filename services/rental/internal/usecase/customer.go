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

// customersMay checks the rules that a reservation from the booking page must follow (pages.md, semantics.md §4).
// Reservations by the owner need not follow these rules. Faults: the faults of [catalog.Snapshot.CheckAccount];
// invalid_parameter without an e-mail address; conflict if any other rule is broken.
//
// The other rules: The time is not in the past, is within the advance limit, and has an allowed length. Pick-up
// and return are within opening hours. The extras are upsells of the rental and include all required upsells.
func customersMay(offer *catalog.Snapshot, lines []line, asked Request, now time.Time) error {
	own := lines[0]
	return cmp.Or(
		offer.CheckAccount(false, now),
		hasAddress(asked),
		inReach(offer, asked, own.during, own.hourly, now),
		inLength(own.Rental, asked, own.during, own.hourly),
		inHours(offer, own, asked),
		withUpsells(offer, lines),
	)
}

// withUpsells refuses extras that are not upsells of the rental. It also refuses a
// rental without its required upsells: each needs at least as many units as the
// rental itself. An inactive upsell is not required, because it cannot be reserved.
func withUpsells(offer *catalog.Snapshot, lines []line) error {
	own, extras := lines[0], lines[1:]
	for _, extra := range extras {
		if !slices.ContainsFunc(own.Upsells, func(u catalog.Upsell) bool { return u.RentalID == extra.ID }) {
			return fault.Newf(fault.Conflict, "%s is not offered along with %s.", extra.Name, own.Name)
		}
	}
	for _, u := range own.Upsells {
		required := Rental(offer, u.RentalID)
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

func hasAddress(asked Request) error {
	if asked.CustomerEmail == nil {
		return request.Invalid("customer_email: this field is required and must not be empty.")
	}
	return nil
}

// inReach refuses a reservation that begins in the past, or that ends after the last date within the advance limit.
func inReach(offer *catalog.Snapshot, asked Request, during timespan.Span, hourly bool, now time.Time) error {
	today := offer.Today(now)
	switch {
	case asked.Dates.From < today || hourly && during.Start < now.Unix():
		return fault.New(fault.Conflict, "That time has begun; choose one that lies ahead.")
	case asked.Dates.To > today+timespan.Date(offer.Bookings.AdvanceDays):
		return fault.Newf(fault.Conflict, "That is too far ahead; the last day is %s.",
			today+timespan.Date(offer.Bookings.AdvanceDays))
	}
	return nil
}

// inHours refuses a pick-up or a return outside opening hours.
func inHours(offer *catalog.Snapshot, own line, asked Request) error {
	if asked.HandedOver(own.Rental, offer, own.during, own.hourly) {
		return nil
	}
	return fault.New(fault.Conflict, "Pick-up or return is outside opening hours; choose another time.")
}

// inLength refuses a reservation that is shorter or longer than the rental allows.
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
