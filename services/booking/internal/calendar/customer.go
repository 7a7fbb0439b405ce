package calendar

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/venue"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// RenderBooking returns a booking as text/calendar for its customer's own calendar. The UID of the entry is the id of
// the booking, and the sequence number is the number of the booking's newest event. The calendar entries in messages
// to the customer follow the same rule, and have the same summary and location. Therefore the customer's
// calendar keeps only the newest entry of a booking.
// The argument `meeting` is the link to the online meeting; "" for none.
func RenderBooking(offer *catalog.Snapshot, b store.Booking, meeting string) ([]byte, error) {
	event := newEvent(b.ID, b.Sequence, b.UpdatedAt, b.StartsAt, b.EndsAt, listServices(b.Services))
	switch b.Status {
	case state.Pending:
		event.Status = ical.Tentative
	case state.Cancelled:
		event.Status = ical.Cancelled
	default: // for all other statuses the entry stays confirmed
	}
	if b.StaffName != nil {
		event.Description = *b.StaffName
	}
	if at := b.Location; at != nil {
		booked := venue.Booked{ID: at.ID, Name: at.Name, Link: meeting}
		if address := b.Customer.Address; address != nil {
			booked.Address = address.Address
			event.Description = strings.Trim(event.Description+"\n"+address.Note, "\n")
		}
		venue.SetBooked(&event, offer, booked, b.Locale)
	} else {
		venue.Set(&event, offer, offer.Place(), b.Locale)
	}
	return ical.Calendar{Method: ical.Publish, Events: []ical.Event{event}}.Write()
}

// listServices returns the name of the package and the names of the services, as messages to the customer list them.
func listServices(services []store.SoldService) string {
	var names []string
	if len(services) > 0 && services[0].PackageName != "" {
		names = append(names, services[0].PackageName)
	}
	for _, s := range services {
		names = append(names, joinNonEmpty(", ", s.Name, s.VariantName))
	}
	return strings.Join(names, ", ")
}

// RenderTicket returns an order of tickets as text/calendar for its customer's own calendar.
func RenderTicket(offer *catalog.Snapshot, t store.Ticket) ([]byte, error) {
	stamp, status := t.CreatedAt, ical.Confirmed
	switch t.Status {
	case booking.StatusCancelled:
		stamp, status = *t.CancelledAt, ical.Cancelled
	case booking.StatusPending:
		status = ical.Tentative
	}
	event := newEvent(t.ID, t.Sequence, stamp, t.StartsAt, t.EndsAt, t.EventName)
	event.Status, event.Description = status, formatTiers(t)
	venue.Set(&event, offer, offer.SoldLocation(t.EventID), t.Locale)
	return ical.Calendar{Method: ical.Publish, Events: []ical.Event{event}}.Write()
}

// formatTiers returns one line with the name and the quantity of each ticket tier.
func formatTiers(t store.Ticket) string {
	lines := make([]string, len(t.Tiers))
	for i, tier := range t.Tiers {
		lines[i] = tier.Name + " × " + strconv.Itoa(tier.Quantity)
	}
	return strings.Join(lines, ", ")
}

func newEvent(id uuid.UUID, sequence int, stamp, start, end time.Time, summary string) ical.Event {
	return ical.Event{UID: id.String(), Sequence: sequence, Stamp: stamp, Start: start, End: end,
		Status: ical.Confirmed, Summary: summary}
}
