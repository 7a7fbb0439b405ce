package publicapi

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// SlotList is the answer of /slots. If Computed is false, the slots could not be computed.
type SlotList struct {
	Slots    []Slot `json:"slots"`
	Computed bool   `json:"computed"`
	Timezone string `json:"timezone"` // "" if the offer could not be read
}

// Slot is a start that can be booked. StaffID is nil for a service without staff.
type Slot struct {
	Time       timespan.TimeOfDay `json:"time"`
	EndTime    timespan.TimeOfDay `json:"endTime"`
	StaffID    *uuid.UUID         `json:"staffId"`
	StaffName  *string            `json:"staffName"`
	Date       timespan.Date      `json:"date"`
	DateOffset int                `json:"dateOffset"`

	// For class sessions only.
	RemainingCapacity *int       `json:"remainingCapacity,omitempty"`
	ClassScheduleID   *uuid.UUID `json:"classScheduleId,omitempty"`
}

// AvailableDates is the answer of /available-dates: the number of slots by date. If
// Computed is false, the slots could not be computed.
type AvailableDates struct {
	Days     map[timespan.Date]int `json:"days"`
	Computed bool                  `json:"computed"`
	Timezone string                `json:"timezone"` // "" if the offer could not be read
}

// RentalAvailability is the answer of /rental-availability.
type RentalAvailability struct {
	Available      bool       `json:"available"`
	ConflictReason string     `json:"conflictReason,omitempty"`
	MessageCode    message.ID `json:"messageCode,omitempty"`
}

// RentalDates is the answer of /rental-available-dates: the number of free units by date
// and id of the rental. If Computed is false, the units could not be counted.
type RentalDates struct {
	Days     map[timespan.Date]map[uuid.UUID]int `json:"days"`
	Computed bool                                `json:"computed"`
	Timezone string                              `json:"timezone"` // "" if the offer could not be read
}
