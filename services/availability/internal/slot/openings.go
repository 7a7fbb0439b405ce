package slot

import (
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Openings holds the bookable starts that [Find] found. It is not safe for concurrent use.
type Openings struct {
	appointment     appointment
	clock           utcOffsets
	occupancy       occupancy
	candidates      []*catalog.Staff // candidates in Auto-Assign order; one nil element if no service needs staff
	runs            []run            // runs by candidate and date, or by date and candidate if isSortedByDate is true
	isSortedByDate  bool
	countsStartOnce bool          // each start counts once per date, even if several staff members can serve it
	alternatives    []alternative // the staff members who can serve the legs that the candidate does not serve

	location *catalog.Location // the location of the appointment; nil for a class and without locations
	// places holds the openings at each location, in the order of preference, if the
	// appointment is possible at several locations. The field `runs` is then their union.
	places []*Openings

	class    *catalog.Service // the requested class; nil for an appointment
	sessions []session        // bookable class sessions, in the order that [compareSessions] defines
}

// alternative is a staff member who can serve a leg that the candidate does
// not serve, with the starts at which this staff member can serve the leg.
type alternative struct {
	leg    int
	member *catalog.Staff
	starts []timespan.Span
}

// run is a sequence of starts at equal distances. All starts of a
// run belong to one candidate and to one working window of a date.
type run struct {
	date      timespan.Date
	candidate int32
	count     int32
	first     int64
}

// EachDay calls yield for each date `from`..`to`, both included, with the number of bookable starts on that date.
func (o *Openings) EachDay(from, to timespan.Date, yield func(timespan.Date, int)) {
	counts := make([]int, max(0, to-from+1))
	for _, r := range o.runs {
		if from <= r.date && r.date <= to {
			counts[r.date-from] += int(r.count)
		}
	}
	for i := range o.sessions {
		if d := o.sessions[i].date; from <= d && d <= to {
			counts[d-from]++
		}
	}
	for i := range counts {
		if o.countsStartOnce && counts[i] > 0 && len(o.sessions) == 0 {
			counts[i] = o.countDistinctStarts(from + timespan.Date(i))
		}
	}
	for i, n := range counts {
		yield(from+timespan.Date(i), n)
	}
}

// Slot is one bookable start. Date, Time and End are in the time zone of the business.
type Slot struct {
	Staff *catalog.Staff // the staff member; nil if no service needs staff
	Start int64          // the start, in seconds since the Unix epoch
	Date  timespan.Date  // the calendar date of the start
	// Remaining is the number of free seats of a class session. It is placed after Date to avoid padding, because
	// lists of slots are long.
	Remaining  int32
	Time, End  timespan.TimeOfDay
	DateOffset int // 1 if Date is the day after the date of the working window, otherwise 0

	Session *catalog.ClassSession // the class session; nil for an appointment
}

// AppendSlots appends the slots of the date d to slots, sorted by start and then in Auto-Assign order.
func (o *Openings) AppendSlots(slots []Slot, d timespan.Date) []Slot {
	if o.class != nil {
		return o.appendSessions(slots, d)
	}
	runs, unit := o.findRuns(d)
	if len(runs) == 0 {
		return slots
	}
	at, earliest := o.countStarts(runs, unit)
	slots = o.appendStarts(slots, d, at, earliest, unit)
	if o.countsStartOnce {
		for _, r := range slices.Backward(runs) { // in reverse order, so that the first candidate remains
			o.eachStart(r, earliest, unit, func(i int64) { slots[at[i]].Staff = o.candidates[r.candidate] })
		}
		return slots
	}
	for _, r := range runs { // by candidate, so that the slots of one start are in Auto-Assign order
		o.eachStart(r, earliest, unit, func(i int64) {
			slots[at[i]].Staff = o.candidates[r.candidate]
			at[i]++
		})
	}
	return slots
}

// countDistinctStarts returns the number of different starts on the date d.
func (o *Openings) countDistinctStarts(d timespan.Date) int {
	runs, unit := o.findRuns(d)
	if len(runs) == 0 {
		return 0
	}
	at, _ := o.countStarts(runs, unit)
	total := 0
	for _, n := range at {
		total += int(n)
	}
	return total
}

// countStarts returns the number of slots at each start, and the earliest start. Element i
// of the result is for the start that is i·`unit` seconds after the earliest start. All
// starts lie at such multiples. Therefore the slots can be listed in order without sorting.
func (o *Openings) countStarts(runs []run, unit int64) ([]int32, int64) {
	earliest, latest := runs[0].first, runs[0].first
	for _, r := range runs {
		earliest, latest = min(earliest, r.first), max(latest, r.first+int64(r.count-1)*o.appointment.step)
	}
	at := make([]int32, (latest-earliest)/unit+1)
	for _, r := range runs {
		o.eachStart(r, earliest, unit, func(i int64) {
			if at[i]++; o.countsStartOnce {
				at[i] = 1
			}
		})
	}
	return at, earliest
}

// findRuns returns the runs of the date d, sorted by candidate. findRuns also returns
// the largest number of seconds that divides all distances between starts of these runs.
func (o *Openings) findRuns(d timespan.Date) ([]run, int64) {
	o.sortByDate()
	from, _ := slices.BinarySearchFunc(o.runs, d, func(r run, d timespan.Date) int { return int(r.date - d) })
	to := from
	unit := o.appointment.step
	for to < len(o.runs) && o.runs[to].date == d {
		if apart := o.runs[to].first - o.runs[from].first; apart%unit != 0 {
			unit = gcd(unit, apart)
		}
		to++
	}
	return o.runs[from:to], unit
}

// sortByDate sorts the runs by date and, within a date, by candidate. [Find] returns the runs sorted by candidate.
//
// [Openings.EachDay] needs no order and does not call sortByDate. sortByDate uses a counting
// sort, because a general sort would take a large part of the time for answering a question.
func (o *Openings) sortByDate() {
	if o.isSortedByDate || len(o.runs) == 0 {
		return
	}
	o.isSortedByDate = true
	from, to := o.runs[0].date, o.runs[0].date
	for i := range o.runs {
		from, to = min(from, o.runs[i].date), max(to, o.runs[i].date)
	}
	if from == to {
		return
	}
	at := make([]int, to-from+2)
	for i := range o.runs {
		at[o.runs[i].date-from+1]++
	}
	for i := 1; i < len(at); i++ {
		at[i] += at[i-1]
	}
	sorted := make([]run, len(o.runs))
	for i := range o.runs {
		place := &at[o.runs[i].date-from]
		sorted[*place] = o.runs[i]
		*place++
	}
	o.runs = sorted
}

// eachStart calls `visit` for each start of the run r. The number passed to `visit`
// is the distance from the instant `earliest` to the start, in multiples of `unit`.
func (o *Openings) eachStart(r run, earliest, unit int64, visit func(int64)) {
	at := (r.first - earliest) / unit
	for range r.count {
		visit(at)
		at += o.appointment.step / unit
	}
}

// appendStarts appends the slots of the date d, without their staff members. Element
// i of the argument `at` is the number of slots at the start `earliest` + i·`unit`.
// appendStarts replaces this number by the index of the first of these slots.
func (o *Openings) appendStarts(slots []Slot, d timespan.Date, at []int32, earliest, unit int64) []Slot {
	total := 0
	for _, n := range at {
		total += int(n)
	}
	slots = slices.Grow(slots, total)
	for i, n := range at {
		at[i] = int32(len(slots))
		if n == 0 {
			continue
		}
		start := earliest + int64(i)*unit
		date, from := o.clock.toLocal(start)
		_, end := o.clock.toLocal(start + o.appointment.duration)
		for range n {
			slots = append(slots, Slot{Start: start, Date: date, Time: from, End: end, DateOffset: int(date - d)})
		}
	}
	return slots
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
