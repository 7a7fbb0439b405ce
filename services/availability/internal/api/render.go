package api

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// Lists of slots are long, and their entries have equal parts. The JSON of a list is appended piece
// by piece to pooled memory, without reflection. A part that several slots share is rendered once.
//
// The benchmark in `make bench` fails if /slots takes more than twice the CPU time of a minimal
// program for the same response. Without these measures, /slots would exceed this limit.

// list is the reusable memory for rendering the slots of one response.
type list struct {
	slots   []slot.Slot
	members []renderedMember
	index   map[*catalog.Staff]int // index of each staff member in members
	last    int                    // index in members of the staff member that was looked up last
	names   []byte                 // the rendered JSON fields of all members
}

// renderedMember is a staff member with the position of the member's JSON
// fields in list.names. Staff is nil for slots without a staff member.
type renderedMember struct {
	*catalog.Staff
	byteRange
}

// byteRange is a range of bytes in a buffer: from the index `from` up to, but not including, the index `to`.
type byteRange struct{ from, to int }

var lists = sync.Pool{New: func() any { return newList() }}

func newList() *list { return &list{index: make(map[*catalog.Staff]int)} }

// maxKeptSlots is the capacity of the largest list that the pool keeps.
const maxKeptSlots = 8192

// free returns the memory to the pool, without the references to the
// offer. It reports whether the memory was small enough to keep.
func (l *list) free() bool {
	if cap(l.slots) > maxKeptSlots || cap(l.names) > maxKeptBody {
		return false
	}
	clear(l.slots)
	clear(l.members)
	clear(l.index)
	l.slots, l.members, l.names = l.slots[:0], l.members[:0], l.names[:0]
	lists.Put(l)
	return true
}

// appendSlots appends the body of the response of /slots for the date d.
func (a answer) appendSlots(b []byte, d timespan.Date) []byte {
	l := lists.Get().(*list)
	defer l.free()
	if a.isComputed {
		l.slots = a.openings.AppendSlots(l.slots, d)
	}
	b = append(b, `{"slots":[`...)
	b = l.append(b, a.question.LocationID)
	return a.appendEnd(append(b, ']'))
}

// append appends the slots as JSON to b. The fields before the staff member are rendered once for all
// slots with the same start. The fields after the staff member are rendered once for all slots of a date.
// The argument `location` is the location that the request names, or nil.
func (l *list) append(b []byte, location *uuid.UUID) []byte {
	var head, tail byteRange
	for i := range l.slots {
		s, before := &l.slots[i], &l.slots[max(0, i-1)]
		if i > 0 {
			b = append(b, ',')
		}
		from := len(b)
		if i > 0 && s.Session == nil && s.Start == before.Start {
			b = append(b, b[head.from:head.to]...)
		} else {
			b = appendHead(b, s)
		}
		head = byteRange{from, len(b)}
		b = append(b, l.renderMember(s.Staff)...)
		from = len(b)
		if i > 0 && s.Session == nil && s.Date == before.Date {
			b = append(b, b[tail.from:tail.to]...)
		} else {
			b = appendTail(b, s, location)
		}
		tail = byteRange{from, len(b)}
	}
	return b
}

// appendHead appends the JSON fields of a slot that come before the fields of its staff member.
func appendHead(b []byte, s *slot.Slot) []byte {
	b = appendTime(append(b, `{"time":"`...), s.Time)
	b = appendTime(append(b, `","endTime":"`...), s.End)
	return append(b, '"')
}

// appendTail appends the JSON fields of a slot that come after the fields of its staff member.
func appendTail(b []byte, s *slot.Slot, location *uuid.UUID) []byte {
	b = appendDate(append(b, `,"date":"`...), s.Date)
	b = strconv.AppendInt(append(b, `","dateOffset":`...), int64(s.DateOffset), 10)
	if s.Session != nil {
		b = strconv.AppendInt(append(b, `,"remainingCapacity":`...), int64(s.Remaining), 10)
		b = append(appendUUID(append(b, `,"classScheduleId":"`...), s.Session.ID), '"')
	}
	if location != nil {
		b = append(appendUUID(append(b, `,"locationId":"`...), *location), '"')
	}
	return append(b, '}')
}

// renderMember returns the JSON fields of a staff member. Each staff member is rendered once per list. The
// slots of each start usually list the staff members in the same order. Therefore renderMember first tries
// the staff member after the one that it returned last.
func (l *list) renderMember(s *catalog.Staff) []byte {
	if next := l.last + 1; next < len(l.members) && l.members[next].Staff == s {
		l.last = next
	} else {
		l.last = l.findMember(s)
	}
	m := &l.members[l.last]
	return l.names[m.from:m.to]
}

func (l *list) findMember(s *catalog.Staff) int {
	if at, known := l.index[s]; known {
		return at
	}
	from := len(l.names)
	if s == nil {
		l.names = append(l.names, `,"staffId":null,"staffName":null`...)
	} else {
		l.names = appendUUID(append(l.names, `,"staffId":"`...), s.ID)
		l.names = appendText(append(l.names, `","staffName":`...), s.Name)
	}
	l.index[s] = len(l.members)
	l.members = append(l.members, renderedMember{s, byteRange{from, len(l.names)}})
	return l.index[s]
}

// appendDays appends the body of the response of /available-dates. The body has
// the number of starts for each requested date from today to the advance limit.
func (a answer) appendDays(b []byte, q query) []byte {
	b = append(b, `{"days":{`...)
	if a.isComputed {
		today := a.offer.Today(a.question.Now)
		from, to := max(q.From, today), min(q.To, today+timespan.Date(a.offer.Bookings.AdvanceDays))
		a.openings.EachDay(from, to, func(d timespan.Date, n int) {
			if d > from {
				b = append(b, ',')
			}
			b = append(appendDate(append(b, '"'), d), `":`...)
			b = strconv.AppendInt(b, int64(n), 10)
		})
	}
	return a.appendEnd(append(b, '}'))
}

// appendEnd appends the fields at the end of both calendars: computed and timezone.
func (a answer) appendEnd(b []byte) []byte {
	b = strconv.AppendBool(append(b, `,"computed":`...), a.isComputed)
	b = append(append(b, `,"timezone":"`...), a.timezone...) // the name of a valid time zone needs no escapes
	return append(b, `"}`...)
}

func appendTime(b []byte, t timespan.TimeOfDay) []byte {
	h, m := byte(t/60), byte(t%60)
	return append(b, '0'+h/10, '0'+h%10, ':', '0'+m/10, '0'+m%10)
}

func appendDate(b []byte, d timespan.Date) []byte {
	const daySeconds = 24 * 60 * 60
	return time.Unix(int64(d)*daySeconds, 0).UTC().AppendFormat(b, time.DateOnly)
}

func appendUUID(b []byte, id uuid.UUID) []byte {
	b = append(hex.AppendEncode(b, id[:4]), '-')
	b = append(hex.AppendEncode(b, id[4:6]), '-')
	b = append(hex.AppendEncode(b, id[6:8]), '-')
	b = append(hex.AppendEncode(b, id[8:10]), '-')
	return hex.AppendEncode(b, id[10:])
}

// appendText appends s as a JSON string, with the same result as
// encoding/json. appendText calls encoding/json only if s needs escapes.
func appendText(b []byte, s string) []byte {
	if needsNoEscapes(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	text, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...) // unreachable: every string has a JSON form
	}
	return append(b, text...)
}

// needsNoEscapes reports whether encoding/json would write the string s without escapes.
func needsNoEscapes(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
