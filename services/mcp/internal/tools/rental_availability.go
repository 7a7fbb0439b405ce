package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// rentalAvailability is the availability of a rental for the time that the agent requested.
type rentalAvailability struct {
	Status      availabilityStatus `json:"status" jsonschema:"available, unavailable, or unknown: it could not be read just now, which says neither"`
	Reason      *string            `json:"reason" jsonschema:"why it is unavailable, in the language of locale; else null"`
	MessageCode *message.ID        `json:"messageCode" jsonschema:"the same as a code; else null"`
}

// maxAvailability is the maximum size of the JSON form of a [rentalAvailability], in bytes.
const maxAvailability = 350

// availabilityStatus is the status of a rental's availability.
type availabilityStatus string

const (
	statusAvailable   availabilityStatus = "available"
	statusUnavailable availabilityStatus = "unavailable"
	statusUnknown     availabilityStatus = "unknown"
)

// Limits of a rental period (interface.md §4).
const (
	maxQuantity   = 1000
	maxRentalDays = 730
)

// period reads the requested time and returns it as query parameters
// of /rental-availability. It returns nil if no dates were sent.
func (a arguments) period() (url.Values, error) {
	query := url.Values{}
	if err := cmp.Or(
		copyArgument(query, "startDate", a.date, "start_date"), copyArgument(query, "endDate", a.date, "end_date"),
		copyArgument(query, "startTime", a.clockTime, "start_time"),
		copyArgument(query, "endTime", a.clockTime, "end_time"),
	); err != nil {
		return nil, err
	}
	quantity, err := a.quantity()
	if err != nil {
		return nil, err
	}
	if err := a.checkPeriod(query); err != nil || !query.Has("startDate") {
		return nil, err
	}
	query.Set("quantity", strconv.Itoa(quantity))
	return query, nil
}

// checkPeriod returns a fault if the dates, times or quantity of a rental period are invalid.
func (a arguments) checkPeriod(query url.Values) error {
	_, counted := a["quantity"]
	switch {
	case query.Has("startDate") != query.Has("endDate"):
		return request.Invalid("start_date: availability needs both start_date and end_date; send the same date " +
			"twice for one day.")
	case query.Has("startTime") != query.Has("endTime"):
		return request.Invalid("start_time: send both start_time and end_time, or neither.")
	case !query.Has("startDate") && (counted || query.Has("startTime")):
		return request.Invalid("start_date: times and quantity need start_date and end_date.")
	case !query.Has("startDate"):
		return nil
	}
	from, errFrom := timespan.ParseDate(query.Get("startDate"))
	to, errTo := timespan.ParseDate(query.Get("endDate"))
	if errFrom != nil || errTo != nil || to < from {
		return request.Invalid("end_date: it lies before start_date; send a date on or after it.")
	}
	if to-from >= maxRentalDays {
		return request.Invalid("end_date: send at most %d days, both ends counted.", maxRentalDays)
	}
	if from == to && query.Has("startTime") && query.Get("endTime") <= query.Get("startTime") {
		return request.Invalid("end_time: it is not after start_time; send a later time, or a later end_date.")
	}
	return nil
}

// clockTime reads a time of day before 24:00 and returns its text unchanged. It returns "" if the argument is left out.
func (a arguments) clockTime(name string) (string, error) {
	return readChecked(a, name, func(name, s string) (timespan.TimeOfDay, error) {
		t, err := request.Time(name, s)
		if err != nil || t == timespan.MinutesPerDay {
			err = request.Invalid("%s: %s is not a time of day; write HH:MM, 00:00 to 23:59.", name, request.Quote(s))
		}
		return t, err
	})
}

// quantity reads the number of units. It returns 1 if the argument is left out.
func (a arguments) quantity() (int, error) {
	n := 1
	if raw, ok := a["quantity"]; ok && json.Unmarshal(raw, &n) != nil || n < 1 || n > maxQuantity {
		return 0, request.Invalid("quantity: send a whole number from 1 to %d.", maxQuantity)
	}
	return n, nil
}

// maxConcurrentCalls is the maximum number of concurrent requests for the availability of rentals in one tool call.
const maxConcurrentCalls = 8

// addAvailability sets the availability of each rental. It returns the number of rentals
// whose availability is unknown because it cannot be read, or cannot be read within the time
// of the tool call. The list always contains these rentals too. Fault: invalid_parameter.
func (b *Toolbox) addAvailability(ctx context.Context, slug string, baseQuery url.Values,
	rentals []rental) (int, error) {
	var calls errgroup.Group
	calls.SetLimit(maxConcurrentCalls)
	for i := range rentals {
		calls.Go(func() error {
			return fault.Guard(func() error {
				var err error
				rentals[i].Availability, err = b.availability(ctx, slug, baseQuery, rentals[i].ID)
				return err
			})
		})
	}
	if err := calls.Wait(); err != nil {
		return 0, err
	}
	unknown := 0
	for _, r := range rentals {
		if r.Availability.Status == statusUnknown {
			unknown++
		}
	}
	return unknown, nil
}

// availability reads the availability of one rental. If it cannot be read, the result has the
// status unknown. Fault: invalid_parameter if the arguments of the tool call are invalid.
func (b *Toolbox) availability(ctx context.Context, slug string, baseQuery url.Values,
	id uuid.UUID) (*rentalAvailability, error) {
	query := url.Values{"rentalId": {id.String()}}
	for name, values := range baseQuery {
		query[name] = values
	}
	var verdict publicapi.RentalAvailability
	err := b.Rental.Read(ctx, slug, "rental-availability", query, &verdict)
	switch {
	case fault.Is(err, fault.InvalidParameter):
		return nil, translateError(err)
	case err != nil:
		return &rentalAvailability{Status: statusUnknown}, nil
	case verdict.Available:
		return &rentalAvailability{Status: statusAvailable}, nil
	}
	reason := clipText(verdict.ConflictReason, maxReason)
	return &rentalAvailability{Status: statusUnavailable, Reason: &reason, MessageCode: &verdict.MessageCode}, nil
}

// translateError replaces the names of the parameters of
// /rental-availability in an error with the names of the tool's arguments.
func translateError(err error) error {
	f := *fault.Of(err)
	f.Sentence = strings.NewReplacer("startDate", "start_date", "endDate", "end_date", "startTime", "start_time",
		"endTime", "end_time").Replace(f.Sentence)
	return &f
}
