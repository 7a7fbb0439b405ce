package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// showBookingEvents returns the function that renders bookings from the data of their events. If an
// event is about a rescheduled or relocated booking, the JSON also has the fields "from" and "to" (lifecycle.md §1).
func showBookingEvents(records *store.Store, links *link.Links) eventlog.Show {
	return func(ctx context.Context, data []json.RawMessage) ([]json.RawMessage, error) {
		bookings, err := records.DecodeBookings(ctx, data)
		if err != nil {
			return nil, err
		}
		rendered := make([]json.RawMessage, len(bookings))
		for i, b := range bookings {
			from, err := store.FindFormerTime(data[i])
			if err != nil {
				return nil, err
			}
			if rendered[i], err = json.Marshal(showStored(links, b, from)); err != nil {
				return nil, err
			}
		}
		return rendered, nil
	}
}

// showStored converts a booking from the data of an event into its JSON form. If the argument `from` is not
// nil, it is the former time of a rescheduled booking. The result then contains the former and the new time.
func showStored(links *link.Links, b store.Booking, from *store.BookedTime) any {
	if from == nil {
		return showBooking(links, b)
	}
	return booking.Rescheduled{
		Booking: showBooking(links, b),
		From: newBookedTime(from.LocalStart.Time, from.LocalEnd.Time, from.StartsAt, from.EndsAt, from.StaffID,
			from.StaffName, from.SessionID, from.Location),
		To: newBookedTime(b.LocalStart, b.LocalEnd, b.StartsAt, b.EndsAt, b.StaffID, b.StaffName, b.SessionID,
			b.Location),
	}
}

func newBookedTime(localStart, localEnd, startsAt, endsAt time.Time, staffID *uuid.UUID, staffName *string,
	sessionID *uuid.UUID, at *store.Location) booking.BookedTime {
	return booking.BookedTime{
		Date: localStart.Format(time.DateOnly), StartTime: localStart.Format(time.TimeOnly),
		EndTime:  localEnd.Format(time.TimeOnly),
		StartsAt: startsAt.UTC(), EndsAt: endsAt.UTC(), StaffID: staffID, StaffName: staffName,
		ClassScheduleID: sessionID, Location: showPlace(at),
	}
}

// showTicketEvents returns the function that renders orders of tickets from the data of their events.
// If the ticketed event of an order has a new time, the JSON also has the fields "from" and "to".
func showTicketEvents(records *store.Store) eventlog.Show {
	return func(ctx context.Context, data []json.RawMessage) ([]json.RawMessage, error) {
		tickets, err := records.DecodeTickets(ctx, data)
		if err != nil {
			return nil, err
		}
		rendered := make([]json.RawMessage, len(tickets))
		for i, t := range tickets {
			from, err := store.FindFormerTime(data[i])
			if err != nil {
				return nil, err
			}
			var eventData any = showTicket(t)
			if from != nil {
				eventData = booking.RescheduledTicket{
					Ticket: showTicket(t),
					From:   newTicketTime(from.LocalStart.Time, from.StartsAt, from.EndsAt),
					To:     newTicketTime(t.LocalStart, t.StartsAt, t.EndsAt),
				}
			}
			if rendered[i], err = json.Marshal(eventData); err != nil {
				return nil, err
			}
		}
		return rendered, nil
	}
}

func newTicketTime(localStart, startsAt, endsAt time.Time) booking.TicketTime {
	return booking.TicketTime{
		Date: localStart.Format(time.DateOnly), StartTime: localStart.Format(time.TimeOnly), StartsAt: startsAt.UTC(),
		EndsAt: endsAt.UTC(),
	}
}
