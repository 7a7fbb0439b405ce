package usecase

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Opening reports whether the business is open now. Exactly one of Until and Next is set.
type Opening struct {
	Until time.Time // the end of the current opening hours; zero if the business is closed now
	Next  time.Time // the next start of opening hours; zero if the business is open now
}

// maxOpeningDays is the number of future days in which [Business.Opening] looks for a change.
const maxOpeningDays = 14

// HasOwnHours reports whether one of several places has its own hours, so that no hours are valid for all places.
func (b *Business) HasOwnHours() bool {
	places, isOwn := 0, false
	for i := range b.Snapshot.Locations {
		if l := &b.Snapshot.Locations[i]; l.Kind == catalog.KindPlace {
			places, isOwn = places+1, isOwn || l.Hours != nil || len(l.Overrides) > 0
		}
	}
	return places > 1 && isOwn
}

// Opening returns until when a location is open now, or when it opens next. Opening considers the opening hours, the
// overrides and the blocks of the whole business. It returns nil if the location has no opening hours or the business
// is not open for bookings yet. It also returns nil if the location does not open or close within the next 14 days.
// The argument `at` is nil for a business without locations.
func (b *Business) Opening(at *catalog.Location) *Opening {
	if b.Snapshot.NotYetOpen {
		return nil
	}
	zone, today, now := b.Snapshot.Location(), b.Today(), b.Now.Unix()
	var open, blocked []timespan.Span
	for d := today - 1; d <= today+maxOpeningDays; d++ {
		for _, w := range b.Snapshot.OpeningOn(at, d) {
			open = append(open, timespan.Span{Start: timespan.Instant(d, w.From, zone),
				End: timespan.Instant(d, w.To, zone)})
		}
	}
	for _, block := range b.Snapshot.Blocks {
		if len(block.StaffIDs) == 0 {
			blocked = append(blocked, timespan.Span{Start: timespan.Instant(block.From.Date, block.From.Time, zone),
				End: timespan.Instant(block.To.Date, block.To.Time, zone)})
		}
	}
	horizon := timespan.Instant(today+maxOpeningDays, 0, zone)
	for _, span := range timespan.Subtract(nil, timespan.Normalize(open), timespan.Normalize(blocked)) {
		switch {
		case span.End <= now:
		case span.Start <= now && span.End < horizon:
			return &Opening{Until: time.Unix(span.End, 0).In(zone)}
		case span.Start > now:
			return &Opening{Next: time.Unix(span.Start, 0).In(zone)}
		default:
			return nil
		}
	}
	return nil
}

// DayHours are the opening hours on one date.
type DayHours struct {
	Date    timespan.Date
	Windows []timespan.Window // empty if the business is closed
}

// Week returns the opening hours of a location today and on the next six dates, in the order of a week that starts on
// the weekday `first`. It returns nil if the location has no opening hours on these dates. The
// argument `at` is nil for a business without locations.
func (b *Business) Week(at *catalog.Location, first time.Weekday) []DayHours {
	week, today, hasHours := make([]DayHours, 7), b.Today(), false
	for d := today; d < today+7; d++ {
		windows := b.Snapshot.OpeningOn(at, d)
		week[(int(d.Weekday())-int(first)+7)%7] = DayHours{d, windows}
		hasHours = hasHours || len(windows) > 0
	}
	if !hasHours {
		return nil
	}
	return week
}

// ClassStart is one occurrence of a class session: the session on one date.
type ClassStart struct {
	Service  *Service
	Date     timespan.Date
	Time     timespan.TimeOfDay
	Staff    *catalog.Staff // nil if the session names no staff member
	Session  uuid.UUID
	Location *catalog.Location // nil if all customers of the business come to one place
}

// ClassStarts returns the class sessions of the given services that start from now until the end of the sixth date
// after today, in ascending order. It leaves out sessions on closed dates and sessions in blocked times.
func (b *Business) ClassStarts(services []*Service) []ClassStart {
	var all []ClassStart
	zone, today := b.Snapshot.Location(), b.Today()
	for _, shown := range services {
		s := b.Snapshot.Service(shown.ID)
		if s == nil {
			continue
		}
		for d := today; d < today+7; d++ {
			for i := range s.Classes {
				c := &s.Classes[i]
				start := timespan.Instant(d, c.Time, zone)
				during := timespan.Span{Start: start, End: start + int64(s.DurationMinutes)*60}
				if start < b.Now.Unix() || !b.Snapshot.HoldsSession(s.ID, c.ID, during, zone) {
					continue
				}
				session := ClassStart{Service: shown, Date: d, Time: c.Time, Session: c.ID}
				if c.StaffID != nil {
					session.Staff = b.Snapshot.StaffMember(*c.StaffID)
				}
				if b.Snapshot.HasLocations() {
					session.Location = b.Snapshot.SessionLocation(s, c)
				}
				all = append(all, session)
			}
		}
	}
	slices.SortStableFunc(all, func(x, y ClassStart) int {
		return int(x.Date-y.Date)*timespan.MinutesPerDay + int(x.Time-y.Time)
	})
	return all
}

// Performers returns the names of the active staff members who perform a service. The names are in the language of the
// business that is nearest to `language`.
func (b *Business) Performers(service uuid.UUID, language string) []string {
	s := b.Snapshot.Service(service)
	if s == nil {
		return nil
	}
	var names []string
	for i := range b.Snapshot.Staff {
		m := &b.Snapshot.Staff[i]
		if m.Active && slices.Contains(s.StaffIDs, m.ID) {
			names = append(names, b.Snapshot.MemberName(&m.ID, m.Name, b.Language(language)))
		}
	}
	return names
}
