// Package calendar writes bookings as calendars (lifecycle.md §2): what a feed shows of many, to those who serve them. It is pure.
//
// A class session is one entry, however many have booked it: who gives it has one appointment then, and wants to know how many come.
package calendar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/ical"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Feed says how bookings are shown.
type Feed struct {
	Name    string // of the business
	Member  string // whose bookings they are, "" those of all
	Names   bool   // what and who, too; else the times alone, each by the business's name
	Refresh time.Duration
}

// Of writes the calendar of these bookings, of which none is cancelled.
func Of(f Feed, entries []store.FeedEntry) ([]byte, error) {
	c := ical.Calendar{Method: ical.Publish, Name: f.Name, Refresh: f.Refresh, Events: make([]ical.Event, 0, len(entries))}
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
			c.Events = append(c.Events, f.appointment(e))
			continue
		}
		o := booking.Occurrence{SessionID: *e.SessionID, StartsAt: e.StartsAt.Unix()}
		if _, known := places[o]; !known {
			places[o] = len(c.Events)
			c.Events = append(c.Events, ical.Event{})
		}
		booked[o] = append(booked[o], e)
	}
	for o, at := range places {
		c.Events[at] = f.class(o, booked[o])
	}
	return c.Write()
}

func (f Feed) appointment(e store.FeedEntry) ical.Event {
	event := ical.Event{
		UID: e.ID.String(), Sequence: e.Sequence, Stamp: e.UpdatedAt, Start: e.StartsAt, End: e.EndsAt, Status: ical.Confirmed, Summary: f.Name,
	}
	if e.Status == state.Pending {
		event.Status = ical.Tentative
	}
	if !f.Names {
		return event
	}
	event.Summary = joined(" · ", services(e), party(e.CustomerName, e.PartySize))
	if f.Member == "" && e.StaffName != nil {
		event.Description = *e.StaffName
	}
	return event
}

// class is a session with all who have booked it. It has taken place, or will, whoever of them is confirmed yet.
func (f Feed) class(o booking.Occurrence, booked []store.FeedEntry) ical.Event {
	event := ical.Event{
		UID:   fmt.Sprintf("%s-%d", o.SessionID, o.StartsAt), // the same for as long as the session takes place then
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
		lines = append(lines, party(e.CustomerName, e.PartySize))
	}
	if f.Names {
		event.Summary = fmt.Sprintf("%s (%d)", services(booked[0]), people)
		event.Description = joined("\n", lines...)
	}
	return event
}

func services(e store.FeedEntry) string {
	names := make([]string, len(e.Services))
	for i, s := range e.Services {
		names[i] = s.Name
		if s.VariantName != "" {
			names[i] += " (" + s.VariantName + ")"
		}
	}
	return store.InPackage(e.Services, strings.Join(names, ", "))
}

// party is who comes, and how many where it is not one: nobody is named of a customer who was forgotten.
func party(name string, size int) string {
	if size == 1 {
		return name
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%d)", name, size))
}

// joined joins what there is.
func joined(by string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), by)
}
