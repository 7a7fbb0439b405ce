package tools

import (
	"fmt"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// withWeekday returns a date with the short English name of its weekday before it: "Tue 2026-12-01".
// Models count weekdays wrong. A text that is not a date is returned as it is.
func withWeekday(date string) string {
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return d.Format("Mon ") + date
}

// maxTimes bounds the bytes of the times in a text, so that what ends it still fits.
const maxTimes = maxText - 400

// freeMember is who is free at some starts of a date; staffID is empty where nobody is needed.
type freeMember struct {
	staffID, name, date string
	times               []string
}

// timesText is a text of free starts: what holds for all, the tool to call next, and the starts.
type timesText struct{ head, next, times string }

// timesOf says which starts of a date there are, from offset on, by staff member; class sessions have a line each.
func timesOf(slots []slot, offset int, date string) timesText {
	slots = slots[min(offset, len(slots)):]
	each := sameLength(slots)
	said, sessions, members := grouped(slots, date, each == 0)
	text := timesText{head: "."}
	if each > 0 {
		text.head = fmt.Sprintf(", of %d min each.", each)
	}
	if said < len(slots) {
		text.head += fmt.Sprintf(" From %s on there are more: call again with offset %d.", slots[said].Time, offset+said)
	}
	if len(slots) > 0 {
		text.next = " Next: book_appointment with date, time" + needed(slots[0]) + "."
	}
	text.times = sessions
	for _, m := range members {
		text.times += m.head(date) + strings.Join(m.times, ", ")
	}
	return text
}

// grouped gives as many starts as fit: how many, the lines of class sessions, and for each member the times.
func grouped(slots []slot, date string, withEnds bool) (int, string, []*freeMember) {
	said, sessions, members := 0, "", []*freeMember{}
	for size := 0; said < len(slots) && size < maxTimes; said++ {
		s := slots[said]
		if s.ClassScheduleID != nil {
			sessions += s.line()
			size = len(sessions)
			continue
		}
		of, begun := memberOf(&members, s)
		if begun {
			size += len(of.head(date))
		}
		start := s.Time
		if withEnds {
			start += "–" + s.EndTime
		}
		of.times = append(of.times, start)
		size += len(start) + len(", ")
	}
	return said, sessions, members
}

// needed names what else of a slot books it.
func needed(s slot) string {
	switch {
	case s.ClassScheduleID != nil:
		return " and class_schedule_id"
	case s.StaffID != nil:
		return " and staff_id"
	}
	return ""
}

// memberOf finds who is free at a slot, and says whether it is a new one.
func memberOf(members *[]*freeMember, s slot) (*freeMember, bool) {
	m := freeMember{date: s.Date}
	if s.StaffID != nil && s.StaffName != nil {
		m.staffID, m.name = *s.StaffID, *s.StaffName
	}
	for _, known := range *members {
		if known.staffID == m.staffID && known.date == m.date {
			return known, false
		}
	}
	*members = append(*members, &m)
	return &m, true
}

// head begins the line of a member. Starts after midnight name the date under which they are booked.
func (m *freeMember) head(date string) string {
	text := "\n"
	if m.staffID != "" {
		text += m.name + " (staff_id " + m.staffID + ") "
	}
	if m.date != date {
		text += "after midnight, with date " + withWeekday(m.date) + ", "
	}
	return text + "at "
}

// sameLength is how many minutes each of the slots takes; 0 where they differ, or there are none.
func sameLength(slots []slot) int {
	each := 0
	for i, s := range slots {
		if i > 0 && s.ClassScheduleID == nil && s.Time == slots[i-1].Time && s.EndTime == slots[i-1].EndTime {
			continue // several members are free at most starts, in lists of tens of thousands
		}
		from, errFrom := timespan.ParseTimeOfDay(s.Time)
		to, errTo := timespan.ParseTimeOfDay(s.EndTime)
		length := int(to - from)
		if length <= 0 {
			length += int(timespan.MinutesPerDay)
		}
		if errFrom != nil || errTo != nil || s.ClassScheduleID != nil || i > 0 && length != each {
			return 0
		}
		each = length
	}
	return each
}

// line is the slot by itself: a class session, or another start that a refusal names.
func (s slot) line() string {
	text := "\n" + withWeekday(s.Date) + " " + s.Time + "–" + s.EndTime
	if s.StaffName != nil && s.StaffID != nil {
		text += " with " + *s.StaffName + " (staff_id " + *s.StaffID + ")"
	}
	if s.RemainingCapacity != nil {
		text += fmt.Sprintf(", %d places left", *s.RemainingCapacity)
	}
	if s.ClassScheduleID != nil {
		text += ", class_schedule_id " + *s.ClassScheduleID
	}
	return text
}
