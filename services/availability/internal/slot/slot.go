// Package slot is the slot engine: from what a business offers and what is already taken, it computes at which starts
// an appointment can be booked, and by whom (semantics.md §1–§3). It is pure: values in, values out.
//
// One function, [Find], answers for /slots, /available-dates and POST /book alike, so that what is listed can be booked
// and nothing else can. It plans the question, which says what occupied time matters ([Plan.Reach]), and takes that
// time away ([Plan.Find]).
//
// The engine works on instants in whole seconds, in sorted spans. For each candidate (a staff member, or nobody where
// no service needs one) it computes the set of admissible starts by intersecting and subtracting whole span sets:
// a service that must lie in working time shrinks that time, a busy span that must not be touched grows. What is left
// of each working window is a run of starts at equal distance, found by division: a run is counted without visiting
// its starts. The zone's offsets are looked up once per question.
//
// An appointment is a sequence of legs, each served by one provider: one member for all that staff perform, or, in a
// package by service, any member for each. A variant is its service with another length. A class is asked for alone: its
// sessions are starts of their own, and occupy their members for everything else.
package slot

import (
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// The instants of all questions lie within these; sums with durations do not overflow.
const (
	minInstant = math.MinInt64 / 4
	maxInstant = math.MaxInt64 / 4
)

// Question asks for the bookable starts of one appointment.
type Question struct {
	Services []*catalog.Service // at least one, active, in the order they are performed, as their variants; a class alone
	StaffID  *uuid.UUID         // only this member, in a package by service for its first service; nil: whoever can
	From, To timespan.Date      // the dates whose windows are asked for, both included
	Now      time.Time

	Package    bool       // each start once, by the first member in Auto-Assign order
	PerService bool       // a package whose services have members of their own
	SessionID  *uuid.UUID // only this class session; nil: any

	// Override asks as the owner does: on any minute of the working time instead of the grid's starts, without notice and advance
	// limit, from the beginning of the business's today on. What is taken or blocked, and who works when, holds as ever.
	Override bool
}

// byService reports whether each service may have a member of its own.
func (q Question) byService() bool { return q.Package && q.PerService }

// clamp narrows the dates to those that can hold a bookable start: not beyond the advance limit, and not before
// yesterday, whose overnight windows may reach into today. The result is false when none is left.
func (q Question) clamp(offer *catalog.Offer) (timespan.Date, timespan.Date, bool) {
	today := offer.Today(q.Now)
	from, to := max(q.From, today-1), q.To
	if !q.Override {
		to = min(to, today+timespan.Date(offer.Bookings.AdvanceDays))
	}
	return from, to, from <= to
}

// staffFor returns the members who may serve the question. Without a staffed service nobody does, and a member named
// yields nothing.
func staffFor(offer *catalog.Offer, a appointment, q Question) []*catalog.Staff {
	if !a.staffed {
		return nil
	}
	services := q.Services
	if q.byService() {
		services = services[:1]
	}
	return candidates(offer, services, q.StaffID)
}

// Openings are the bookable starts that [Find] found. They are not safe for concurrent use.
type Openings struct {
	appointment appointment
	clock       zone
	occupancy   occupancy
	candidates  []*catalog.Staff // in Auto-Assign order; one nil where no service needs staff
	runs        []run            // by candidate, then date; once sorted by date, then candidate
	byDate      bool
	once        bool    // each start counts once a date, whoever serves it
	others      []other // who can serve the legs that the candidate does not

	class    *catalog.Service // whose sessions are asked for; nil for an appointment
	sessions []session        // by start, then in the order of slots
}

// other is a member and the starts at which it can serve a leg that is not the candidate's.
type other struct {
	leg    int
	member *catalog.Staff
	starts []timespan.Span
}

// run is a sequence of count starts at equal distance that one candidate offers in one window of a date.
type run struct {
	date      timespan.Date
	candidate int32
	count     int32
	first     int64
}

// Find computes the bookable starts of a question. occupied holds at least the time taken within [Plan.Reach], and for a
// class the seats of sessions that start there.
func Find(offer *catalog.Offer, q Question, occupied booking.Occupied) *Openings {
	return NewPlan(offer, q).Find(occupied)
}

// earliest is the first instant at which anything may start.
func (q Question) earliest(offer *catalog.Offer) int64 {
	if q.Override {
		return timespan.Instant(offer.Today(q.Now), 0, offer.Location())
	}
	at := q.Now.Unix() + int64(offer.Bookings.MinNoticeMinutes)*minute
	if q.Now.Nanosecond() > 0 {
		at++ // a start must not lie before now
	}
	return at
}

// compare orders instants.
func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Days calls yield for each date from..to with its number of bookable starts; from and to are both included.
func (o *Openings) Days(from, to timespan.Date, yield func(timespan.Date, int)) {
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
		if o.once && counts[i] > 0 && len(o.sessions) == 0 {
			counts[i] = o.distinct(from + timespan.Date(i))
		}
	}
	for i, n := range counts {
		yield(from+timespan.Date(i), n)
	}
}

// Slot is one bookable start. Date, Time and End are business time.
type Slot struct {
	Staff      *catalog.Staff // nil for services without staff
	Start      int64          // seconds since the epoch
	Date       timespan.Date  // the calendar date of the start
	Remaining  int32          // of a class: the seats left; it fills the gap after Date, as lists of appointments are long
	Time, End  timespan.TimeOfDay
	DateOffset int // 1 where Date is the day after the one whose window the slot lies in

	Session *catalog.ClassSession // set for a class
}

// AppendOn appends the slots of the windows of date d to slots, by start and then in Auto-Assign order.
func (o *Openings) AppendOn(slots []Slot, d timespan.Date) []Slot {
	if o.class != nil {
		return o.appendSessions(slots, d)
	}
	runs, unit := o.runsOn(d)
	if len(runs) == 0 {
		return slots
	}
	at, earliest := o.tally(runs, unit)
	slots = o.appendStarts(slots, d, at, earliest, unit)
	if o.once {
		for _, r := range slices.Backward(runs) { // the first candidate is written last
			o.each(r, earliest, unit, func(i int64) { slots[at[i]].Staff = o.candidates[r.candidate] })
		}
		return slots
	}
	for _, r := range runs { // by candidate, so that those of one start keep that order
		o.each(r, earliest, unit, func(i int64) {
			slots[at[i]].Staff = o.candidates[r.candidate]
			at[i]++
		})
	}
	return slots
}

// distinct is the number of different starts on date d.
func (o *Openings) distinct(d timespan.Date) int {
	runs, unit := o.runsOn(d)
	if len(runs) == 0 {
		return 0
	}
	at, _ := o.tally(runs, unit)
	total := 0
	for _, n := range at {
		total += int(n)
	}
	return total
}

// tally counts how many slots begin at each unit after the earliest start, which it returns too. All starts lie at
// multiples of unit after the earliest, so that they are sorted by counting.
func (o *Openings) tally(runs []run, unit int64) ([]int32, int64) {
	earliest, latest := runs[0].first, runs[0].first
	for _, r := range runs {
		earliest, latest = min(earliest, r.first), max(latest, r.first+int64(r.count-1)*o.appointment.step)
	}
	at := make([]int32, (latest-earliest)/unit+1)
	for _, r := range runs {
		o.each(r, earliest, unit, func(i int64) {
			if at[i]++; o.once {
				at[i] = 1
			}
		})
	}
	return at, earliest
}

// runsOn returns the runs of date d, by candidate, and the largest distance of which all distances of their starts are
// multiples.
func (o *Openings) runsOn(d timespan.Date) ([]run, int64) {
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

// sortByDate orders the runs, which [Find] leaves by candidate, by date and then candidate. Counts of days do without it. It
// counts instead of comparing: with slices.SortStableFunc a month of 20 members takes 1.28 times the plain sweep, not 1.03,
// and `make bench` allows 1.3.
func (o *Openings) sortByDate() {
	if o.byDate || len(o.runs) == 0 {
		return
	}
	o.byDate = true
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

// each calls visit for each start of a run, counted in units after earliest.
func (o *Openings) each(r run, earliest, unit int64, visit func(int64)) {
	at := (r.first - earliest) / unit
	for range r.count {
		visit(at)
		at += o.appointment.step / unit
	}
}

// appendStarts appends the slots of date d without their staff, given how many start at each unit, and leaves there the
// index of the first.
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
		date, from := o.clock.local(start)
		_, end := o.clock.local(start + o.appointment.duration)
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
