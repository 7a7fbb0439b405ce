package mcp

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// listedSlots is the public answer of /slots. A text is empty where it is null or left out.
type listedSlots struct {
	Slots    []listedSlot `json:"slots"`
	Computed bool         `json:"computed"`
	Timezone string       `json:"timezone"`
}

type listedSlot struct {
	Date       timespan.Date      `json:"date"`
	DateOffset int32              `json:"dateOffset"`
	Time       timespan.TimeOfDay `json:"time"`
	EndTime    timespan.TimeOfDay `json:"endTime"`
	StaffID    *uuid.UUID         `json:"staffId"`
	StaffName  string             `json:"staffName"`

	// For class sessions only.
	RemainingCapacity int32      `json:"remainingCapacity"`
	ClassScheduleID   *uuid.UUID `json:"classScheduleId"`
}

// columns puts the slots of one date into columns.
func (l *listedSlots) columns() *availability.Slots {
	s := &availability.Slots{Computed: l.Computed, Timezone: l.Timezone}
	members := make(map[uuid.UUID]int32)
	for _, of := range l.Slots {
		s.Date = of.Date - timespan.Date(of.DateOffset)
		s.Starts = append(s.Starts, int32(of.Time)+timespan.MinutesPerDay*of.DateOffset)
		s.Ends = append(s.Ends, int32(of.EndTime))
		member := int32(-1)
		if of.StaffID != nil {
			var known bool
			if member, known = members[*of.StaffID]; !known {
				member = int32(len(s.Staff))
				members[*of.StaffID] = member
				s.Staff = append(s.Staff, availability.Member{ID: *of.StaffID, Name: of.StaffName})
			}
		}
		s.Members = append(s.Members, member)
		if of.ClassScheduleID != nil {
			s.SessionOf, s.Remaining = append(s.SessionOf, int32(len(s.Sessions))), append(s.Remaining, of.RemainingCapacity)
			s.Sessions = append(s.Sessions, *of.ClassScheduleID)
		}
	}
	return s
}
