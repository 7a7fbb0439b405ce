package api

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/formdata"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// The bounds of a request for /rental-available-dates (interface.md §8).
const (
	maxRentals    = 20
	maxWindowDays = 62
)

// The bounds of a request for /rental-availability and of a reservation (interface.md §8).
const (
	maxRangeDays = 730 // the first and the last date included
	maxQuantity  = rental.MaxQuantity
)

// availabilityQuery holds the parameters of /rental-availability.
type availabilityQuery struct {
	RentalID uuid.UUID
	usecase.Period
}

// parseAvailability reads the parameters of /rental-availability, except the parameter lang, which
// never makes a request invalid. Fault: invalid_parameter, which names the invalid parameter.
func parseAvailability(get request.Query) (availabilityQuery, error) {
	var q availabilityQuery
	id, err := get.Required("rentalId", "a rental's id")
	if err != nil {
		return q, err
	}
	if q.RentalID, err = request.ID("rentalId", id); err != nil {
		return q, err
	}
	if q.Dates.From, q.Dates.To, err = get.Dates("startDate", "endDate"); err != nil {
		return q, err
	}
	if q.Dates.To-q.Dates.From >= maxRangeDays {
		return q, request.Invalid("endDate: the range is too large; it may have %d days, both ends counted.",
			maxRangeDays)
	}
	if q.Quantity, err = get.OptionalNumber("quantity", maxQuantity, 1); err != nil {
		return q, err
	}
	if q.Start, err = get.OptionalTime("startTime"); err != nil {
		return q, err
	}
	if q.End, err = get.OptionalTime("endTime"); err != nil {
		return q, err
	}
	return q, checkStart("startTime", q.Start)
}

// checkStart refuses a start at 24:00, because 24:00 means the end of a day. The
// argument `name` is the name of the parameter or field, for the text of the fault.
func checkStart(name string, start *timespan.TimeOfDay) error {
	if start != nil && *start == timespan.MinutesPerDay {
		return request.Invalid("%s: nothing starts at 24:00; write 00:00 on the next day.", name)
	}
	return nil
}

// datesQuery holds the parameters of /rental-available-dates. It contains each rental id only once.
type datesQuery struct {
	RentalIDs []uuid.UUID
	Dates     occupancy.Dates
}

// parseAvailableDates reads the parameters of /rental-available-dates.
// Fault: invalid_parameter, which names the invalid parameter.
func parseAvailableDates(get request.Query) (datesQuery, error) {
	var q datesQuery
	var err error
	if q.Dates.From, q.Dates.To, err = get.Dates("start", "end"); err != nil {
		return q, err
	}
	if q.Dates.To-q.Dates.From >= maxWindowDays {
		return q, request.TooWide(maxWindowDays)
	}
	ids, err := get.IDs("rental_id", "a rental")
	if err != nil {
		return q, err
	}
	for _, id := range ids {
		if !slices.Contains(q.RentalIDs, id) {
			q.RentalIDs = append(q.RentalIDs, id)
		}
	}
	if len(q.RentalIDs) > maxRentals {
		return q, request.TooMany("rental_id", maxRentals)
	}
	return q, nil
}

// parseReservation validates a request to reserve. The argument `from` is the actor that sent the request. Fault:
// invalid_parameter, which names the invalid field.
func parseReservation(req rental.NewReservation, from actor.Actor) (usecase.Request, error) {
	var q usecase.Request
	fields := map[string]string{"rental_id": req.RentalID, "start_date": req.StartDate, "end_date": req.EndDate}
	get := request.Query(func(name string) []string { return []string{fields[name]} })
	id, err := get.Required("rental_id", "a rental's id")
	if err != nil {
		return q, err
	}
	if q.RentalID, err = request.ID("rental_id", id); err != nil {
		return q, err
	}
	if q.Dates.From, q.Dates.To, err = get.Dates("start_date", "end_date"); err != nil {
		return q, err
	}
	if q.Dates.To-q.Dates.From >= maxRangeDays {
		return q, request.Invalid("end_date: the reservation is too long; it may have %d days, both ends counted.",
			maxRangeDays)
	}
	if q.Start, err = parseOptionalTime("start_time", req.StartTime); err != nil {
		return q, err
	}
	if q.End, err = parseOptionalTime("end_time", req.EndTime); err != nil {
		return q, err
	}
	if err := checkStart("start_time", q.Start); err != nil {
		return q, err
	}
	if q.Quantity = req.Quantity; q.Quantity < 1 || q.Quantity > maxQuantity {
		return q, request.Invalid("quantity: write a whole number from 1 to %d.", maxQuantity)
	}
	if q.Extras, err = parseExtras(req.Extras); err != nil {
		return q, err
	}
	if q.CustomerName, err = request.Line("customer_name", req.CustomerName, maxName); err != nil {
		return q, err
	}
	if choice := req.PaymentChoice; choice != "" && choice != catalog.ModeOnline && choice != catalog.ModeAtDoor {
		return q, request.Invalid("payment_choice: send online or at_door, or leave it out.")
	}
	q.Locale, q.PaymentChoice = req.Locale, req.PaymentChoice
	if q.CustomerEmail, err = request.OptionalEmail("customer_email", req.CustomerEmail); err != nil {
		return q, err
	}
	if q.CustomerPhone, err = request.OptionalLine("customer_phone", req.CustomerPhone, maxPhone); err != nil {
		return q, err
	}
	q.FormData, err = formdata.Read("form_data", req.FormData, from)
	return q, err
}

func parseExtras(req []rental.NewExtra) ([]usecase.Extra, error) {
	if len(req) > rental.MaxExtras {
		return nil, request.TooMany("extras", rental.MaxExtras)
	}
	var extras []usecase.Extra
	for i, extra := range req {
		id, err := request.ID(fmt.Sprintf("extras[%d].rental_id", i), extra.RentalID)
		if err != nil {
			return nil, err
		}
		if extra.Quantity < 1 || extra.Quantity > maxQuantity {
			return nil, request.Invalid("extras[%d].quantity: write a whole number from 1 to %d.", i, maxQuantity)
		}
		extras = append(extras, usecase.Extra{RentalID: id, Quantity: extra.Quantity})
	}
	return extras, nil
}

// The largest lengths of a customer's name and phone number, in characters.
const (
	maxName  = 200
	maxPhone = 50
)

func parseOptionalTime(name string, s *string) (*timespan.TimeOfDay, error) {
	if s == nil {
		return nil, nil
	}
	t, err := request.Time(name, *s)
	return &t, err
}
