package slotmesh

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// OfferQuery asks for services or rentals.
type OfferQuery struct {
	// Locale is a BCP 47 language. It resolves the texts, and leaves out the maps of translations.
	Locale string
	// Date is the booking date to quote; the business's today when it is empty.
	Date string
}

func (q OfferQuery) values() url.Values { return given("locale", q.Locale, "date", q.Date) }

// StaffQuery asks for staff.
type StaffQuery struct {
	// ServiceID leaves those who perform this service.
	ServiceID string
	// Locale is a BCP 47 language.
	Locale string
}

func (q StaffQuery) values() url.Values { return given("service_id", q.ServiceID, "locale", q.Locale) }

// EventQuery asks for events.
type EventQuery struct {
	// Locale is a BCP 47 language.
	Locale string
}

func (q EventQuery) values() url.Values { return given("locale", q.Locale) }

// Appointment is what is to be booked.
type Appointment struct {
	// ServiceIDs are 1 to 20 services, which are one appointment in this order. A class is asked for alone.
	ServiceIDs []string
	// StaffID leaves this member.
	StaffID string
	// Package asks for a package: each start is listed once, with the first member who can serve it.
	Package bool
	// StaffingMode is [StaffingPerService] where each service of a package may have a member of its own.
	StaffingMode string
	// Variants are booked instead of the services themselves.
	Variants Variants
}

// StaffingPerService lets each service of a package have its own staff member.
const StaffingPerService = "per_service"

func (a Appointment) addTo(values url.Values) url.Values {
	for name, all := range given("service_id", strings.Join(a.ServiceIDs, ","), "staff_id", a.StaffID, "staffing_mode", a.StaffingMode,
		"variants", strings.Join(a.Variants.pairs(), ",")) {
		values[name] = all
	}
	if a.Package {
		values.Set("is_package", "true")
	}
	return values
}

// SlotQuery asks for the starts of a date.
type SlotQuery struct {
	// Date is a day of the business.
	Date string
	Appointment
}

func (q SlotQuery) values() url.Values { return q.addTo(given("date", q.Date)) }

// DateQuery asks how many starts each date has.
type DateQuery struct {
	// Start is the first day, End the last; 62 days at the most, both counted.
	Start, End string
	Appointment
}

func (q DateQuery) values() url.Values { return q.addTo(given("start", q.Start, "end", q.End)) }

// RentalQuery asks whether units of a rental are free.
type RentalQuery struct {
	RentalID string
	// StartDate and EndDate are the first and the last day, 730 at the most, both counted.
	StartDate, EndDate string
	// StartTime and EndTime are of rentals by the hour; both empty, it is whole days. 24:00 ends a day.
	StartTime, EndTime string
	// Quantity is how many units; 1 when it is 0.
	Quantity int
	// Language is that of ConflictReason.
	Language string
}

func (q RentalQuery) values() url.Values {
	values := given("rentalId", q.RentalID, "startDate", q.StartDate, "endDate", q.EndDate, "startTime", q.StartTime, "endTime", q.EndTime, "lang", q.Language)
	if q.Quantity != 0 {
		values.Set("quantity", strconv.Itoa(q.Quantity))
	}
	return values
}

// RentalDateQuery asks how many units each date has.
type RentalDateQuery struct {
	// Start is the first day, End the last; 62 days at the most, both counted.
	Start, End string
	// RentalIDs are 1 to 20 rentals.
	RentalIDs []string
}

func (q RentalDateQuery) values() url.Values {
	return given("start", q.Start, "end", q.End, "rental_id", strings.Join(q.RentalIDs, ","))
}

// given are the parameters that are not empty: names and values in turn.
func given(namesAndValues ...string) url.Values {
	values := url.Values{}
	for i := 0; i < len(namesAndValues); i += 2 {
		if namesAndValues[i+1] != "" {
			values.Set(namesAndValues[i], namesAndValues[i+1])
		}
	}
	return values
}

// Variants are which variant is booked of a service: id of the service to id of the variant.
type Variants map[string]string

// pairs are serviceId:variantId, sorted.
func (v Variants) pairs() []string {
	var all []string
	for _, service := range slices.Sorted(maps.Keys(v)) {
		all = append(all, service+":"+v[service])
	}
	return all
}
