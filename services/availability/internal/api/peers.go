package api

import (
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// MountForPeers adds both calendars to the internal port, below /internal, for the MCP server. There are no limits by
// address: whom such a request is for, and whether that one has had its share, is settled before it comes here.
func (p *Public) MountForPeers(router fiber.Router) {
	business := router.Group("/internal/api/public/:slug")
	business.Get("/slots", p.slotsForPeers)
	business.Get("/available-dates", p.dates)
}

// slotsForPeers answers /slots in columns where they are asked for, else as to everyone.
func (p *Public) slotsForPeers(c *fiber.Ctx) error {
	if c.Get(fiber.HeaderAccept) != availability.SlotsType {
		return p.slots(c)
	}
	return p.calendar(c, parseSlots, sendColumns)
}

func sendColumns(c *fiber.Ctx, a answer, q query) error {
	l := lists.Get().(*list)
	defer l.free()
	if a.computed {
		l.slots = a.openings.AppendOn(l.slots, q.From)
	}
	body := bodies.Get().(*[]byte)
	defer bodies.Put(body)
	columns := a.columns(q.From, l.slots)
	var err error
	if *body, err = columns.AppendJSON((*body)[:0]); err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, availability.SlotsType)
	c.Context().Response.SetBody(*body)
	return nil
}

// columns says of a date what appendSlots says.
func (a answer) columns(d timespan.Date, slots []slot.Slot) availability.Slots {
	s := availability.Slots{Computed: a.computed, Timezone: a.timezone, Date: d, Staff: []availability.Member{}}
	n := len(slots)
	numbers := make([]int32, 3*n) // one array for the columns that there are always
	s.Starts, s.Ends, s.Members = numbers[:n:n], numbers[n:2*n:2*n], numbers[2*n:]
	members := map[*catalog.Staff]int32{nil: -1}
	for i := range slots {
		of := &slots[i]
		s.Starts[i] = int32(of.Time) + timespan.MinutesPerDay*int32(of.DateOffset)
		s.Ends[i] = int32(of.End)
		member, known := members[of.Staff]
		if !known {
			member = int32(len(s.Staff))
			members[of.Staff] = member
			s.Staff = append(s.Staff, availability.Member{ID: of.Staff.ID, Name: of.Staff.Name})
		}
		s.Members[i] = member
		if of.Session != nil {
			addSession(&s, of.Session.ID, of.Remaining)
		}
	}
	return s
}

// addSession adds a class session, of which a date has few.
func addSession(s *availability.Slots, id uuid.UUID, remaining int32) {
	at := slices.Index(s.Sessions, id)
	if at < 0 {
		at, s.Sessions = len(s.Sessions), append(s.Sessions, id)
	}
	s.SessionOf, s.Remaining = append(s.SessionOf, int32(at)), append(s.Remaining, remaining)
}
