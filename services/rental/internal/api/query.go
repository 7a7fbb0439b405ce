package api

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
)

// Bounds of /rental-available-dates (interface.md §8).
const (
	maxRentals    = 20
	maxWindowDays = 62
)

// values gives every value of a query parameter in the order it was sent.
type values func(name string) []string

func argsOf(c *fiber.Ctx) values {
	args := c.Context().QueryArgs()
	return func(name string) []string {
		var all []string
		for _, v := range args.PeekMulti(name) {
			all = append(all, string(v))
		}
		return all
	}
}

// availabilityQuery is the question of /rental-availability.
type availabilityQuery struct {
	RentalID uuid.UUID
	request
}

// parseAvailability reads the parameters of /rental-availability but for lang, which never fails a request. Its faults
// are of kind invalid_parameter and name the parameter.
func parseAvailability(get values) (availabilityQuery, error) {
	var q availabilityQuery
	id, err := required(get, "rentalId", "a rental's id")
	if err != nil {
		return q, err
	}
	if q.RentalID, err = parseUUID("rentalId", id); err != nil {
		return q, err
	}
	if q.Dates, err = parseDates(get, "startDate", "endDate"); err != nil {
		return q, err
	}
	if q.Dates.To-q.Dates.From >= maxRangeDays {
		return q, invalid("endDate: the range is too large; it may have %d days, both ends counted.", maxRangeDays)
	}
	if q.Quantity, err = parseQuantity(get); err != nil {
		return q, err
	}
	if q.Start, err = optionalTime(get, "startTime"); err != nil {
		return q, err
	}
	q.End, err = optionalTime(get, "endTime")
	return q, err
}

// datesQuery is the question of /rental-available-dates. Each id is there once.
type datesQuery struct {
	RentalIDs []uuid.UUID
	Dates     occupancy.Dates
}

// parseAvailableDates reads the parameters of /rental-available-dates, as [parseAvailability] does.
func parseAvailableDates(get values) (datesQuery, error) {
	var q datesQuery
	var err error
	if q.Dates, err = parseDates(get, "start", "end"); err != nil {
		return q, err
	}
	if q.Dates.To-q.Dates.From >= maxWindowDays {
		return q, invalid("Window too large (max %d days).", maxWindowDays) // like the words of /available-dates
	}
	list, err := required(get, "rental_id", "a rental's id, or several separated by commas")
	if err != nil {
		return q, err
	}
	for part := range strings.SplitSeq(list, ",") {
		id, err := parseUUID("rental_id", part)
		if err != nil {
			return q, err
		}
		if !slices.Contains(q.RentalIDs, id) {
			q.RentalIDs = append(q.RentalIDs, id)
		}
		if len(q.RentalIDs) > maxRentals {
			return q, invalid("Too many rental_id values (max %d).", maxRentals) // the words of interface.md §4
		}
	}
	return q, nil
}

// single returns the one value of a parameter, "" where it is not there.
func single(get values, name string) (string, error) {
	all := get(name)
	switch {
	case len(all) == 0:
		return "", nil
	case len(all) > 1:
		return "", invalid("%s: is given %d times; give it once.", name, len(all))
	case !utf8.ValidString(all[0]) || strings.ContainsRune(all[0], 0):
		return "", invalid("%s: is no text; write it in UTF-8 without NUL bytes.", name)
	}
	return all[0], nil
}

func required(get values, name, what string) (string, error) {
	s, err := single(get, name)
	if err == nil && s == "" {
		return "", invalid("%s: is missing; write %s.", name, what)
	}
	return s, err
}

func parseDates(get values, start, end string) (occupancy.Dates, error) {
	from, err := requiredDate(get, start)
	if err != nil {
		return occupancy.Dates{}, err
	}
	to, err := requiredDate(get, end)
	if err != nil {
		return occupancy.Dates{}, err
	}
	if to < from {
		return occupancy.Dates{}, invalid("%s: %s lies before %s, %s; give a date on or after it.", end, to, start, from)
	}
	return occupancy.Dates{From: from, To: to}, nil
}

func requiredDate(get values, name string) (timespan.Date, error) {
	s, err := required(get, name, "YYYY-MM-DD, such as 2027-03-01")
	if err != nil {
		return 0, err
	}
	d, err := timespan.ParseDate(s)
	if err != nil {
		return 0, invalid("%s: %s.", name, err)
	}
	return d, nil
}

// optionalTime reads HH:MM; 24:00 is the end of a day and nothing else.
func optionalTime(get values, name string) (*timespan.TimeOfDay, error) {
	s, err := single(get, name)
	if err != nil || s == "" {
		return nil, err
	}
	return parseTime(name, s)
}

func parseTime(name, s string) (*timespan.TimeOfDay, error) {
	t, err := timespan.ParseTimeOfDay(s)
	if err != nil {
		return nil, invalid("%s: %s.", name, err)
	}
	if t == timespan.MinutesPerDay && strings.HasPrefix(name, "start") {
		return nil, invalid("%s: nothing starts at 24:00; write 00:00 on the next day.", name)
	}
	return &t, nil
}

func parseQuantity(get values) (int, error) {
	s, err := single(get, "quantity")
	if err != nil || s == "" {
		return 1, err
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n < 1 || n > maxQuantity {
		return 0, invalid("quantity: %q is not right; write a whole number from 1 to %d.", clip(s), maxQuantity)
	}
	return int(n), nil
}

// parseUUID reads the usual form alone; the library also takes braces and URNs.
func parseUUID(name, s string) (uuid.UUID, error) {
	const length = 36
	if len(s) == length {
		if id, err := uuid.Parse(s); err == nil {
			return id, nil
		}
	}
	return uuid.UUID{}, invalid("%s: %q is not a UUID; write one such as 6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b.", name, clip(s))
}

// clip bounds what a sentence quotes of the caller's input.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
