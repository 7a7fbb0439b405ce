package slot

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// clockChanges contains zones, each with a date near a change of its clock.
var clockChanges = []struct{ zone, date string }{
	{"UTC", "2027-03-01"}, {"Asia/Kolkata", "2027-01-01"},
	{"Europe/Berlin", "2027-03-28"}, {"Europe/Berlin", "2027-10-31"}, {"Europe/Berlin", "2028-02-29"},
	{"America/New_York", "2027-03-14"}, {"America/New_York", "2027-11-07"},
	{"Australia/Lord_Howe", "2027-04-04"}, {"Australia/Lord_Howe", "2027-10-03"},
	{"Africa/Casablanca", "2027-02-07"}, {"Africa/Casablanca", "2027-03-14"},
	{"Pacific/Apia", "2011-12-30"}, {"Pacific/Apia", "2027-01-01"},
	{"America/Havana", "2027-03-14"}, {"America/Havana", "2027-11-07"},
	{"America/Sao_Paulo", "2018-11-04"}, {"America/Sao_Paulo", "2019-02-17"},
	{"Asia/Beirut", "2027-03-28"}, {"Asia/Beirut", "2027-10-31"},
	{"Atlantic/Azores", "2027-10-31"}, {"Pacific/Kiritimati", "2026-12-31"},
}

// business draws random businesses and questions.
type business struct {
	*rand.Rand
	table *clockTable
	base  timespan.Date
}

func newBusiness(seed uint64) business {
	b := business{Rand: rand.New(rand.NewPCG(seed, 1))}
	p := clockChanges[b.IntN(len(clockChanges))]
	base, err := timespan.ParseDate(p.date)
	if err != nil {
		panic(err)
	}
	b.base, b.table = base, findClockTable(p.zone, base)
	return b
}

func (b business) chance(n int) bool { return b.IntN(n) == 0 }

func (b business) drawID() uuid.UUID {
	var id uuid.UUID
	for i := range id {
		id[i] = byte(b.Uint32())
	}
	return id
}

func (b business) drawWindow() timespan.Window {
	if b.chance(6) {
		return timespan.Window{From: 0, To: 1440}
	}
	unit := []int{1, 15, 30, 60}[b.IntN(4)]
	from := b.IntN(1440/unit) * unit
	if b.chance(4) {
		from = 0
	}
	to := from + (1+b.IntN(600/unit))*unit
	if b.chance(5) && from < 1440 {
		to = 1440
	}
	return timespan.Window{From: timespan.TimeOfDay(from), To: timespan.TimeOfDay(min(to, from+1439))}
}

func (b business) drawWindows() []timespan.Window {
	var ws []timespan.Window
	for range max(b.IntN(5), b.IntN(4)) {
		ws = append(ws, b.drawWindow())
	}
	return ws
}

func (b business) drawWeek() catalog.WeekHours {
	var week catalog.WeekHours
	same := b.drawWindows()
	for i := range week {
		if week[i] = same; b.chance(2) {
			week[i] = b.drawWindows()
		}
	}
	return week
}

func (b business) drawOverrides() []catalog.DayOverride {
	var days []catalog.DayOverride
	for d := b.base - 3; d < b.base+6; d++ {
		if !b.chance(6) {
			continue
		}
		day := catalog.DayOverride{Date: d}
		if !b.chance(4) {
			day.Hours = b.drawWindows()
		}
		days = append(days, day)
	}
	return days
}

func (b business) drawStaff() []catalog.Staff {
	staff := make([]catalog.Staff, b.IntN(4))
	for i := range staff {
		staff[i] = catalog.Staff{ID: b.drawID(), Name: string(rune('a' + b.IntN(3))), Order: b.IntN(3),
			Active: !b.chance(6)}
		if !b.chance(3) {
			week := b.drawWeek()
			if b.chance(4) {
				week = catalog.WeekHours{}
			}
			staff[i].Hours = &week
		}
		if b.chance(2) {
			staff[i].Overrides = b.drawOverrides()
		}
	}
	slices.SortFunc(staff, func(x, y catalog.Staff) int {
		return cmp.Or(cmp.Compare(x.Order, y.Order), cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.ID.String(), y.ID.String()))
	})
	return staff
}

func (b business) drawService(staff []catalog.Staff) catalog.Service {
	s := catalog.Service{
		ID: b.drawID(), Active: true, Capacity: 1 + b.IntN(3),
		DurationMinutes:     1 + b.IntN(120),
		SlotIntervalMinutes: []int{5, 7, 15, 20, 30, 45, 60, 90}[b.IntN(8)],
	}
	if b.chance(12) {
		s.DurationMinutes = 600 + b.IntN(1200)
	}
	if b.chance(2) {
		s.BufferBeforeMinutes, s.BufferAfterMinutes = b.IntN(40), b.IntN(40)
	}
	if b.chance(3) {
		s.Variants = b.drawVariants()
	}
	if b.chance(4) {
		return s
	}
	for i := range staff {
		if !b.chance(6) {
			s.StaffIDs = append(s.StaffIDs, staff[i].ID)
		}
	}
	return s
}

func (b business) drawLocalTime() timespan.LocalDateTime {
	return timespan.LocalDateTime{Date: b.base - 2 + timespan.Date(b.IntN(6)), Time: timespan.TimeOfDay(b.IntN(1441))}
}

func (b business) drawBlocks(staff []catalog.Staff) []catalog.Block {
	var blocks []catalog.Block
	for range b.IntN(4) {
		from := b.drawLocalTime()
		to := from
		to.Time += timespan.TimeOfDay(1 + b.IntN(300))
		if to.Time > 1440 {
			to.Date, to.Time = to.Date+1, to.Time-1440
		}
		block := catalog.Block{From: from, To: to}
		for i := range staff {
			if b.chance(2) {
				block.StaffIDs = append(block.StaffIDs, staff[i].ID)
			}
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// drawEdges draws spans that do not overlap, as the exclusion constraint guarantees.
func (b business) drawEdges() []int64 {
	var edges []int64
	at := b.table.start + int64(2*1440+b.IntN(2880))*60
	for range b.IntN(8) {
		end := at + int64(1+b.IntN(400))*60
		edges = append(edges, at, end)
		at = end
		if !b.chance(4) {
			at += int64(b.IntN(1000)) * 60
		}
	}
	return edges
}

func (b business) drawOccupied(offer *catalog.Snapshot) booking.Occupied {
	var busy []booking.Busy
	for _, s := range offer.Staff {
		busy = append(busy, booking.Busy{Resource: booking.Resource{ID: s.ID}, Edges: b.drawEdges()})
		if b.chance(3) {
			busy = append(busy, booking.Busy{Resource: booking.Resource{ID: s.ID}, Class: true, Edges: b.drawEdges()})
		}
	}
	for _, s := range offer.Services {
		for unit := 1; len(s.StaffIDs) == 0 && unit <= s.Capacity+1; unit++ {
			busy = append(busy, booking.Busy{Resource: booking.Resource{ID: s.ID, CapacityUnit: unit}, Edges: b.drawEdges()})
		}
	}
	seats, held := b.drawSales(offer)
	busy = append(busy, held...)
	b.Shuffle(len(busy), func(i, j int) { busy[i], busy[j] = busy[j], busy[i] })
	return booking.Occupied{Busy: busy, Seats: seats}
}

func (b business) drawOffer() *catalog.Snapshot {
	staff := b.drawStaff()
	offer := &catalog.Snapshot{
		Timezone: b.table.loc.String(), Currency: "EUR",
		Hours: b.drawWeek(), Overrides: b.drawOverrides(), Staff: staff, Blocks: b.drawBlocks(staff),
		Bookings: catalog.Bookings{AdvanceDays: 20}, Modules: catalog.Modules{Services: true},
	}
	for range 1 + b.IntN(3) {
		offer.Services = append(offer.Services, b.drawService(staff))
	}
	for range max(0, b.IntN(4)-1) {
		offer.Services = append(offer.Services, b.drawClass(staff))
	}
	b.blockAtSessions(offer)
	if b.chance(4) {
		offer.Bookings.MinNoticeMinutes = b.IntN(130) * 15
	}
	if b.chance(3) {
		offer.Bookings.AdvanceDays = b.IntN(10)
	}
	if err := offer.Prepare(); err != nil {
		panic(err)
	}
	return offer
}

// requestedQuestion is a question as a client sends it: the ids of services and of their variants.
type requestedQuestion struct {
	Question
	ids      []uuid.UUID
	variants map[uuid.UUID]uuid.UUID
}

func (b business) drawQuestion(offer *catalog.Snapshot) requestedQuestion {
	from := b.base - 1 + timespan.Date(b.IntN(3))
	q := requestedQuestion{Question: Question{
		From: from, To: from + timespan.Date(b.IntN(3)),
		Now:       time.Unix(b.table.start+int64(b.IntN(4*86400)), int64(b.IntN(2))*1000),
		IsPackage: b.chance(3), IsPerService: b.chance(2),
	}}
	if b.chance(3) { // within the dates, on the grid, where a start is just in time or just too late
		at := b.table.start + int64(4*86400+b.IntN(3*86400))
		q.Now = time.Unix(at/900*900, int64(b.IntN(2)))
	}
	if b.chance(6) {
		id := b.drawID()
		if n := len(offer.Staff); n > 0 && !b.chance(6) {
			id = offer.Staff[b.IntN(n)].ID
		}
		q.StaffID = &id
	}
	b.chooseServices(offer, &q)
	var err error
	if q.Services, err = offer.Appointment(q.ids, q.variants); err != nil {
		panic(err)
	}
	return q
}

// chooseServices requests one class, or several other services, some as variants.
func (b business) chooseServices(offer *catalog.Snapshot, q *requestedQuestion) {
	var classes, others []*catalog.Service
	for i := range offer.Services {
		switch s := &offer.Services[i]; {
		case len(s.Classes) == 0:
			others = append(others, s)
		case s.Active:
			classes = append(classes, s)
		}
	}
	if len(classes) > 0 && b.chance(2) {
		class := classes[b.IntN(len(classes))]
		q.ids = []uuid.UUID{class.ID}
		if b.chance(4) {
			q.SessionID = &class.Classes[b.IntN(len(class.Classes))].ID
		}
		return
	}
	q.variants = map[uuid.UUID]uuid.UUID{}
	for range 1 + max(0, b.IntN(5)-2) {
		s := others[b.IntN(len(others))]
		q.ids = append(q.ids, s.ID)
		if len(s.Variants) > 0 && b.chance(2) {
			q.variants[s.ID] = s.Variants[b.IntN(len(s.Variants))].ID
		}
	}
}
