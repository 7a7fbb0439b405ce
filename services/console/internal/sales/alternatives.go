package sales

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Start is a free time to which a booking can move.
type Start struct {
	Date      timespan.Date      `json:"date"`
	Time      timespan.TimeOfDay `json:"time"`
	StaffID   *uuid.UUID         `json:"staff_id,omitempty"` // nil: the booking service chooses the member
	StaffName string             `json:"staff_name,omitempty"`
	SessionID *uuid.UUID         `json:"class_schedule_id,omitempty"` // set for a class session
}

// Reschedule returns the request that moves a booking to the start.
func (s Start) Reschedule() booking.Reschedule {
	text := func(id *uuid.UUID) *string {
		if id == nil {
			return nil
		}
		written := id.String()
		return &written
	}
	return booking.Reschedule{Date: s.Date.String(), Time: s.Time.String(), StaffID: text(s.StaffID),
		ClassScheduleID: text(s.SessionID)}
}

const (
	maxStarts       = 5  // maximum number of starts that FindStarts returns
	maxStartDates   = 3  // maximum number of dates whose starts FindStarts reads
	startDaysBefore = 7  // number of days before a booking that FindStarts searches
	startDaysAfter  = 21 // number of days after a booking that FindStarts searches
)

// FindStarts returns free starts to which a booking can move, with members who can serve it. Starts at the present time
// with other members come first, then the starts on the nearest dates, on each date the nearest times of day first. The list is empty if there is no
// free start within three weeks, or if the services are no longer offered. Fault: service_unavailable.
func (o *UseCases) FindStarts(ctx context.Context, business *catalog.Snapshot, b *booking.Booking) ([]Start, error) {
	starts, err := o.findSubstitutes(ctx, business, b)
	if err != nil || len(starts) >= maxStarts {
		return starts[:min(len(starts), maxStarts)], err
	}
	query := newStartsQuery(business, b)
	date, clock := splitStart(b, business)
	dates, err := o.findStartDates(ctx, business, date, query)
	if err != nil {
		return nil, err
	}
	var nearest []Start
	for _, d := range dates {
		query.Set("date", d.String())
		list, err := availability.NewClient(o.Availability).Slots(ctx, business.Slug, query)
		if err = cmp.Or(err, checkComputed(err == nil && list.Computed)); err != nil {
			return nil, err
		}
		for _, slot := range list.Slots {
			nearest = append(nearest, newStart(slot))
		}
		if len(nearest) >= maxStarts {
			break
		}
	}
	slices.SortStableFunc(nearest, func(x, y Start) int {
		return cmp.Or(cmp.Compare(abs(x.Date-date), abs(y.Date-date)),
			cmp.Compare(abs(x.Time-clock), abs(y.Time-clock)))
	})
	for _, s := range nearest {
		isKnown := slices.ContainsFunc(starts, func(known Start) bool {
			return known.Date == s.Date && known.Time == s.Time
		})
		if isPresent := s.Date == date && s.Time == clock && s.keeps(b); !isKnown && !isPresent {
			starts = append(starts, s)
		}
	}
	return starts[:min(len(starts), maxStarts)], nil
}

// findSubstitutes returns the start of a booking with each other member who is free then.
func (o *UseCases) findSubstitutes(ctx context.Context, business *catalog.Snapshot,
	b *booking.Booking) ([]Start, error) {
	if b.StaffID == nil || b.ClassScheduleID != nil || b.IsPackage {
		return nil, nil
	}
	date, clock := splitStart(b, business)
	question := availability.Question{Date: date, Time: clock, Variants: map[uuid.UUID]uuid.UUID{}, Override: true}
	for _, s := range b.Services {
		question.ServiceIDs = append(question.ServiceIDs, s.ID)
		if s.VariantID != uuid.Nil {
			question.Variants[s.ID] = s.VariantID
		}
	}
	question.LocationID = findLocation(business, b)
	explanation, err := availability.ExplainStart.Call(ctx, o.Availability,
		availability.ExplainRequest{Slug: business.Slug, OfferVersion: business.Version, Question: question})
	if isNotOffered(err) {
		return nil, nil
	}
	if err = cmp.Or(err, checkComputed(err == nil && explanation.Computed)); err != nil {
		return nil, err
	}
	var starts []Start
	for _, m := range explanation.Staff {
		if m.Bookable && m.StaffID != *b.StaffID {
			starts = append(starts, Start{Date: question.Date, Time: question.Time, StaffID: &m.StaffID,
				StaffName: m.Name})
		}
	}
	return starts, nil
}

// findStartDates returns the dates with free starts that are nearest to the given date, the nearest first.
func (o *UseCases) findStartDates(ctx context.Context, business *catalog.Snapshot, date timespan.Date,
	query url.Values) ([]timespan.Date, error) {
	query.Set("start", max(date-startDaysBefore, business.Today(o.Clock.Now())).String())
	query.Set("end", (date + startDaysAfter).String())
	answer, err := availability.NewClient(o.Availability).AvailableDates(ctx, business.Slug, query)
	if isNotOffered(err) {
		return nil, nil
	}
	if err = cmp.Or(err, checkComputed(err == nil && answer.Computed)); err != nil {
		return nil, err
	}
	var dates []timespan.Date
	for d, n := range answer.Days {
		if n > 0 {
			dates = append(dates, d)
		}
	}
	slices.SortFunc(dates, func(x, y timespan.Date) int {
		return cmp.Or(cmp.Compare(abs(x-date), abs(y-date)), cmp.Compare(y, x))
	})
	return dates[:min(len(dates), maxStartDates)], nil
}

// newStartsQuery returns the query parameters of the calendars for the starts to which a booking can move. With any
// other booking than a package, the calendar lists each start once for each free member.
func newStartsQuery(business *catalog.Snapshot, b *booking.Booking) url.Values {
	var ids, variants []string
	for _, s := range b.Services {
		ids = append(ids, s.ID.String())
		if s.VariantID != uuid.Nil {
			variants = append(variants, s.ID.String()+":"+s.VariantID.String())
		}
	}
	query := url.Values{"service_id": {strings.Join(ids, ",")}, "moving": {b.ID.String()},
		"party_size": {strconv.Itoa(b.PartySize)}}
	if len(variants) > 0 {
		query.Set("variants", strings.Join(variants, ","))
	}
	if b.IsPackage {
		query.Set("is_package", "true")
	}
	if b.IsPackage && b.StaffingMode != "" {
		query.Set("staffing_mode", b.StaffingMode)
	}
	if id := findLocation(business, b); id != nil {
		query.Set("location_id", id.String())
	}
	return query
}

// findLocation returns the location that a booking keeps when it moves, or nil for any. A booking without a stored
// location moves to the location of such bookings if its services are offered there.
func findLocation(business *catalog.Snapshot, b *booking.Booking) *uuid.UUID {
	if b.Location != nil {
		return &b.Location.ID
	}
	unstored := business.UnstoredLocation()
	if unstored == nil {
		return nil
	}
	for _, booked := range b.Services {
		s := business.Service(booked.ID)
		if s == nil || !slices.Contains(business.LocationsOf(s), unstored) {
			return nil
		}
	}
	return &unstored.ID
}

// keeps reports whether a move to the start keeps the member and the session of a booking.
func (s Start) keeps(b *booking.Booking) bool {
	isSame := func(x, y *uuid.UUID) bool { return x == nil || y != nil && *x == *y }
	return isSame(s.StaffID, b.StaffID) && isSame(s.SessionID, b.ClassScheduleID)
}

func newStart(slot publicapi.Slot) Start {
	s := Start{Date: slot.Date, Time: slot.Time, StaffID: slot.StaffID, SessionID: slot.ClassScheduleID}
	if slot.StaffName != nil {
		s.StaffName = *slot.StaffName
	}
	if s.SessionID != nil { // the session determines the member
		s.StaffID = nil
	}
	return s
}

// isNotOffered reports whether a calendar was refused because the business no longer offers the services as they were
// booked.
func isNotOffered(err error) bool {
	return fault.Is(err, fault.ServiceNotFound) || fault.Is(err, fault.LocationNotFound) ||
		fault.Is(err, fault.InvalidParameter)
}

func checkComputed(isComputed bool) error {
	if isComputed {
		return nil
	}
	return fault.New(fault.PeerUnavailable, "The free times cannot be read just now; try again shortly.")
}

// splitStart returns the date and the time of day of a booking's start, in the present time zone of the business.
func splitStart(b *booking.Booking, business *catalog.Snapshot) (timespan.Date, timespan.TimeOfDay) {
	at := b.StartsAt.In(business.Location())
	const hour = 60
	return timespan.DateOf(b.StartsAt, business.Location()), timespan.TimeOfDay(at.Hour()*hour + at.Minute())
}

func abs[N timespan.Date | timespan.TimeOfDay](n N) N { return max(n, -n) }
