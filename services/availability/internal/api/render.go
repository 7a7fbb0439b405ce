package api

import (
	"encoding/json"
	"strconv"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// Lists of slots are long and regular: their JSON is appended field by field, without reflection.

// renderSlots is the body of /slots for a date.
func (a answer) renderSlots(d timespan.Date) []byte {
	var slots []slot.Slot
	if a.computed {
		slots = a.openings.On(d)
	}
	const typical = 160 // bytes of a slot
	b := append(make([]byte, 0, len(slots)*typical+128), `{"slots":[`...)
	dates := [2]string{d.String(), (d + 1).String()}
	staff := make(map[*catalog.Staff]string)
	for i, s := range slots {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendTime(append(b, `{"time":"`...), s.Time), `","endTime":"`...)
		b = append(appendTime(b, s.End), '"')
		b = append(b, staffFields(staff, s.Staff)...)
		b = append(append(b, `,"date":"`...), dates[s.DateOffset]...)
		b = strconv.AppendInt(append(b, `","dateOffset":`...), int64(s.DateOffset), 10)
		if s.Session != nil {
			b = strconv.AppendInt(append(b, `,"remainingCapacity":`...), int64(s.Remaining), 10)
			b = append(append(append(b, `,"classScheduleId":"`...), s.Session.ID.String()...), '"')
		}
		b = append(b, '}')
	}
	return a.appendEnd(append(b, ']'))
}

// staffFields is the part of a slot that names its member, rendered once for each.
func staffFields(known map[*catalog.Staff]string, s *catalog.Staff) string {
	if s == nil {
		return `,"staffId":null,"staffName":null`
	}
	fields, ok := known[s]
	if !ok {
		name, err := json.Marshal(s.Name)
		if err != nil {
			name = []byte(`""`) // never: every string has a JSON form
		}
		fields = `,"staffId":"` + s.ID.String() + `","staffName":` + string(name)
		known[s] = fields
	}
	return fields
}

// renderDays is the body of /available-dates: one number for each date from today to the advance limit.
func (a answer) renderDays(q query) []byte {
	b := []byte(`{"days":{`)
	if a.computed {
		today := a.offer.Today(a.question.Now)
		from, to := max(q.From, today), min(q.To, today+timespan.Date(a.offer.Bookings.AdvanceDays))
		a.openings.Days(from, to, func(d timespan.Date, n int) {
			if d > from {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), d.String()...), `":`...)
			b = strconv.AppendInt(b, int64(n), 10)
		})
	}
	return a.appendEnd(append(b, '}'))
}

// appendEnd appends what both calendars end with.
func (a answer) appendEnd(b []byte) []byte {
	b = strconv.AppendBool(append(b, `,"computed":`...), a.computed)
	b = append(append(b, `,"timezone":"`...), a.timezone...) // a zone's name needs no escapes: it was loaded
	return append(b, `"}`...)
}

func appendTime(b []byte, t timespan.TimeOfDay) []byte {
	h, m := byte(t/60), byte(t%60)
	return append(b, '0'+h/10, '0'+h%10, ':', '0'+m/10, '0'+m%10)
}
