package slot

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// sale is a booking of one staff member: its services from..to, in minutes of the table, without buffers.
type sale struct {
	member        uuid.UUID
	location      uuid.UUID // the nil UUID: sold before the business had locations
	from, to      int
	before, after int // buffers
	change        int // the change time of the sale
	isClass       bool
	isUnknown     bool // the time of the services is not stored
}

// drawLocations adds two or three locations to the offer and distributes staff, services and sessions among them.
func (b business) drawLocations(offer *catalog.Snapshot) {
	kinds := []string{catalog.KindPlace, catalog.KindPlace, catalog.KindLink, catalog.KindCustomerAddress}
	for range 2 + b.IntN(2) {
		l := catalog.Location{ID: b.drawID(), Kind: kinds[b.IntN(len(kinds))]}
		if b.chance(2) {
			week := b.drawWeek()
			l.Hours = &week
		}
		if b.chance(3) {
			l.Overrides = b.drawOverrides()
		}
		if l.Kind == catalog.KindCustomerAddress && b.chance(2) {
			l.TravelMinutes = b.IntN(90)
		}
		offer.Locations = append(offer.Locations, l)
	}
	if !b.chance(3) {
		offer.Bookings.LocationChangeMinutes = b.IntN(90)
	}
	for i := range offer.Staff {
		if b.chance(3) {
			continue
		}
		m := &offer.Staff[i]
		m.Hours = nil
		for j := range offer.Locations {
			if !b.chance(3) {
				m.At = append(m.At, catalog.StaffLocation{LocationID: offer.Locations[j].ID, Hours: b.drawWeek()})
			}
		}
	}
	for i := range offer.Services {
		s := &offer.Services[i]
		if b.chance(2) {
			for _, j := range b.Perm(len(offer.Locations))[:1+b.IntN(len(offer.Locations))] {
				s.LocationIDs = append(s.LocationIDs, offer.Locations[j].ID)
			}
		}
		for j := range s.Classes {
			if b.chance(2) {
				s.Classes[j].LocationID = &offer.Locations[b.IntN(len(offer.Locations))].ID
			}
		}
	}
}

// drawSale returns a booking of one of the staff members at any location.
func (b business) drawSale(offer *catalog.Snapshot) sale {
	from := 3*1440 + b.IntN(5*1440)
	s := sale{
		member: offer.Staff[b.IntN(len(offer.Staff))].ID, from: from, to: from + 1 + b.IntN(200),
		change: b.IntN(3) * b.IntN(60), isClass: b.chance(6),
	}
	if !b.chance(4) {
		s.location = offer.Locations[b.IntN(len(offer.Locations))].ID
	}
	if b.chance(2) {
		s.before, s.after = b.IntN(40), b.IntN(40)
	}
	s.isUnknown = b.chance(8)
	return s
}

func (s sale) toBusy(start int64) booking.Busy {
	at := func(minute int) int64 { return start + int64(minute)*60 }
	b := booking.Busy{
		Resource: booking.Resource{ID: s.member}, Class: s.isClass, LocationID: s.location, ChangeMinutes: s.change,
		Edges: []int64{at(s.from - s.before), at(s.to + s.after)}, Served: []int64{at(s.from), at(s.to)},
	}
	if s.isUnknown {
		b.Served = nil
	}
	return b
}

// placesOracle answers the question for a business with locations, with one [oracle] for each location.
type placesOracle struct {
	offer *catalog.Snapshot
	at    []*oracle // in the order of preference
}

// newPlacesOracle finds the locations at which the question can be served, by the words of places.md.
func newPlacesOracle(b business, offer *catalog.Snapshot, q requestedQuestion, occupied booking.Occupied,
	sales []sale) *placesOracle {
	p := &placesOracle{offer: offer}
	if q.Services[0].IsClass() {
		o := newOracle(b.table, offer, q, occupied)
		o.place, o.sales = &offer.Locations[0], sales
		p.at = []*oracle{o}
		return p
	}
	for _, id := range offeredAt(offer, q.ids[0]) {
		isCommon := true
		for _, other := range q.ids {
			isCommon = isCommon && slices.Contains(offeredAt(offer, other), id)
		}
		if isCommon && (q.LocationID == nil || *q.LocationID == id) {
			o := newOracle(b.table, offer, q, occupied)
			o.place, o.sales = findPlace(offer, id), sales
			o.repaintOpen()
			p.at = append(p.at, o)
		}
	}
	return p
}

func findPlace(offer *catalog.Snapshot, id uuid.UUID) *catalog.Location {
	i := slices.IndexFunc(offer.Locations, func(l catalog.Location) bool { return l.ID == id })
	return &offer.Locations[i]
}

// offeredAt returns the locations of a service: those that it names or, if it names
// none, all of kind place or, if there are none, all.
func offeredAt(offer *catalog.Snapshot, service uuid.UUID) []uuid.UUID {
	i := slices.IndexFunc(offer.Services, func(s catalog.Service) bool { return s.ID == service })
	if ids := offer.Services[i].LocationIDs; len(ids) > 0 {
		return ids
	}
	var places, all []uuid.UUID
	for _, l := range offer.Locations {
		all = append(all, l.ID)
		if l.Kind == catalog.KindPlace {
			places = append(places, l.ID)
		}
	}
	if len(places) > 0 {
		return places
	}
	return all
}

// listSlots returns the slots of date d: each start that is possible at any location, once for each member. A
// start that date d+1 lists at another location belongs to d+1.
func (p *placesOracle) listSlots(d timespan.Date) []Slot {
	if len(p.at) == 0 {
		return nil
	}
	if p.at[0].isClassQuestion() {
		return p.at[0].listSessions(d)
	}
	type key struct {
		staff *catalog.Staff
		start int64
	}
	later := map[key]bool{}
	for _, o := range p.at {
		for _, s := range o.listAll(d + 1) {
			later[key{s.Staff, s.Start}] = true
		}
	}
	var slots []Slot
	seen := map[key]bool{}
	for _, o := range p.at {
		for _, s := range o.listAll(d) {
			if k := (key{s.Staff, s.Start}); !seen[k] && !later[k] {
				seen[k] = true
				slots = append(slots, s)
			}
		}
	}
	members := p.at[0].listMembers()
	slices.SortFunc(slots, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start),
			cmp.Compare(slices.Index(members, a.Staff), slices.Index(members, b.Staff)))
	})
	if p.at[0].question.IsPackage {
		slots = slices.CompactFunc(slots, func(a, b Slot) bool { return a.Start == b.Start })
	}
	return slots
}

// listAll returns the slots of date d of every member, even for a package.
func (o *oracle) listAll(d timespan.Date) []Slot {
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
	return slots
}

// listAssignmentsAt returns the assignments of each member at the first location at which the member is able.
func (p *placesOracle) listAssignmentsAt(d timespan.Date, i int) []oracleAssignment {
	if len(p.at) == 0 {
		return nil
	}
	if p.at[0].isClassQuestion() {
		return p.at[0].listSessionAssignments(d, i)
	}
	if len(p.at) == 1 { // as without locations
		list := p.at[0].listAssignmentsAt(d, i)
		for k := range list {
			list[k].Location = p.at[0].place.ID
		}
		return list
	}
	byMember := map[uuid.UUID][]oracleAssignment{}
	for _, o := range p.at {
		here := map[uuid.UUID][]oracleAssignment{}
		for _, a := range o.listAssignmentsAt(d, i) {
			a.Location = o.place.ID
			here[a.Staff] = append(here[a.Staff], a)
		}
		for member, list := range here {
			if byMember[member] == nil {
				byMember[member] = list
			}
		}
	}
	var all []oracleAssignment
	for _, m := range p.at[0].listMembers() {
		all = append(all, byMember[idOf(m)]...)
	}
	return all
}

// drawPlaces returns a random business with locations, a question, its occupied time, and its sales.
func drawPlaces(seed uint64) (business, *catalog.Snapshot, requestedQuestion, booking.Occupied, []sale) {
	b := newBusiness(seed)
	offer := b.drawOffer()
	b.drawLocations(offer)
	q := b.drawQuestion(offer)
	if b.chance(2) {
		q.LocationID = &offer.Locations[b.IntN(len(offer.Locations))].ID
	}
	var occupied booking.Occupied
	var sales []sale
	if len(offer.Staff) > 0 {
		for range b.IntN(12) {
			sales = append(sales, b.drawSale(offer))
		}
	}
	for _, s := range sales {
		occupied.Busy = append(occupied.Busy, s.toBusy(b.table.start))
	}
	for _, s := range offer.Services {
		for unit := 1; len(s.StaffIDs) == 0 && unit <= s.Capacity+1; unit++ {
			occupied.Busy = append(occupied.Busy,
				booking.Busy{Resource: booking.Resource{ID: s.ID, CapacityUnit: unit}, Edges: b.drawEdges()})
		}
	}
	return b, offer, q, occupied, sales
}

// TestLocationsEqualOracleOnRandomBusinesses compares the engine with the oracle for businesses with several
// locations: the listed starts, their number, and the assignments. The flag -rapid.checks sets how many.
func TestLocationsEqualOracleOnRandomBusinesses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { comparePlaces(t, rapid.Uint64().Draw(t, "seed")) })
}

func comparePlaces(t *rapid.T, seed uint64) {
	b, offer, q, occupied, sales := drawPlaces(seed)
	oracle := newPlacesOracle(b, offer, q, occupied, sales)
	sent := booking.Occupied{}
	if reach, ok := NewPlan(offer, q.Question).Reach(); ok {
		sent = cutPlaces(occupied, reach)
	}
	found := Find(offer, q.Question, sent)
	days := countDays(found, q.Question)
	for d := q.From; d <= q.To; d++ {
		want, got := oracle.listSlots(d), found.AppendSlots(nil, d)
		if !slices.Equal(want, got) {
			t.Fatalf("%s in %s (-oracle +engine):\n%s", d, offer.Timezone,
				gocmp.Diff(summarizeSlots(want), summarizeSlots(got)))
		}
		if days[d] != len(want) {
			t.Fatalf("%s has %d slots, days says %d", d, len(want), days[d])
		}
		times := []timespan.LocalDateTime{{Date: d, Time: timespan.TimeOfDay(b.IntN(1440))},
			{Date: d, Time: timespan.TimeOfDay(b.IntN(96) * 15)}}
		for range min(2, len(want)) {
			s := want[b.IntN(len(want))]
			times = append(times, timespan.LocalDateTime{Date: s.Date, Time: s.Time})
		}
		for _, at := range times {
			want := oracle.listAssignmentsAt(at.Date, b.table.minuteOf(at.Date, at.Time))
			got := expandPlaces(b, FindAssignments(offer, q.Question, at.Date, at.Time, occupied))
			if !slices.EqualFunc(want, got, sameAssignment) {
				t.Fatalf("assignments for %s %s (-oracle +engine):\n%s", at.Date, at.Time, gocmp.Diff(want, got))
			}
			if !b.hasDate(at.Date) {
				continue // Explain answers no_such_time for a date that the clock skips
			}
			if reason := Explain(offer, q.Question, at.Date, at.Time, occupied); (reason == nil) != (len(want) > 0) {
				t.Fatalf("%s %s has %d assignments, and the reason %+v", at.Date, at.Time, len(want), reason)
			}
		}
	}
}

// hasDate reports whether the clock shows the date at all. Pacific/Apia skipped 2011-12-30.
func (b business) hasDate(d timespan.Date) bool {
	return b.table.shown[b.table.minuteOf(d, 12*60)]/1440 == int(d)
}

func sameAssignment(a, b oracleAssignment) bool {
	return a.Staff == b.Staff && a.Location == b.Location && a.Session == b.Session && a.From == b.From && a.To == b.To &&
		slices.Equal(a.Occupied, b.Occupied)
}

func expandPlaces(b business, assignments []availability.Assignment) []oracleAssignment {
	o := &oracle{clockTable: b.table}
	expanded := o.expandAssignments(assignments)
	for i, a := range assignments {
		if a.LocationID != nil {
			expanded[i].Location = *a.LocationID
		}
	}
	return expanded
}

// cutPlaces is [cutOccupied] for occupied time with locations, of which each entry has one span.
func cutPlaces(occupied booking.Occupied, reach timespan.Span) booking.Occupied {
	var kept booking.Occupied
	for _, b := range occupied.Busy {
		if b.CapacityUnit > 0 {
			kept.Busy = append(kept.Busy, cutOccupied(booking.Occupied{Busy: []booking.Busy{b}}, reach).Busy...)
		} else if b.Spans()[0].Overlaps(reach) {
			kept.Busy = append(kept.Busy, b)
		}
	}
	return kept
}

// TestStaffNeverBookedAtTwoLocationsWithinChangeTime books random listed starts one after another. The services of
// two bookings of a member at different locations are then apart by the change time, and no occupied times overlap.
// The starts are in one week around a change of the clock. In half of the cases they are on two
// dates of this week, so that many bookings are close to each other.
func TestStaffNeverBookedAtTwoLocationsWithinChangeTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, offer, q, _, _ := drawPlaces(rapid.Uint64().Draw(t, "seed"))
		if q.Services[0].IsClass() {
			return
		}
		q.Now = time.Unix(b.table.start, 0)
		const days, bookings = 7, 30
		q.From, q.To = b.base-days/2, b.base+days/2
		if b.chance(2) {
			q.From, q.To = b.base, b.base+1
		}
		var made []sale
		for range bookings {
			if next, ok := b.bookOne(t, offer, q.Question, made); ok {
				made = append(made, next...)
			}
		}
		for i, x := range made {
			for _, y := range made[:i] {
				checkApart(t, offer, x, y)
			}
		}
	})
}

// bookOne books a random listed start at one of its assignments, and returns the time of each staff member.
func (b business) bookOne(t *rapid.T, offer *catalog.Snapshot, q Question, made []sale) ([]sale, bool) {
	var occupied booking.Occupied
	for _, s := range made {
		occupied.Busy = append(occupied.Busy, s.toBusy(b.table.start))
	}
	if q.LocationID = nil; b.chance(2) {
		q.LocationID = &offer.Locations[b.IntN(len(offer.Locations))].ID
	}
	found := Find(offer, q, occupied)
	var slots []Slot
	for d := q.From; d <= q.To; d++ {
		slots = found.AppendSlots(slots, d)
	}
	if len(slots) == 0 {
		return nil, false
	}
	s := slots[b.IntN(len(slots))]
	assignments := FindAssignments(offer, q, s.Date, s.Time, occupied)
	if len(assignments) == 0 {
		t.Fatalf("the listed start %s %s has no assignment", s.Date, s.Time)
	}
	a := assignments[b.IntN(len(assignments))]
	var added []sale
	for _, p := range a.Parts {
		served := a.Served(p)
		minute := func(at int64) int { return int((at - b.table.start) / 60) }
		if p.Resource.CapacityUnit == 0 {
			added = append(added, sale{
				member: p.Resource.ID, location: *a.LocationID, from: minute(served.Start), to: minute(served.End),
				before: int(served.Start-p.Occupies.Start) / 60, after: int(p.Occupies.End-served.End) / 60,
				change: offer.Bookings.LocationChangeMinutes,
			})
		}
	}
	return added, true
}

func checkApart(t *rapid.T, offer *catalog.Snapshot, x, y sale) {
	if x.member != y.member {
		return
	}
	if x.from > y.from {
		x, y = y, x
	}
	if x.to+x.after > y.from-y.before {
		t.Fatalf("the occupied times of %+v and %+v overlap", x, y)
	}
	if x.location != y.location && y.from-x.to < offer.Bookings.LocationChangeMinutes {
		t.Fatalf("%+v and %+v are at two locations within the change time", x, y)
	}
}

// newTwoPlaces returns a business with two places that are open from 9 to 17. Anna works on Mondays
// at the first place, on Fridays at the second, and on Wednesdays at both.
func newTwoPlaces(t *testing.T) (*catalog.Snapshot, Question) {
	t.Helper()
	var open, here, there catalog.WeekHours
	work := []timespan.Window{{From: 9 * 60, To: 17 * 60}}
	for d := range open {
		open[d] = work
	}
	here[time.Monday], there[time.Friday] = work, work
	here[time.Wednesday], there[time.Wednesday] = work, work
	offer := &catalog.Snapshot{
		Timezone: "Europe/Lisbon", Currency: "EUR", Hours: open, Modules: catalog.Modules{Services: true},
		Bookings: catalog.Bookings{AdvanceDays: 60, LocationChangeMinutes: 30},
		Locations: []catalog.Location{{ID: uuid.UUID{1}, Kind: catalog.KindPlace},
			{ID: uuid.UUID{2}, Kind: catalog.KindPlace}},
		Staff: []catalog.Staff{{ID: uuid.UUID{9}, Name: "Anna", Active: true, At: []catalog.StaffLocation{
			{LocationID: uuid.UUID{1}, Hours: here}, {LocationID: uuid.UUID{2}, Hours: there}}}},
		Services: []catalog.Service{{ID: uuid.UUID{8}, Name: "Cut", Active: true, DurationMinutes: 60,
			SlotIntervalMinutes: 30, BufferAfterMinutes: 10, StaffIDs: []uuid.UUID{{9}}}},
	}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	monday := timespan.NewDate(2027, time.March, 1)
	return offer, Question{Services: []*catalog.Service{&offer.Services[0]}, From: monday, To: monday + 6,
		Now: time.Unix(timespan.Instant(monday-1, 0, offer.Location()), 0)}
}

func TestStaffWorkAtOnePlaceOnMondayAndAnotherOnFriday(t *testing.T) {
	t.Parallel()
	offer, q := newTwoPlaces(t)
	counts := func(location *uuid.UUID) [7]int {
		var week [7]int
		q.LocationID = location
		Find(offer, q, booking.Occupied{}).EachDay(q.From, q.To, func(d timespan.Date, n int) { week[d-q.From] = n })
		return week
	}
	const all = 15 // from 9:00 to 16:00, every 30 minutes
	for name, c := range map[string]struct {
		location *uuid.UUID
		want     [7]int
	}{
		"the first place": {&uuid.UUID{1}, [7]int{0: all, 2: all}}, "the second place": {&uuid.UUID{2}, [7]int{2: all, 4: all}},
		"any place": {nil, [7]int{0: all, 2: all, 4: all}},
	} {
		if got := counts(c.location); got != c.want {
			t.Errorf("%s: %v starts by day, want %v", name, got, c.want)
		}
	}
	q.ExcludedLocationIDs = []uuid.UUID{{1}}
	if got, want := counts(nil), ([7]int{2: all, 4: all}); got != want {
		t.Errorf("without the first place: %v starts by day, want %v", got, want)
	}
	if got := counts(&uuid.UUID{1}); got != [7]int{} {
		t.Errorf("at the excluded place: %v starts by day", got)
	}
}

// TestLongerOfBuffersAndChangeTimeCounts books Anna on a Wednesday from 12:00 to 13:00 at the second place. The next
// start at the first place is at 13:30: the change time of 30 minutes counts, not also the buffer of 10 minutes.
func TestLongerOfBuffersAndChangeTimeCounts(t *testing.T) {
	t.Parallel()
	offer, q := newTwoPlaces(t)
	wednesday := q.From + 2
	noon := timespan.Instant(wednesday, 12*60, offer.Location())
	occupied := booking.Occupied{Busy: []booking.Busy{{
		Resource: booking.Resource{ID: uuid.UUID{9}}, LocationID: uuid.UUID{2}, ChangeMinutes: 15,
		Edges: []int64{noon, noon + 70*60}, Served: []int64{noon, noon + 60*60},
	}}}
	isFree := func(location byte, hour, minutes timespan.TimeOfDay) bool {
		q.LocationID = &uuid.UUID{location}
		return len(FindAssignments(offer, q, wednesday, hour*60+minutes, occupied)) > 0
	}
	for name, c := range map[string]struct {
		change, after int
		want          [4]bool // 10:30 and 11:00 and 13:00 and 13:30 at the first place
	}{
		"the change time is longer": {30, 10, [4]bool{true, false, false, true}},
		"the change time grew":      {60, 10, [4]bool{false, false, false, false}},
		"the buffer is longer":      {0, 30, [4]bool{true, false, false, true}},
	} {
		offer.Bookings.LocationChangeMinutes, offer.Services[0].BufferAfterMinutes = c.change, c.after
		got := [4]bool{isFree(1, 10, 30), isFree(1, 11, 0), isFree(1, 13, 0), isFree(1, 13, 30)}
		if got != c.want {
			t.Errorf("%s: free at 10:30, 11:00, 13:00, 13:30: %v, want %v", name, got, c.want)
		}
	}
	offer.Bookings.LocationChangeMinutes, offer.Services[0].BufferAfterMinutes = 30, 0
	if !isFree(2, 11, 0) || isFree(2, 13, 0) || !isFree(2, 13, 30) {
		t.Error("at the place of the booking, only the buffers count")
	}
	occupied.Busy[0].LocationID = uuid.Nil
	if isFree(2, 11, 0) || !isFree(1, 11, 0) {
		t.Error("a booking without a location is not at the first place")
	}
}

func TestConflictsNameRemovedLocation(t *testing.T) {
	t.Parallel()
	offer, q := newTwoPlaces(t)
	held := availability.FutureBooking{
		StartsAt: timespan.Instant(q.From, 10*60, offer.Location()), StaffID: &uuid.UUID{9},
		Services:   []availability.FutureService{{ID: uuid.UUID{8}, Name: "Cut", DurationMinutes: 60}},
		LocationID: &uuid.UUID{1}, LocationName: "Harbour",
	}
	find := func() *availability.Reason {
		return NewConflictChecker(offer, []availability.FutureBooking{held}).FindReason(&held)
	}
	if reason := find(); reason != nil {
		t.Errorf("the booking conflicts with its own offer: %+v", reason)
	}
	held.LocationID = &uuid.UUID{2}
	if reason := find(); reason == nil || reason.Rule != availability.RuleClosed {
		t.Errorf("on Monday at the second place: %+v, want closed", reason)
	}
	held.LocationID = &uuid.UUID{3}
	if reason := find(); reason == nil || reason.Rule != availability.RuleRemoved || reason.Name != "Harbour" {
		t.Errorf("at a removed location: %+v, want removed, Harbour", reason)
	}
	held.LocationID, offer.Services[0].LocationIDs = &uuid.UUID{1}, []uuid.UUID{{2}}
	if reason := find(); reason == nil || reason.Rule != availability.RuleNotPerformed {
		t.Errorf("at a location that the service no longer has: %+v, want not_performed", reason)
	}
}
