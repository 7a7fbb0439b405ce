package slot

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The oracle answers the engine's question minute by minute, by the text of semantics.md §1–§3. It shares no code
// with the engine: it looks at every minute of a period, and reads the clock from time.Time.

// clockTable contains what a business's clock shows at each minute of a period. Minutes count from start. Shown times
// are in minutes since 1970-01-01T00:00 of local time.
type clockTable struct {
	loc   *time.Location
	base  timespan.Date
	start int64
	shown []int
	wall  int // the earliest shown time in the table
	// by shown time from wall: the first minute that shows it, or the minute after the gap that skips it
	at []int
}

const tableDays = 17

var clockTables sync.Map

// findClockTable returns the table of a zone, which begins five days before base.
func findClockTable(zone string, base timespan.Date) *clockTable {
	type key struct {
		zone string
		base timespan.Date
	}
	if t, ok := clockTables.Load(key{zone, base}); ok {
		return t.(*clockTable)
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	year, month, d := base.YMD()
	begin := time.Date(year, month, d, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -5)
	t := &clockTable{loc: loc, base: base, start: begin.Unix()}
	for i := range tableDays * 1440 {
		clock := begin.Add(time.Duration(i) * time.Minute).In(loc)
		y, m, d := clock.Date()
		days := int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
		shown := days*1440 + clock.Hour()*60 + clock.Minute()
		if i == 0 {
			t.wall = shown
		}
		for t.wall+len(t.at) <= shown {
			t.at = append(t.at, i)
		}
		t.shown = append(t.shown, shown)
	}
	clockTables.Store(key{zone, base}, t)
	return t
}

func (t *clockTable) minuteOf(d timespan.Date, m timespan.TimeOfDay) int {
	return t.at[int(d)*1440+int(m)-t.wall]
}

type minutes []bool

type staffDate struct {
	staff *catalog.Staff
	date  timespan.Date
}

// oracle answers one question. It marks the data of the business on the minutes of a clock table.
type oracle struct {
	*clockTable
	offer          *catalog.Snapshot
	question       Question
	services       []*catalog.Service // the requested services, as their variants
	occupied       booking.Occupied
	open           minutes
	works          map[uuid.UUID]minutes
	busy           map[uuid.UUID]minutes
	blocked        minutes
	paintedWindows map[staffDate][][2]int // windows painted before
	running        map[uuid.UUID][]int    // bookings of a service without staff at each minute

	place *catalog.Location // the location of the appointment; nil for a business without locations
	sales []sale            // bookings with their locations
	away  map[uuid.UUID]minutes
}

// listDates returns all dates that lie completely in the table.
func (o *oracle) listDates() []timespan.Date {
	var dates []timespan.Date
	for d := o.base - 3; d < o.base+tableDays-9; d++ {
		dates = append(dates, d)
	}
	return dates
}

func newOracle(t *clockTable, offer *catalog.Snapshot, a requestedQuestion, occupied booking.Occupied) *oracle {
	o := &oracle{
		clockTable: t, offer: offer, question: a.Question, services: a.findServices(offer), occupied: occupied,
		open: make(minutes, len(t.shown)), blocked: make(minutes, len(t.shown)),
		works: map[uuid.UUID]minutes{}, busy: map[uuid.UUID]minutes{}, running: map[uuid.UUID][]int{},
		paintedWindows: map[staffDate][][2]int{},
	}
	for _, d := range o.listDates() {
		for _, w := range o.businessWindows(d) {
			o.paint(o.open, o.minuteOf(d, w.From), o.minuteOf(d, w.To))
		}
	}
	for _, b := range offer.Blocks {
		if len(b.StaffIDs) == 0 {
			o.paint(o.blocked, o.minuteOf(b.From.Date, b.From.Time), o.minuteOf(b.To.Date, b.To.Time))
		}
	}
	return o
}

// findServices returns the requested services. The duration of a variant replaces that of its service.
func (a requestedQuestion) findServices(offer *catalog.Snapshot) []*catalog.Service {
	var services []*catalog.Service
	for _, id := range a.ids {
		i := slices.IndexFunc(offer.Services, func(s catalog.Service) bool { return s.ID == id })
		s := offer.Services[i]
		for _, v := range s.Variants {
			if a.variants[id] == v.ID {
				s.DurationMinutes = v.DurationMinutes
			}
		}
		services = append(services, &s)
	}
	return services
}

func (o *oracle) isClassQuestion() bool { return len(o.services[0].Classes) > 0 }

// hasStaffPerService reports whether the question is a package whose services may each have another member.
func (o *oracle) hasStaffPerService() bool { return o.question.IsPackage && o.question.IsPerService }

func (o *oracle) paint(m minutes, from, to int) {
	for i := max(from, 0); i < min(to, len(m)); i++ {
		m[i] = true
	}
}

func (o *oracle) minuteAt(unix int64) int { return int((unix - o.start) / 60) }

func (o *oracle) businessWindows(d timespan.Date) []timespan.Window {
	if o.place != nil {
		return o.placeWindows(d)
	}
	for _, v := range o.offer.Overrides {
		if v.Date == d {
			return v.Hours
		}
	}
	return o.offer.Hours[d.Weekday()]
}

func (o *oracle) staffWindows(s *catalog.Staff, d timespan.Date) []timespan.Window {
	if o.place != nil && len(s.At) > 0 {
		return o.windowsAt(s, d)
	}
	for _, v := range s.Overrides {
		if v.Date == d {
			return v.Hours
		}
	}
	if s.Hours == nil {
		return o.businessWindows(d)
	}
	return s.Hours[d.Weekday()]
}

// findWindows returns the windows of one date as ranges of minutes, [from, to). The windows of a member are limited to
// the opening time. If s is nil, they are those of the business.
func (o *oracle) findWindows(s *catalog.Staff, d timespan.Date) [][2]int {
	key := staffDate{s, d}
	if out, ok := o.paintedWindows[key]; ok {
		return out
	}
	out := o.paintWindows(s, d)
	o.paintedWindows[key] = out
	return out
}

func (o *oracle) paintWindows(s *catalog.Staff, d timespan.Date) [][2]int {
	windows := o.businessWindows(d)
	if s != nil {
		windows = o.staffWindows(s, d)
	}
	if len(windows) == 0 {
		return nil
	}
	first, last := o.minuteOf(d, 0), o.minuteOf(d, 2880)
	canvas := make(minutes, last-first+1)
	for _, w := range windows {
		end := o.minuteOf(d, w.To)
		for i := o.minuteOf(d, w.From); i < end; i++ {
			canvas[i-first] = o.open[i]
		}
	}
	var out [][2]int
	for i, on := range canvas {
		switch {
		case on && (i == 0 || !canvas[i-1]):
			out = append(out, [2]int{first + i, first + i + 1})
		case on:
			out[len(out)-1][1]++
		}
	}
	return out
}

// hasGridStart reports whether a window of member s on date d has a start at minute i, bookable or not.
func (o *oracle) hasGridStart(s *catalog.Staff, d timespan.Date, i int) bool {
	for _, w := range o.findWindows(s, d) {
		if w[0] <= i && i < w[1] && (i-w[0])%o.services[0].SlotIntervalMinutes == 0 {
			return true
		}
	}
	return false
}

func (o *oracle) paintWork(s *catalog.Staff) minutes {
	if m, ok := o.works[s.ID]; ok {
		return m
	}
	m := make(minutes, len(o.shown))
	for _, d := range o.listDates() {
		for _, w := range o.findWindows(s, d) {
			o.paint(m, w[0], w[1])
		}
	}
	o.works[s.ID] = m
	return m
}

// paintBlocked marks the blocked time of a member: that of the business and the member's own.
func (o *oracle) paintBlocked(member uuid.UUID) minutes {
	m := slices.Clone(o.blocked)
	for _, b := range o.offer.Blocks {
		if slices.Contains(b.StaffIDs, member) {
			o.paint(m, o.minuteOf(b.From.Date, b.From.Time), o.minuteOf(b.To.Date, b.To.Time))
		}
	}
	return m
}

// paintBusy marks when a member cannot serve: blocked time, bookings of any kind, and the class sessions that the
// member gives.
func (o *oracle) paintBusy(s *catalog.Staff) minutes {
	if m, ok := o.busy[s.ID]; ok {
		return m
	}
	m := o.paintBlocked(s.ID)
	for _, b := range o.occupied.Busy {
		for i := 0; b.ID == s.ID && i < len(b.Edges); i += 2 {
			o.paint(m, o.minuteAt(b.Edges[i]), o.minuteAt(b.Edges[i+1]))
		}
	}
	for i := range o.offer.Services {
		v := &o.offer.Services[i]
		for j := range v.Classes {
			if c := &v.Classes[j]; v.Active && c.StaffID != nil && *c.StaffID == s.ID {
				o.paintSessions(m, v, c)
			}
		}
	}
	o.busy[s.ID] = m
	return m
}

func (o *oracle) countRunning(s *catalog.Service) []int {
	if n, ok := o.running[s.ID]; ok {
		return n
	}
	n := make([]int, len(o.shown))
	for _, b := range o.occupied.Busy {
		for i := 0; b.ID == s.ID && i < len(b.Edges); i += 2 {
			for at := max(0, o.minuteAt(b.Edges[i])); at < min(len(n), o.minuteAt(b.Edges[i+1])); at++ {
				n[at]++
			}
		}
	}
	o.running[s.ID] = n
	return n
}

// listMembers returns the members who perform all services with staff, in Auto-Assign order. In a package with staff
// per service, only the first service counts. If no service has staff, the result is one nil.
func (o *oracle) listMembers() []*catalog.Staff {
	services := o.services
	if o.hasStaffPerService() {
		services = services[:1]
	}
	members := []*catalog.Staff{nil}
	if slices.ContainsFunc(services, isStaffed) {
		members = o.listPerformers(services)
	}
	if o.question.StaffID != nil {
		members = slices.DeleteFunc(members, func(s *catalog.Staff) bool {
			return s == nil || s.ID != *o.question.StaffID
		})
	}
	return members
}

// listPerformers returns the active members who perform all of these services that have staff, in Auto-Assign order.
func (o *oracle) listPerformers(services []*catalog.Service) []*catalog.Staff {
	var members []*catalog.Staff
	for i := range o.offer.Staff {
		s, able := &o.offer.Staff[i], true
		for _, v := range services {
			able = able && (len(v.StaffIDs) == 0 || slices.Contains(v.StaffIDs, s.ID))
		}
		if able && s.Active {
			members = append(members, s)
		}
	}
	slices.SortFunc(members, func(a, b *catalog.Staff) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.ID.String(), b.ID.String()))
	})
	return members
}

func isStaffed(s *catalog.Service) bool { return len(s.StaffIDs) > 0 }

// part is the time of one requested service: from..to without buffers, occupiedFrom..occupiedTo with them.
type part struct {
	service                            *catalog.Service
	nth                                int
	from, to, occupiedFrom, occupiedTo int
}

func (o *oracle) listParts(i int) []part {
	var parts []part
	for k, v := range o.services {
		p := part{service: v, nth: k, from: i, to: i + v.DurationMinutes}
		p.occupiedFrom, p.occupiedTo = p.from, p.to
		if k == 0 {
			p.occupiedFrom -= max(v.BufferBeforeMinutes, o.travelMinutes())
		}
		if k == len(o.services)-1 {
			p.occupiedTo += max(v.BufferAfterMinutes, o.travelMinutes())
		}
		parts = append(parts, p)
		i = p.to
	}
	return parts
}

// isWithinLimits reports whether a start at minute i, listed on date d, respects the notice and the advance limit.
func (o *oracle) isWithinLimits(d timespan.Date, i int) bool {
	start := time.Unix(o.start+int64(i)*60, 0)
	if start.Before(o.question.Now.Add(time.Duration(o.offer.Bookings.MinNoticeMinutes) * time.Minute)) {
		return false
	}
	now := o.question.Now.In(o.loc)
	lastDay := time.Date(now.Year(), now.Month(), now.Day()+o.offer.Bookings.AdvanceDays, 0, 0, 0, 0, time.UTC)
	return int64(d)*86400 <= lastDay.Unix()
}

// isListed reports whether /slots of date d lists a start at minute i for member s.
func (o *oracle) isListed(s *catalog.Staff, d timespan.Date, i int) bool {
	if o.at[o.shown[i]-o.wall] != i {
		return false // the clock shows this time for the second time
	}
	if !o.isWithinLimits(d, i) {
		return false
	}
	if o.shown[i]/1440 == int(d)+1 && o.hasGridStart(o.findGridOwner(s), d+1, i) {
		return false
	}
	return !slices.ContainsFunc(o.listParts(i), func(p part) bool { return len(o.listServers(s, p)) == 0 })
}

// listServers returns the members who can serve a part of an appointment of member s, in Auto-Assign order. This is s.
// In a package with staff per service, later services may have any member who performs them. For a service without
// staff, it is one nil.
func (o *oracle) listServers(s *catalog.Staff, p part) []*catalog.Staff {
	candidates := []*catalog.Staff{s}
	switch {
	case !isStaffed(p.service):
		candidates = []*catalog.Staff{nil}
	case o.hasStaffPerService() && p.nth > 0:
		candidates = o.listPerformers([]*catalog.Service{p.service})
	}
	return slices.DeleteFunc(candidates, func(s *catalog.Staff) bool { return !o.canServe(s, p) })
}

// findGridOwner returns the member in whose windows the starts lie: the performer of the first service.
func (o *oracle) findGridOwner(s *catalog.Staff) *catalog.Staff {
	if !isStaffed(o.services[0]) {
		return nil
	}
	return s
}

func (o *oracle) canServe(s *catalog.Staff, p part) bool {
	work, busy := o.open, o.blocked
	if isStaffed(p.service) {
		work, busy = o.paintWork(s), o.paintBusy(s)
	}
	for i := p.from; i < p.to; i++ {
		if !work[i] || o.place != nil && isStaffed(p.service) && o.paintAway(s)[i] {
			return false
		}
	}
	var running []int
	if !isStaffed(p.service) {
		running = o.countRunning(p.service)
	}
	for i := p.occupiedFrom; i < p.occupiedTo; i++ {
		if busy[i] || (running != nil && running[i] >= p.service.Capacity) {
			return false
		}
	}
	return true
}

func (o *oracle) listSlots(d timespan.Date) []Slot {
	if o.isClassQuestion() {
		return o.listSessions(d)
	}
	var slots []Slot
	for _, s := range o.listMembers() {
		for _, w := range o.findWindows(o.findGridOwner(s), d) {
			for i := w[0]; i < w[1]; i += o.services[0].SlotIntervalMinutes {
				if o.isListed(s, d, i) {
					slots = append(slots, o.newSlot(s, d, i))
				}
			}
		}
	}
	slices.SortStableFunc(slots, func(a, b Slot) int { return cmp.Compare(a.Start, b.Start) })
	if o.question.IsPackage {
		slots = slices.CompactFunc(slots, func(a, b Slot) bool { return a.Start == b.Start })
	}
	return slots
}

// newSlot returns the slot at minute i, listed on date d.
func (o *oracle) newSlot(s *catalog.Staff, d timespan.Date, i int) Slot {
	length := 0
	for _, v := range o.services {
		length += v.DurationMinutes
	}
	return Slot{
		Staff: s, Start: o.start + int64(i)*60,
		Date: timespan.Date(o.shown[i] / 1440), Time: timespan.TimeOfDay(o.shown[i] % 1440),
		End:        timespan.TimeOfDay(o.shown[i+length] % 1440),
		DateOffset: o.shown[i]/1440 - int(d),
	}
}

// oracleAssignment is an assignment that lists which resource is occupied in each minute.
type oracleAssignment struct {
	Staff    uuid.UUID
	Location uuid.UUID            // the nil UUID without locations
	Session  availability.Session // of a class
	From     int64
	To       int64
	Occupied []occupiedMinute
}

type occupiedMinute struct {
	Minute int
	ID     uuid.UUID
	Lane   int // 0 for staff
}

const maxOracleAssignments = 64 // of members in a package with staff per service, and of capacity units

// listAssignments returns all assignments for the start at minute i with these members.
func (o *oracle) listAssignments(able []*catalog.Staff, i int) []oracleAssignment {
	if len(able) == 0 {
		return nil
	}
	around := o.countTurns(able, i)
	limit, depth := max(1, maxOracleAssignments/around), 1000
	for _, p := range o.listParts(i) {
		if isStaffed(p.service) {
			continue
		}
		running := o.countRunning(p.service)
		for at := p.occupiedFrom; at < p.occupiedTo; at++ {
			depth = min(depth, limit, p.service.Capacity-running[at])
		}
	}
	if depth == 1000 {
		depth = 1 // no service uses capacity units
	}
	var assignments []oracleAssignment
	for turn := range around {
		for j := range depth {
			assignments = append(assignments, o.newAssignment(able[turn%len(able)], i, turn, j))
		}
	}
	return assignments
}

// listAssignmentsAt returns all assignments for a request of the start at minute i on date d: those of the members for
// whom date d or the date before lists the start.
func (o *oracle) listAssignmentsAt(d timespan.Date, i int) []oracleAssignment {
	if o.isClassQuestion() {
		return o.listSessionAssignments(d, i)
	}
	var able []*catalog.Staff
	for _, s := range o.listMembers() {
		for _, of := range []timespan.Date{d - 1, d} {
			if o.hasGridStart(o.findGridOwner(s), of, i) && o.isListed(s, of, i) {
				able = append(able, s)
				break
			}
		}
	}
	return o.listAssignments(able, i)
}

// countTurns returns the number of turns until each member of each service has had one turn.
func (o *oracle) countTurns(able []*catalog.Staff, i int) int {
	turns := len(able)
	if !o.hasStaffPerService() {
		return turns
	}
	for _, p := range o.listParts(i) {
		if p.nth > 0 {
			turns = max(turns, len(o.listServers(nil, p)))
		}
	}
	return min(turns, maxOracleAssignments)
}

// newAssignment returns the assignment of member s. The members of other services and the free capacity units are used
// in turn.
func (o *oracle) newAssignment(s *catalog.Staff, i, turn, unit int) oracleAssignment {
	parts := o.listParts(i)
	a := oracleAssignment{From: o.start + int64(i)*60, To: o.start + int64(parts[len(parts)-1].to)*60}
	if s != nil {
		a.Staff = s.ID
	}
	for _, p := range parts {
		server := s
		if o.hasStaffPerService() && isStaffed(p.service) && p.nth > 0 {
			free := o.listServers(nil, p)
			server = free[turn%len(free)]
		}
		for at := p.occupiedFrom; at < p.occupiedTo; at++ {
			if isStaffed(p.service) {
				a.Occupied = append(a.Occupied, occupiedMinute{at, server.ID, 0})
			} else {
				a.Occupied = append(a.Occupied, occupiedMinute{at, p.service.ID, o.findFreeUnit(p.service, at, unit)})
			}
		}
	}
	return a
}

// findFreeUnit returns the free capacity unit with index j at a minute, counted from the lowest.
func (o *oracle) findFreeUnit(s *catalog.Service, at, j int) int {
	for unit := 1; ; unit++ {
		inUse := slices.ContainsFunc(o.occupied.Busy, func(b booking.Busy) bool {
			for i := 0; b.ID == s.ID && b.CapacityUnit == unit && i < len(b.Edges); i += 2 {
				if o.minuteAt(b.Edges[i]) <= at && at < o.minuteAt(b.Edges[i+1]) {
					return true
				}
			}
			return false
		})
		if !inUse {
			if j == 0 {
				return unit
			}
			j--
		}
	}
}

// expandAssignments converts the engine's assignments.
func (o *oracle) expandAssignments(assignments []availability.Assignment) []oracleAssignment {
	var expanded []oracleAssignment
	for _, c := range assignments {
		a := oracleAssignment{From: c.During.Start, To: c.During.End}
		if c.StaffID != nil {
			a.Staff = *c.StaffID
		}
		if c.Session != nil {
			a.Session = *c.Session
		}
		for _, p := range c.Parts {
			for at := o.minuteAt(p.Occupies.Start); at < o.minuteAt(p.Occupies.End); at++ {
				a.Occupied = append(a.Occupied, occupiedMinute{at, p.Resource.ID, p.Resource.CapacityUnit})
			}
		}
		expanded = append(expanded, a)
	}
	return expanded
}
