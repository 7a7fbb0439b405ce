// Package calendar renders bookings as text/calendar: a feed of many bookings for the business and its staff, or one
// booking or order of tickets for its customer (lifecycle.md §2). The package is pure: it does no input or output.
//
// In a feed, all bookings of a class session are one entry. The reason is that the staff member who gives the
// session has one appointment at that time. If the feed shows names, the entry contains the number of guests.
package calendar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/venue"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Feed describes a calendar feed of a business and how the feed shows bookings.
type Feed struct {
	Name   string // the name of the business
	Member string // the name of the staff member whose bookings the feed contains; "" for a feed of all staff members
	// ShowsNames is true if entries show services, customers and locations. Otherwise
	// entries show only their times and the name of the business.
	ShowsNames bool
	Refresh    time.Duration
	Offer      *catalog.Snapshot // contains the addresses of the locations
}

// Render returns a feed as text/calendar. The argument `entries` must not contain cancelled bookings.
func Render(f Feed, entries []store.FeedEntry) ([]byte, error) {
	c := ical.Calendar{Method: ical.Publish, Name: f.Name, Refresh: f.Refresh,
		Events: make([]ical.Event, 0, len(entries))}
	if f.Member != "" {
		c.Name = f.Name + " · " + f.Member
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b store.FeedEntry) int {
		return cmp.Or(a.StartsAt.Compare(b.StartsAt), slices.Compare(a.ID[:], b.ID[:]))
	})
	booked, places := map[booking.Occurrence][]store.FeedEntry{}, map[booking.Occurrence]int{}
	for _, e := range entries {
		if e.SessionID == nil {
			c.Events = append(c.Events, f.newAppointment(e))
			continue
		}
		o := booking.Occurrence{SessionID: *e.SessionID, StartsAt: e.StartsAt.Unix()}
		if _, isKnown := places[o]; !isKnown {
			places[o] = len(c.Events)
			c.Events = append(c.Events, ical.Event{})
		}
		booked[o] = append(booked[o], e)
	}
	for o, at := range places {
		c.Events[at] = f.newClassEvent(o, booked[o])
	}
	return c.Write()
}

func (f Feed) newAppointment(e store.FeedEntry) ical.Event {
	event := ical.Event{
		UID: e.ID.String(), Sequence: e.Sequence, Stamp: e.UpdatedAt, Start: e.StartsAt, End: e.EndsAt,
		Status: ical.Confirmed, Summary: f.Name,
	}
	if e.Status == state.Pending {
		event.Status = ical.Tentative
	}
	if !f.ShowsNames {
		return event
	}
	event.Summary = joinNonEmpty(" · ", joinServices(e.Services), formatParty(e.CustomerName, e.PartySize))
	if f.Member == "" && e.StaffName != nil {
		event.Description = *e.StaffName
	}
	f.setLocation(&event, e.Location, e.Address)
	return event
}

// setLocation writes the location of a booking into its entry. The argument `address` is the
// customer's address, or nil. The entry contains no link to an online meeting, because each booking of a class session has its own link.
func (f Feed) setLocation(event *ical.Event, at *store.Location, address *booking.CustomerAddress) {
	if at == nil {
		return
	}
	b := venue.Booked{ID: at.ID, Name: at.Name}
	if address != nil {
		b.Address = address.Address
	}
	venue.SetBooked(event, f.Offer, b, f.Offer.DefaultLanguage)
}

// newClassEvent returns the one calendar entry of a class session. The argument `booked` contains all bookings of the
// session. The entry is confirmed even if some bookings are pending, because the session takes place in any case.
func (f Feed) newClassEvent(o booking.Occurrence, booked []store.FeedEntry) ical.Event {
	event := ical.Event{
		// The UID must stay the same as long as the session has this start.
		UID:   fmt.Sprintf("%s-%d", o.SessionID, o.StartsAt),
		Start: booked[0].StartsAt, End: booked[0].EndsAt, Status: ical.Confirmed, Summary: f.Name,
	}
	people, lines := 0, make([]string, 0, len(booked)+1)
	if f.Member == "" && booked[0].StaffName != nil {
		lines = append(lines, *booked[0].StaffName)
	}
	for _, e := range booked {
		people += e.PartySize
		if e.UpdatedAt.After(event.Stamp) {
			event.Stamp = e.UpdatedAt
		}
		if e.EndsAt.After(event.End) {
			event.End = e.EndsAt
		}
		lines = append(lines, formatParty(e.CustomerName, e.PartySize))
	}
	if f.ShowsNames {
		event.Summary = fmt.Sprintf("%s (%d)", joinServices(booked[0].Services), people)
		event.Description = joinNonEmpty("\n", lines...)
		f.setLocation(&event, booked[0].Location, nil)
	}
	return event
}

func joinServices(services []store.SoldService) string {
	names := make([]string, len(services))
	for i, s := range services {
		names[i] = s.Name
		if s.VariantName != "" {
			names[i] += " (" + s.VariantName + ")"
		}
	}
	return store.AddPackageName(services, strings.Join(names, ", "))
}

// formatParty returns the name of the customer. If the party is larger than one person, the
// party size follows in parentheses. The name of an anonymized customer is empty.
func formatParty(name string, size int) string {
	if size == 1 {
		return name
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%d)", name, size))
}

// joinNonEmpty joins the elements of `parts` that are not empty. The argument `by` is the separator.
func joinNonEmpty(by string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), by)
}
