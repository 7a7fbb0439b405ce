package plan

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
)

// Timed is a message that is due at a time, not with an event.
type Timed struct {
	Kind letter.Kind
	Due  time.Time
}

// Draft is the message of a subject: the same for the same time, however often it is asked for.
func (t Timed) Draft(subject uuid.UUID, recipient string) Draft {
	return Draft{Kind: t.Kind, Recipient: recipient, EventID: uuid.NewSHA1(subject, []byte(string(t.Kind)+" "+t.Due.UTC().Format(time.RFC3339Nano)))}
}

// Settings are those of the business that times depend on.
type Settings struct {
	RemindersHoursBefore []int
	Location             *time.Location
}

const (
	// payBy is when a customer is asked to pay where it is not known yet until when that can be done.
	payBy = 15 * time.Minute
	// dueMinute is when, on the last day of a reservation of whole dates, the customer is reminded to bring things back: 09:00.
	dueMinute = 9 * 60
	// dueBefore is how long before its end a reservation for hours does.
	dueBefore = time.Hour
)

// Times returns when messages about a subject are due, as it stands now, soonest first: none for what is over or cancelled. That a time
// has passed does not leave it out.
func Times(kind event.SubjectKind, s Subject, with Settings) []Timed {
	var times []Timed
	switch {
	case s.Withdrawn && s.Status != pickedUp: // it may never come
	case kind == event.Booking && (s.Status == booking.StatusPending || s.Status == booking.StatusConfirmed):
		for _, hours := range with.RemindersHoursBefore {
			times = append(times, Timed{letter.Reminder, s.StartsAt.Add(-time.Duration(hours) * time.Hour)})
		}
		times = append(times, paymentDue(s)...)
	case (kind == event.Ticket || kind == event.Reservation) && s.Status == booking.StatusPending:
		times = paymentDue(s)
	case kind == event.Reservation && s.Status == pickedUp && s.EndDate != nil:
		times = append(times, Timed{letter.ReservationDue, remindToReturn(s, timespan.Zone(s.Timezone, with.Location))})
	}
	slices.SortStableFunc(times, func(a, b Timed) int { return a.Due.Compare(b.Due) })
	return times
}

// paymentDue is when a customer is asked to pay, where they have not.
func paymentDue(s Subject) []Timed {
	if s.Payment == nil || s.Payment.Status != booking.PaymentOpen {
		return nil
	}
	return []Timed{{letter.PaymentDue, askToPay(s)}}
}

// askToPay is when a customer who has not paid yet is asked to: once half of the time for it is over, as most pay at once.
func askToPay(s Subject) time.Time {
	if s.Payment.DueAt == nil {
		return s.CreatedAt.Add(payBy)
	}
	return s.CreatedAt.Add(s.Payment.DueAt.Sub(s.CreatedAt) / 2)
}

// remindToReturn is when a customer is reminded to bring back what was picked up.
func remindToReturn(s Subject, location *time.Location) time.Time {
	at, before := timespan.TimeOfDay(dueMinute), time.Duration(0)
	if s.EndTime != nil && at.UnmarshalText([]byte(*s.EndTime)) == nil {
		before = dueBefore
	}
	return time.Unix(timespan.Instant(*s.EndDate, at, location), 0).Add(-before)
}

// Ends is after when nothing that is due about a subject is sent any more: a reminder of what has begun helps nobody.
func (t Timed) Ends(s Subject) time.Time {
	switch {
	case t.Kind == letter.Reminder:
		return s.StartsAt
	case t.Kind == letter.PaymentDue && s.Payment != nil && s.Payment.DueAt != nil:
		return *s.Payment.DueAt
	}
	return t.Due.AddDate(0, 0, 1)
}

// Due parts the times of a subject at now: those to be sent, of each kind the latest of [since, now] that still helps, and the first
// that comes later, nil where none does. What was booked, moved or picked up after a message was due has since after it.
func Due(times []Timed, s Subject, since, now time.Time) ([]Timed, *Timed) {
	var send []Timed
	for _, t := range times {
		switch {
		case t.Due.Before(since):
		case t.Due.After(now):
			return send, &t
		case now.Before(t.Ends(s)):
			send = slices.DeleteFunc(send, func(before Timed) bool { return before.Kind == t.Kind })
			send = append(send, t)
		}
	}
	return send, nil
}

// Waits reports whether messages of this kind are due at a time, so that what they say may be over once they can be sent.
func Waits(kind letter.Kind) bool {
	return kind == letter.Reminder || kind == letter.PaymentDue || kind == letter.ReservationDue
}

// Holds reports whether a message that was written for one of these times, under the id that [Timed.Draft] has given it, is still to be sent at now.
func Holds(times []Timed, s Subject, id, subject uuid.UUID, now time.Time) bool {
	return slices.ContainsFunc(times, func(t Timed) bool { return t.Draft(subject, "").EventID == id && now.Before(t.Ends(s)) })
}

// Begins reports whether a subject's times begin anew at events of this type.
func Begins(t event.Type) bool {
	return t == event.BookingCreated || t == event.TicketCreated || t == event.BookingRescheduled || t == event.ReservationCreated || t == event.ReservationPickedUp
}

// Fixed is what a subject's times hang on; where it has changed since they began, others have begun.
func Fixed(kind event.SubjectKind, s Subject) string {
	if kind == event.Booking {
		return s.StartsAt.UTC().Format(time.RFC3339)
	}
	if s.EndDate == nil {
		return ""
	}
	end := s.EndDate.String()
	if s.EndTime != nil {
		end += " " + *s.EndTime
	}
	return end
}
