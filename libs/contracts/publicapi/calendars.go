package publicapi

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// SlotList is the response of GET /slots. If Computed is false, the slots could not be computed.
type SlotList struct {
	Slots    []Slot `json:"slots"`
	Computed bool   `json:"computed"`
	Timezone string `json:"timezone"` // "" if the offer could not be read
}

// Slot is a start that customers can book. StaffID is nil if the service needs no staff member.
type Slot struct {
	Time       timespan.TimeOfDay `json:"time"`
	EndTime    timespan.TimeOfDay `json:"endTime"`
	StaffID    *uuid.UUID         `json:"staffId"`
	StaffName  *string            `json:"staffName"`
	Date       timespan.Date      `json:"date"`
	DateOffset int                `json:"dateOffset"`

	// RemainingCapacity and ClassScheduleID are set only for class sessions.
	RemainingCapacity *int       `json:"remainingCapacity,omitempty"`
	ClassScheduleID   *uuid.UUID `json:"classScheduleId,omitempty"`

	LocationID *uuid.UUID `json:"locationId,omitempty"` // set only if the request names a location
}

// AvailableDates is the response of GET /available-dates. Days holds the number
// of slots on each date. If Computed is false, the slots could not be computed.
type AvailableDates struct {
	Days     map[timespan.Date]int `json:"days"`
	Computed bool                  `json:"computed"`
	Timezone string                `json:"timezone"` // "" if the offer could not be read
}

// RentalAvailability is the response of GET /rental-availability.
type RentalAvailability struct {
	Available      bool       `json:"available"`
	ConflictReason string     `json:"conflictReason,omitempty"`
	MessageCode    message.ID `json:"messageCode,omitempty"`
}

// RentalDates is the response of GET /rental-available-dates. Days holds, for each date and the id
// of each rental, the number of free units. If Computed is false, the units could not be counted.
type RentalDates struct {
	Days     map[timespan.Date]map[uuid.UUID]int `json:"days"`
	Computed bool                                `json:"computed"`
	Timezone string                              `json:"timezone"` // "" if the offer could not be read
}
