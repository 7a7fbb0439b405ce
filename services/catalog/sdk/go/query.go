package slotmesh

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// OfferQuery selects services or rentals, and the date of quoted prices.
type OfferQuery struct {
	// Locale is a BCP 47 language tag. The answer then has texts in this language, and no translations.
	Locale string
	// Date is the booking date for quoted prices. The default is the business's current date.
	Date string
}

func (q OfferQuery) values() url.Values { return given("locale", q.Locale, "date", q.Date) }

// StaffQuery selects staff members.
type StaffQuery struct {
	// ServiceID selects the staff members who perform this service.
	ServiceID string
	// Locale is a BCP 47 language tag.
	Locale string
}

func (q StaffQuery) values() url.Values { return given("service_id", q.ServiceID, "locale", q.Locale) }

// EventQuery sets the language of events.
type EventQuery struct {
	// Locale is a BCP 47 language tag.
	Locale string
}

func (q EventQuery) values() url.Values { return given("locale", q.Locale) }

// Appointment is the appointment for which free times are searched.
type Appointment struct {
	// ServiceIDs are the ids of 1 to 20 services, which form one appointment in this order. A class must be alone.
	ServiceIDs []string
	// StaffID selects slots of this staff member.
	StaffID string
	// Package is true for a package. Each start is then listed once, with the first staff member who is free.
	Package bool
	// StaffingMode is [StaffingPerService] if each service of a package may have its own staff member.
	StaffingMode string
	// Variants are booked instead of the services themselves.
	Variants Variants
}

// StaffingPerService allows a different staff member for each service of a package.
const StaffingPerService = "per_service"

func (a Appointment) addTo(values url.Values) url.Values {
	for name, all := range given("service_id", strings.Join(a.ServiceIDs, ","), "staff_id", a.StaffID, "staffing_mode",
		a.StaffingMode,
		"variants", strings.Join(a.Variants.pairs(), ",")) {
		values[name] = all
	}
	if a.Package {
		values.Set("is_package", "true")
	}
	return values
}

// SlotQuery selects the slots of a date.
type SlotQuery struct {
	// Date is a date in the business's time zone.
	Date string
	Appointment
}

func (q SlotQuery) values() url.Values { return q.addTo(given("date", q.Date)) }

// DateQuery selects the dates whose slots are counted.
type DateQuery struct {
	// Start is the first date and End the last, both included; at most 62 days.
	Start, End string
	Appointment
}

func (q DateQuery) values() url.Values { return q.addTo(given("start", q.Start, "end", q.End)) }

// RentalQuery selects units of a rental and a time.
type RentalQuery struct {
	RentalID string
	// StartDate and EndDate are the first and the last date, both included; at most 730 days.
	StartDate, EndDate string
	// StartTime and EndTime are for rentals by the hour. If both are empty, the rental is for whole days.
	// 24:00 ends a day.
	StartTime, EndTime string
	// Quantity is the number of units; default 1.
	Quantity int
	// Language is the language of ConflictReason.
	Language string
}

func (q RentalQuery) values() url.Values {
	values := given("rentalId", q.RentalID, "startDate", q.StartDate, "endDate", q.EndDate, "startTime", q.StartTime,
		"endTime", q.EndTime, "lang", q.Language)
	if q.Quantity != 0 {
		values.Set("quantity", strconv.Itoa(q.Quantity))
	}
	return values
}

// RentalDateQuery selects the dates and rentals whose free units are counted.
type RentalDateQuery struct {
	// Start is the first date and End the last, both included; at most 62 days.
	Start, End string
	// RentalIDs are the ids of 1 to 20 rentals.
	RentalIDs []string
}

func (q RentalDateQuery) values() url.Values {
	return given("start", q.Start, "end", q.End, "rental_id", strings.Join(q.RentalIDs, ","))
}

// given returns the parameters that are not empty. The arguments are names and values in turn.
func given(namesAndValues ...string) url.Values {
	values := url.Values{}
	for i := 0; i < len(namesAndValues); i += 2 {
		if namesAndValues[i+1] != "" {
			values.Set(namesAndValues[i], namesAndValues[i+1])
		}
	}
	return values
}

// Variants maps the id of a service to the id of the variant to book.
type Variants map[string]string

// pairs returns the entries as "serviceId:variantId", sorted.
func (v Variants) pairs() []string {
	var all []string
	for _, service := range slices.Sorted(maps.Keys(v)) {
		all = append(all, service+":"+v[service])
	}
	return all
}
