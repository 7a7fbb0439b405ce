package tools

import (
	"fmt"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// withWeekday returns a date after its short English weekday, such as "Tue 2026-12-01", because models
// often compute weekdays wrongly. If the argument is not a date, withWeekday returns it unchanged.
func withWeekday(date string) string {
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return d.Format("Mon ") + date
}

// maxTimes is the maximum size of the times in a text, in bytes. It leaves room for the end of the text.
const maxTimes = maxText - 400

// freeMember is a staff member with free starts on a date. The field `staffID` is empty if the service needs no staff.
type freeMember struct {
	staffID, name string
	date          timespan.Date
	times         []string
}

// timesText is a text about free starts, in three parts: its first
// sentences, the next tool to call, and the list of the starts.
type timesText struct{ head, next, times string }

// newTimesText describes the free starts of a date, beginning with the element of `slots` at the
// index `offset`. The starts are grouped by staff member. Each class session has its own line.
func newTimesText(slots []slot, offset int, date timespan.Date) timesText {
	slots = slots[min(offset, len(slots)):]
	withEnds := commonLength(slots)
	count, sessions, members := groupByMember(slots, date, withEnds == 0)
	text := timesText{head: "."}
	if withEnds > 0 {
		text.head = fmt.Sprintf(", of %d min each.", withEnds)
	}
	if count < len(slots) {
		text.head += fmt.Sprintf(" From %s on there are more: call again with offset %d.", slots[count].Time,
			offset+count)
	}
	if len(slots) > 0 {
		text.next = " Next: book_appointment with date, time" + describeNeededArgument(slots[0]) + "."
	}
	text.times = sessions
	for _, m := range members {
		text.times += m.head(date) + strings.Join(m.times, ", ")
	}
	return text
}

// groupByMember formats as many of the starts as fit into the text. It returns the number of these starts, the lines
// of the class sessions, and the times of each staff member. If `withEnds` is true, each time also has its end.
func groupByMember(slots []slot, date timespan.Date, withEnds bool) (int, string, []*freeMember) {
	count, sessions, members := 0, "", []*freeMember{}
	for size := 0; count < len(slots) && size < maxTimes; count++ {
		s := slots[count]
		if s.ClassScheduleID != nil {
			sessions += s.line()
			size = len(sessions)
			continue
		}
		of, seen := memberOf(&members, s)
		if seen {
			size += len(of.head(date))
		}
		start := s.Time.String()
		if withEnds {
			start += "–" + s.EndTime.String()
		}
		of.times = append(of.times, start)
		size += len(start) + len(", ")
	}
	return count, sessions, members
}

// describeNeededArgument returns " and " with the name of the argument that book_appointment needs for
// this slot in addition to date and time. It returns "" if there is no such argument.
func describeNeededArgument(s slot) string {
	switch {
	case s.ClassScheduleID != nil:
		return " and class_schedule_id"
	case s.StaffID != nil:
		return " and staff_id"
	}
	return ""
}

// memberOf returns the entry for the staff member and the date of a slot. If there
// is no such entry, memberOf adds one. It also reports whether the entry is new.
func memberOf(members *[]*freeMember, s slot) (*freeMember, bool) {
	m := freeMember{date: s.Date}
	if s.StaffID != nil && s.StaffName != nil {
		m.staffID, m.name = s.StaffID.String(), *s.StaffName
	}
	for _, known := range *members {
		if known.staffID == m.staffID && known.date == m.date {
			return known, false
		}
	}
	*members = append(*members, &m)
	return &m, true
}

// head returns the beginning of the line of a staff member. If the starts
// are after midnight, head adds the date with which they must be booked.
func (m *freeMember) head(date timespan.Date) string {
	text := "\n"
	if m.staffID != "" {
		text += m.name + " (staff_id " + m.staffID + ") "
	}
	if m.date != date {
		text += "after midnight, with date " + withWeekday(m.date.String()) + ", "
	}
	return text + "at "
}

// commonLength returns the duration of the slots in minutes if all slots have the same duration.
// It returns 0 if durations differ, if a slot is a class session, or if there are no slots.
func commonLength(slots []slot) int {
	each := 0
	for i, s := range slots {
		if i > 0 && s.ClassScheduleID == nil && s.Time == slots[i-1].Time && s.EndTime == slots[i-1].EndTime {
			continue // skipped for speed: a list can have 10,000s of slots, mostly several at one start
		}
		length := int(s.EndTime - s.Time)
		if length <= 0 {
			length += int(timespan.MinutesPerDay)
		}
		if s.ClassScheduleID != nil || i > 0 && length != each {
			return 0
		}
		each = length
	}
	return each
}

// line returns a slot as a line of text. It is used for class sessions, and for the other starts in a refusal.
func (s slot) line() string {
	text := "\n" + withWeekday(s.Date.String()) + " " + s.Time.String() + "–" + s.EndTime.String()
	if s.StaffName != nil && s.StaffID != nil {
		text += " with " + *s.StaffName + " (staff_id " + s.StaffID.String() + ")"
	}
	if s.RemainingCapacity != nil {
		text += fmt.Sprintf(", %d places left", *s.RemainingCapacity)
	}
	if s.ClassScheduleID != nil {
		text += ", class_schedule_id " + s.ClassScheduleID.String()
	}
	return text
}
