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
	name   string
	fields []byte // of a slot, as JSON
	words  []byte // of a line
	size   int    // of words, in JSON
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
	const usual = 200 // bytes of a member
	b := make([]byte, 0, usual*len(slots.Staff))
	for i := range slots.Staff {
		m, of := &slots.Staff[i], &l.members[i]
		id := m.ID.String()
		of.name = clip(m.Name, maxName)
		from := len(b)
		b = append(append(b, `","staff_id":"`...), id...)
		b = json.AppendEscape(append(b, `","staff_name":`...), of.name, json.EscapeHTML)
		of.fields, from = b[from:], len(b)
		b = append(append(b, " with "...), of.name...)
		b = append(append(append(b, " (staff_id "...), id...), ')')
		of.words = b[from:]
		of.size = len(of.words) - len(of.name) + written(of.name)
	}
	return l
}

// at is a slot by itself.
func (l *listing) at(i int) slot {
	s := slot{Date: l.date(i), Time: l.time(i).String(), EndTime: timespan.TimeOfDay(l.Ends[i]).String()}
	if m := l.Members[i]; m >= 0 {
		id := l.Staff[m].ID.String()
		s.StaffID, s.StaffName = &id, &l.members[m].name
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

// starts is the short text: head, and a line for each slot from offset on, until no more fit.
func (l *listing) starts(head string, offset int) string {
	b := append(make([]byte, 0, maxText), head...)
	size := written(head)
	for i := offset; i < len(l.Starts); i++ {
		room := maxText - restSize
		if i == len(l.Starts)-1 {
			room = maxText
		}
		if size += l.sizeOfLine(i); size > room {
			return string(append(b, rest...))
		}
		b = l.appendLine(b, i)
	}
	return string(b)
}

// sizeOfLine is how many bytes a line takes in JSON.
func (l *listing) sizeOfLine(i int) int {
	size := len(`\n2027-03-01 09:00–09:30`)
	if m := l.Members[i]; m >= 0 {
		size += l.members[m].size
	}
	if len(l.SessionOf) > 0 {
		size += len(", 2147483647 places left") // at most
	}
	return size
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
