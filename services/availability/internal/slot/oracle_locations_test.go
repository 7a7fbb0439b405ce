package slot

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The rules of places.md for the oracle, minute by minute.

// placeWindows returns the windows of the location on a date: those of the location where it has
// some, otherwise those of the business. A business that is closed on the date closes the location.
func (o *oracle) placeWindows(d timespan.Date) []timespan.Window {
	for _, v := range o.place.Overrides {
		if v.Date == d {
			return v.Hours
		}
	}
	for _, v := range o.offer.Overrides {
		if v.Date == d && (len(v.Hours) == 0 || o.place.Hours == nil) {
			return v.Hours
		}
	}
	if o.place.Hours != nil {
		return o.place.Hours[d.Weekday()]
	}
	return o.offer.Hours[d.Weekday()]
}

// windowsAt returns the windows of a member who has hours for single locations.
func (o *oracle) windowsAt(s *catalog.Staff, d timespan.Date) []timespan.Window {
	var here []timespan.Window
	worksHere, worksThatDay := false, false
	for _, at := range s.At {
		worksThatDay = worksThatDay || len(at.Hours[d.Weekday()]) > 0
		if at.LocationID == o.place.ID {
			here, worksHere = at.Hours[d.Weekday()], true
		}
	}
	for _, v := range s.Overrides {
		if v.Date != d {
			continue
		}
		if worksHere && (len(here) > 0 || !worksThatDay) {
			return v.Hours
		}
		return nil
	}
	return here
}

func (o *oracle) travelMinutes() int {
	if o.place == nil {
		return 0
	}
	return o.place.TravelMinutes
}

// repaintOpen marks the opening time again, after the location was set.
func (o *oracle) repaintOpen() {
	if o.isClassQuestion() {
		return
	}
	clear(o.open)
	for _, d := range o.listDates() {
		for _, w := range o.businessWindows(d) {
			o.paint(o.open, o.minuteOf(d, w.From), o.minuteOf(d, w.To))
		}
	}
}

// paintAway marks when a member cannot serve at the location because of bookings and sessions at other locations.
func (o *oracle) paintAway(s *catalog.Staff) minutes {
	if m, ok := o.away[s.ID]; ok {
		return m
	}
	m := make(minutes, len(o.shown))
	for _, sold := range o.sales {
		if sold.member == s.ID && o.placeOf(sold) != o.place.ID {
			from, to := sold.servedMinutes()
			change := max(sold.change, o.offer.Bookings.LocationChangeMinutes)
			o.paint(m, from-change, to+change)
		}
	}
	for i := range o.offer.Services {
		v := &o.offer.Services[i]
		for j := range v.Classes {
			c := &v.Classes[j]
			if !v.Active || c.StaffID == nil || *c.StaffID != s.ID || o.sessionPlace(v, c).ID == o.place.ID {
				continue
			}
			for _, d := range o.listDates() {
				if o.takesPlace(v, c, d) {
					start, change := o.minuteOf(d, c.Time), o.offer.Bookings.LocationChangeMinutes
					o.paint(m, start-change, start+v.DurationMinutes+change)
				}
			}
		}
	}
	if o.away == nil {
		o.away = map[uuid.UUID]minutes{}
	}
	o.away[s.ID] = m
	return m
}

// isMemberAway reports whether an appointment of the member at another location is too
// close to the minutes from..to at the given location.
func (o *oracle) isMemberAway(member uuid.UUID, place *catalog.Location, from, to int) bool {
	for _, sold := range o.sales {
		if sold.member != member || sold.isClass || o.placeOf(sold) == place.ID {
			continue
		}
		soldFrom, soldTo := sold.servedMinutes()
		change := max(sold.change, o.offer.Bookings.LocationChangeMinutes)
		for i := from; i < to; i++ {
			if soldFrom-change <= i && i < soldTo+change {
				return true
			}
		}
	}
	return false
}

func (o *oracle) placeOf(s sale) uuid.UUID {
	if s.location == uuid.Nil {
		return o.offer.Locations[0].ID
	}
	return s.location
}

// servedMinutes returns the time of the services or, if it is unknown, of the services with their buffers.
func (s sale) servedMinutes() (int, int) {
	if s.isUnknown {
		return s.from - s.before, s.to + s.after
	}
	return s.from, s.to
}

// sessionPlace returns the location of a session: its own, or the first of its class.
func (o *oracle) sessionPlace(v *catalog.Service, c *catalog.ClassSession) *catalog.Location {
	if len(o.offer.Locations) == 0 {
		return nil
	}
	if c.LocationID != nil {
		return findPlace(o.offer, *c.LocationID)
	}
	return findPlace(o.offer, offeredAt(o.offer, v.ID)[0])
}

func (o *oracle) sessionBuffers(v *catalog.Service, c *catalog.ClassSession) (int, int) {
	if l := o.sessionPlace(v, c); l != nil {
		return max(v.BufferBeforeMinutes, l.TravelMinutes), max(v.BufferAfterMinutes, l.TravelMinutes)
	}
	return v.BufferBeforeMinutes, v.BufferAfterMinutes
}

// isClosed reports whether an override closes the location of the session, or the business, on a date.
func (o *oracle) isClosed(v *catalog.Service, c *catalog.ClassSession, d timespan.Date) bool {
	if l := o.sessionPlace(v, c); l != nil {
		for _, own := range l.Overrides {
			if own.Date == d {
				return len(own.Hours) == 0
			}
		}
	}
	for _, own := range o.offer.Overrides {
		if own.Date == d && len(own.Hours) == 0 {
			return true
		}
	}
	return false
}
