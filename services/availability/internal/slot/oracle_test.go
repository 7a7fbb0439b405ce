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

// The oracle answers the engine's question minute by minute, from the words of semantics.md §1–§3. It shares nothing
// with the engine: every minute of a stretch of time is looked at, and what a clock shows is asked of time.Time.

// clockTable is what a business's clock shows at every minute of a stretch of time. Minutes are counted from start;
// what is shown is counted in minutes since 1970-01-01T00:00 on the wall.
type clockTable struct {
	loc   *time.Location
	base  timespan.Date
	start int64
	shown []int
	wall  int // the earliest time on the wall that the table knows
	// by time on the wall after that: the first minute that shows it, or the one right after the gap that skips it
	at []int
}

const tableDays = 17

var clockTables sync.Map

// tableFor builds the table of a zone from five days before base.
func tableFor(zone string, base timespan.Date) *clockTable {
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

// oracle is one question with its business painted on the minutes of a clock table.
type oracle struct {
	*clockTable
	offer    *catalog.Offer
	question Question
	services []*catalog.Service // those asked for, as their variants
	occupied booking.Occupied
	open     minutes
	works    map[uuid.UUID]minutes
	busy     map[uuid.UUID]minutes
	blocked  minutes
	known    map[staffDate][][2]int // windows painted before
	running  map[uuid.UUID][]int    // bookings of a service without staff at each minute
}

// dates are all dates that the table holds whole.
func (o *oracle) dates() []timespan.Date {
	var dates []timespan.Date
	for d := o.base - 3; d < o.base+tableDays-9; d++ {
		dates = append(dates, d)
	}
	return dates
}

func newOracle(t *clockTable, offer *catalog.Offer, a asked, occupied booking.Occupied) *oracle {
	o := &oracle{
		clockTable: t, offer: offer, question: a.Question, services: a.performed(offer), occupied: occupied,
		open: make(minutes, len(t.shown)), blocked: make(minutes, len(t.shown)),
		works: map[uuid.UUID]minutes{}, busy: map[uuid.UUID]minutes{}, running: map[uuid.UUID][]int{},
		known: map[staffDate][][2]int{},
	}
	for _, d := range o.dates() {
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

// performed reads which services are asked for: a variant replaces its service's duration, wherever that occurs.
func (a asked) performed(offer *catalog.Offer) []*catalog.Service {
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

func (o *oracle) ofClass() bool { return len(o.services[0].Classes) > 0 }

// byService: a package whose services are each matched to a member of their own.
func (o *oracle) byService() bool { return o.question.Package && o.question.PerService }

func (o *oracle) paint(m minutes, from, to int) {
	for i := max(from, 0); i < min(to, len(m)); i++ {
		m[i] = true
	}
}

func (o *oracle) minuteAt(unix int64) int { return int((unix - o.start) / 60) }

func (o *oracle) businessWindows(d timespan.Date) []timespan.Window {
	for _, v := range o.offer.Overrides {
		if v.Date == d {
			return v.Hours
		}
	}
	return o.offer.Hours[d.Weekday()]
}

func (o *oracle) staffWindows(s *catalog.Staff, d timespan.Date) []timespan.Window {
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

// stretches returns the windows of one date as stretches of minutes, [from, to): a staff member's, cut to the time the
// business is open, or the business's own where s is nil.
func (o *oracle) stretches(s *catalog.Staff, d timespan.Date) [][2]int {
	key := staffDate{s, d}
	if out, ok := o.known[key]; ok {
		return out
	}
	out := o.paintedStretches(s, d)
	o.known[key] = out
	return out
}

func (o *oracle) paintedStretches(s *catalog.Staff, d timespan.Date) [][2]int {
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

// yields reports whether a window of (s, d) has a start at minute i, whether or not it can be booked.
func (o *oracle) yields(s *catalog.Staff, d timespan.Date, i int) bool {
	for _, w := range o.stretches(s, d) {
		if w[0] <= i && i < w[1] && (i-w[0])%o.services[0].SlotIntervalMinutes == 0 {
			return true
		}
	}
	return false
}

func (o *oracle) worksAt(s *catalog.Staff) minutes {
	if m, ok := o.works[s.ID]; ok {
		return m
	}
	m := make(minutes, len(o.shown))
	for _, d := range o.dates() {
		for _, w := range o.stretches(s, d) {
			o.paint(m, w[0], w[1])
		}
	}
	o.works[s.ID] = m
	return m
}

// blockedAt is the blocked time of a member: the business's and its own.
func (o *oracle) blockedAt(member uuid.UUID) minutes {
	m := slices.Clone(o.blocked)
	for _, b := range o.offer.Blocks {
		if slices.Contains(b.StaffIDs, member) {
			o.paint(m, o.minuteOf(b.From.Date, b.From.Time), o.minuteOf(b.To.Date, b.To.Time))
		}
	}
	return m
}

// busyAt is when a member can serve nothing: in blocked time, in bookings of any kind, and in the class sessions that
// it gives, whether or not they are sold.
func (o *oracle) busyAt(s *catalog.Staff) minutes {
	if m, ok := o.busy[s.ID]; ok {
		return m
	}
	m := o.blockedAt(s.ID)
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

func (o *oracle) runningAt(s *catalog.Service) []int {
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

// members are those who perform every service that staff perform, in a package by service the first service, in
// Auto-Assign order; one nil where no staff perform it.
func (o *oracle) members() []*catalog.Staff {
	services := o.services
	if o.byService() {
		services = services[:1]
	}
	members := []*catalog.Staff{nil}
	if slices.ContainsFunc(services, isStaffed) {
		members = o.performersOf(services)
	}
	if o.question.StaffID != nil {
		members = slices.DeleteFunc(members, func(s *catalog.Staff) bool {
			return s == nil || s.ID != *o.question.StaffID
		})
	}
	return members
}

// performersOf are the active members who perform each of the services that staff perform, in Auto-Assign order.
func (o *oracle) performersOf(services []*catalog.Service) []*catalog.Staff {
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

// part is what one of the services asked for takes: its own minutes, and the same with buffers.
type part struct {
	service              *catalog.Service
	nth                  int
	from, to, wide, wend int
}

func (o *oracle) parts(i int) []part {
	var parts []part
	for k, v := range o.services {
		p := part{service: v, nth: k, from: i, to: i + v.DurationMinutes}
		p.wide, p.wend = p.from, p.to
		if k == 0 {
			p.wide -= v.BufferBeforeMinutes
		}
		if k == len(o.services)-1 {
			p.wend += v.BufferAfterMinutes
		}
		parts = append(parts, p)
		i = p.to
	}
	return parts
}

// inTime reports whether a start at minute i of date d's windows, or of a session on d, keeps the notice and the
// advance limit.
func (o *oracle) inTime(d timespan.Date, i int) bool {
	start := time.Unix(o.start+int64(i)*60, 0)
	if start.Before(o.question.Now.Add(time.Duration(o.offer.Bookings.MinNoticeMinutes) * time.Minute)) {
		return false
	}
	now := o.question.Now.In(o.loc)
	lastDay := time.Date(now.Year(), now.Month(), now.Day()+o.offer.Bookings.AdvanceDays, 0, 0, 0, 0, time.UTC)
	return int64(d)*86400 <= lastDay.Unix()
}

// listed reports whether /slots of date d lists a start at minute i of d's windows for member s.
func (o *oracle) listed(s *catalog.Staff, d timespan.Date, i int) bool {
	if o.at[o.shown[i]-o.wall] != i {
		return false // the clock shows this time for the second time
	}
	if !o.inTime(d, i) {
		return false
	}
	if o.shown[i]/1440 == int(d)+1 && o.yields(o.gridOf(s), d+1, i) {
		return false
	}
	return !slices.ContainsFunc(o.parts(i), func(p part) bool { return len(o.servers(s, p)) == 0 })
}

// servers are those who can serve a part of an appointment of member s, in Auto-Assign order: s itself, or in a package
// by service, but for its first service, any who perform it; one nil for a service without staff.
func (o *oracle) servers(s *catalog.Staff, p part) []*catalog.Staff {
	candidates := []*catalog.Staff{s}
	switch {
	case !isStaffed(p.service):
		candidates = []*catalog.Staff{nil}
	case o.byService() && p.nth > 0:
		candidates = o.performersOf([]*catalog.Service{p.service})
	}
	return slices.DeleteFunc(candidates, func(s *catalog.Staff) bool { return !o.serves(s, p) })
}

// gridOf returns whose windows the starts lie in: the first service's performer's.
func (o *oracle) gridOf(s *catalog.Staff) *catalog.Staff {
	if !isStaffed(o.services[0]) {
		return nil
	}
	return s
}

func (o *oracle) serves(s *catalog.Staff, p part) bool {
	work, busy := o.open, o.blocked
	if isStaffed(p.service) {
		work, busy = o.worksAt(s), o.busyAt(s)
	}
	for i := p.from; i < p.to; i++ {
		if !work[i] {
			return false
		}
	}
	var running []int
	if !isStaffed(p.service) {
		running = o.runningAt(p.service)
	}
	for i := p.wide; i < p.wend; i++ {
		if busy[i] || (running != nil && running[i] >= p.service.Capacity) {
			return false
		}
	}
	return true
}

// slots lists date d.
func (o *oracle) slots(d timespan.Date) []Slot {
	if o.ofClass() {
		return o.sessions(d)
	}
	var slots []Slot
	for _, s := range o.members() {
		for _, w := range o.stretches(o.gridOf(s), d) {
			for i := w[0]; i < w[1]; i += o.services[0].SlotIntervalMinutes {
				if o.listed(s, d, i) {
					slots = append(slots, o.slot(s, d, i))
				}
			}
		}
	}
	slices.SortStableFunc(slots, func(a, b Slot) int { return cmp.Compare(a.Start, b.Start) })
	if o.question.Package {
		slots = slices.CompactFunc(slots, func(a, b Slot) bool { return a.Start == b.Start })
	}
	return slots
}

// slot is a start at minute i of a window or session of date d.
func (o *oracle) slot(s *catalog.Staff, d timespan.Date, i int) Slot {
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

// wayTaken is an assignment spelled out: which resource it takes at which minute, minute after minute.
type wayTaken struct {
	Staff   uuid.UUID
	Session availability.Session // of a class
	From    int64
	To      int64
	Takes   []taken
}

type taken struct {
	Minute int
	ID     uuid.UUID
	Lane   int // 0 for staff
}

const mostWays = 64 // of members of a package by service, and of lanes

// ways are all assignments for the start at minute i, given the members for whom it is listed.
func (o *oracle) ways(able []*catalog.Staff, i int) []wayTaken {
	if len(able) == 0 {
		return nil
	}
	around := o.around(able, i)
	limit, depth := max(1, mostWays/around), 1000
	for _, p := range o.parts(i) {
		if isStaffed(p.service) {
			continue
		}
		running := o.runningAt(p.service)
		for at := p.wide; at < p.wend; at++ {
			depth = min(depth, limit, p.service.Capacity-running[at])
		}
	}
	if depth == 1000 {
		depth = 1 // no lanes at all
	}
	var ways []wayTaken
	for turn := range around {
		for j := range depth {
			ways = append(ways, o.way(able[turn%len(able)], i, turn, j))
		}
	}
	return ways
}

// waysAt are all assignments for the start at minute i that a request for date d means: those of members for whom the
// list of that date, or of the one before, has it.
func (o *oracle) waysAt(d timespan.Date, i int) []wayTaken {
	if o.ofClass() {
		return o.sessionWays(d, i)
	}
	var able []*catalog.Staff
	for _, s := range o.members() {
		for _, of := range []timespan.Date{d - 1, d} {
			if o.yields(o.gridOf(s), of, i) && o.listed(s, of, i) {
				able = append(able, s)
				break
			}
		}
	}
	return o.ways(able, i)
}

// around is how many turns there are until each member of each service has had one.
func (o *oracle) around(able []*catalog.Staff, i int) int {
	turns := len(able)
	if !o.byService() {
		return turns
	}
	for _, p := range o.parts(i) {
		if p.nth > 0 {
			turns = max(turns, len(o.servers(nil, p)))
		}
	}
	return min(turns, mostWays)
}

// way is the assignment with member s, the turn-th member of each other service going around, and the lowest free lanes
// but lane.
func (o *oracle) way(s *catalog.Staff, i, turn, lane int) wayTaken {
	parts := o.parts(i)
	way := wayTaken{From: o.start + int64(i)*60, To: o.start + int64(parts[len(parts)-1].to)*60}
	if s != nil {
		way.Staff = s.ID
	}
	for _, p := range parts {
		server := s
		if o.byService() && isStaffed(p.service) && p.nth > 0 {
			free := o.servers(nil, p)
			server = free[turn%len(free)]
		}
		for at := p.wide; at < p.wend; at++ {
			if isStaffed(p.service) {
				way.Takes = append(way.Takes, taken{at, server.ID, 0})
			} else {
				way.Takes = append(way.Takes, taken{at, p.service.ID, o.freeLane(p.service, at, lane)})
			}
		}
	}
	return way
}

// freeLane is the lowest free lane but j at a minute.
func (o *oracle) freeLane(s *catalog.Service, at, j int) int {
	for lane := 1; ; lane++ {
		inUse := slices.ContainsFunc(o.occupied.Busy, func(b booking.Busy) bool {
			for i := 0; b.ID == s.ID && b.Lane == lane && i < len(b.Edges); i += 2 {
				if o.minuteAt(b.Edges[i]) <= at && at < o.minuteAt(b.Edges[i+1]) {
					return true
				}
			}
			return false
		})
		if !inUse {
			if j == 0 {
				return lane
			}
			j--
		}
	}
}

// spelledOut turns the engine's assignments into the same form.
func (o *oracle) spelledOut(assignments []availability.Assignment) []wayTaken {
	var ways []wayTaken
	for _, c := range assignments {
		way := wayTaken{From: c.During.Start, To: c.During.End}
		if c.StaffID != nil {
			way.Staff = *c.StaffID
		}
		if c.Session != nil {
			way.Session = *c.Session
		}
		for _, p := range c.Parts {
			for at := o.minuteAt(p.Occupies.Start); at < o.minuteAt(p.Occupies.End); at++ {
				way.Takes = append(way.Takes, taken{at, p.Resource.ID, p.Resource.Lane})
			}
		}
		ways = append(ways, way)
	}
	return ways
}
