package tools

import (
	"context"
	"net/url"
	"strconv"

	"github.com/segmentio/encoding/json"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// listing are the slots of a date as they are shown. Lists of them are long and regular: their JSON and their lines are
// appended field by field, from parts that are spelled out once.
type listing struct {
	*availability.Slots
	dates   [2]string // of the date, and of the one after it
	members []shownMember
}

// shownMember is somebody whom slots name.
type shownMember struct {
	id, name string
	fields   string // of a slot, as JSON
	words    string // of a line
}

// nobody is named by a slot of a service that needs nobody.
const nobody = `","staff_id":null,"staff_name":null`

func (b *Toolbox) readSlots(ctx context.Context, slug string, query url.Values) (*listing, error) {
	slots, err := b.Availability.Slots(ctx, slug, query)
	if err != nil {
		return nil, err
	}
	return show(slots), nil
}

func show(slots *availability.Slots) *listing {
	l := &listing{Slots: slots, dates: [2]string{slots.Date.String(), (slots.Date + 1).String()}, members: make([]shownMember, len(slots.Staff))}
	for i, m := range slots.Staff {
		id, name := m.ID.String(), clip(m.Name, maxName)
		fields := json.AppendEscape([]byte(`","staff_id":"`+id+`","staff_name":`), name, json.EscapeHTML)
		l.members[i] = shownMember{id: id, name: name, fields: string(fields), words: " with " + name + " (staff_id " + id + ")"}
	}
	return l
}

// at is a slot by itself.
func (l *listing) at(i int) slot {
	s := slot{Date: l.date(i), Time: l.time(i).String(), EndTime: timespan.TimeOfDay(l.Ends[i]).String()}
	if m := l.Members[i]; m >= 0 {
		s.StaffID, s.StaffName = &l.members[m].id, &l.members[m].name
	}
	if len(l.SessionOf) > 0 {
		remaining, session := int(l.Remaining[i]), l.Sessions[l.SessionOf[i]].String()
		s.RemainingCapacity, s.ClassScheduleID = &remaining, &session
	}
	return s
}

func (l *listing) date(i int) string { return l.dates[l.Starts[i]/timespan.MinutesPerDay] }

func (l *listing) time(i int) timespan.TimeOfDay {
	return timespan.TimeOfDay(l.Starts[i] % timespan.MinutesPerDay)
}

// calendar is the JSON of a calendar with as many slots from offset on as fit; next is where the rest begins, nil at the
// end.
func (l *listing) calendar(offset int) (json.RawMessage, *int) {
	const frame = 500 // bytes around the list, and of a slot that does not fit
	b := make([]byte, 0, maxListBytes+frame)
	b = json.AppendEscape(append(b, `{"timezone":`...), l.Timezone, json.EscapeHTML)
	b = strconv.AppendBool(append(b, `,"computed":`...), l.Computed)
	b, end := l.appendPage(append(b, `,"slots":[`...), offset)
	b = strconv.AppendInt(append(b, `],"days":[],"total":`...), int64(len(l.Starts)), 10)
	b = append(b, `,"next_offset":`...)
	if end == len(l.Starts) {
		return append(b, `null}`...), nil
	}
	return append(strconv.AppendInt(b, int64(end), 10), '}'), &end
}

// appendPage appends slots from offset on, and says which is the first that is not among them.
func (l *listing) appendPage(b []byte, offset int) ([]byte, int) {
	begin := len(b)
	for i := min(offset, len(l.Starts)); i < len(l.Starts); i++ {
		before := len(b)
		if before > begin {
			b = append(b, ',')
		}
		if b = l.appendSlot(b, i); len(b)-begin > maxListBytes && before > begin {
			return b[:before], i
		}
	}
	return b, len(l.Starts)
}

// appendSlot appends the JSON of a [slot].
func (l *listing) appendSlot(b []byte, i int) []byte {
	b = append(append(append(b, `{"date":"`...), l.date(i)...), `","time":"`...)
	b = appendTime(append(appendTime(b, l.time(i)), `","end_time":"`...), timespan.TimeOfDay(l.Ends[i]))
	if m := l.Members[i]; m >= 0 {
		b = append(b, l.members[m].fields...)
	} else {
		b = append(b, nobody...)
	}
	if len(l.SessionOf) > 0 {
		b = strconv.AppendInt(append(b, `,"remaining_capacity":`...), int64(l.Remaining[i]), 10)
		b = append(append(append(b, `,"class_schedule_id":"`...), l.Sessions[l.SessionOf[i]].String()...), '"')
	}
	return append(b, '}')
}

// starts is the short text: head, and a line for each slot from offset on, until no more can be shown.
func (l *listing) starts(head string, offset int) string {
	b := append(make([]byte, 0, maxText+maxText/4), head...)
	for i := offset; i < len(l.Starts) && len(b) <= maxText; i++ {
		b = l.appendLine(b, i)
	}
	return string(b)
}

func (l *listing) appendLine(b []byte, i int) []byte {
	b = append(append(append(b, '\n'), l.date(i)...), ' ')
	b = appendTime(append(appendTime(b, l.time(i)), "–"...), timespan.TimeOfDay(l.Ends[i]))
	if m := l.Members[i]; m >= 0 {
		b = append(b, l.members[m].words...)
	}
	if len(l.SessionOf) > 0 {
		b = append(strconv.AppendInt(append(b, ", "...), int64(l.Remaining[i]), 10), " places left"...)
	}
	return b
}

func appendTime(b []byte, t timespan.TimeOfDay) []byte {
	h, m := byte(t/60), byte(t%60)
	return append(b, '0'+h/10, '0'+h%10, ':', '0'+m/10, '0'+m%10)
}
