package plan

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
)

// TimedMessage is a message that is due at a certain time, such as a reminder, and not after an event.
type TimedMessage struct {
	Kind letter.Kind
	Due  time.Time
}

// NewDraft returns the draft of t for a subject. Its EventID depends only on the subject, the kind and the time.
func (t TimedMessage) NewDraft(subject uuid.UUID, recipient string) Draft {
	return Draft{Kind: t.Kind, Recipient: recipient,
		EventID: uuid.NewSHA1(subject, []byte(string(t.Kind)+" "+t.Due.UTC().Format(time.RFC3339Nano)))}
}

// Settings are the business's settings that the times depend on.
type Settings struct {
	RemindersHoursBefore []int
	Location             *time.Location
}

const (
	// paymentRequestAfter is the time after a sale at which the customer is asked to pay, if the payment has no
	// deadline yet.
	paymentRequestAfter = 15 * time.Minute
	// returnReminderMinute is the time of the reminder to return things on the
	// last day of a reservation of whole dates: 09:00, in minutes.
	returnReminderMinute = 9 * 60
	// returnReminderBefore is the time between the reminder to return things and the end of a reservation by the hour.
	returnReminderBefore = time.Hour
)

// ComputeTimes returns the times at which messages about a subject are due, such as reminders, in ascending
// order. It returns none for a subject that is over or cancelled. The times may be in the past.
func ComputeTimes(kind event.SubjectKind, s Subject, settings Settings) []TimedMessage {
	var times []TimedMessage
	switch {
	case s.IsWithdrawn && s.Status != pickedUp: // the subject may be cancelled
	case kind == event.Booking && (s.Status == booking.StatusPending || s.Status == booking.StatusConfirmed):
		for _, hours := range settings.RemindersHoursBefore {
			times = append(times, TimedMessage{letter.Reminder, s.StartsAt.Add(-time.Duration(hours) * time.Hour)})
		}
		times = append(times, planPaymentRequest(s)...)
	case (kind == event.Ticket || kind == event.Reservation) && s.Status == booking.StatusPending:
		times = planPaymentRequest(s)
	case kind == event.Reservation && s.Status == pickedUp && s.EndDate != nil:
		times = append(times, TimedMessage{letter.ReservationDue,
			findReturnReminderTime(s, timespan.Zone(s.Timezone, settings.Location))})
	}
	slices.SortStableFunc(times, func(a, b TimedMessage) int { return a.Due.Compare(b.Due) })
	return times
}

// planPaymentRequest returns the time of the request to pay if the online payment is open.
func planPaymentRequest(s Subject) []TimedMessage {
	if s.Payment == nil || s.Payment.Status != booking.PaymentOpen {
		return nil
	}
	return []TimedMessage{{letter.PaymentDue, findPaymentRequestTime(s)}}
}

// findPaymentRequestTime returns the time at which a customer who has not paid is asked to pay: after half of the
// time to pay. It is not earlier, because most customers pay at once.
func findPaymentRequestTime(s Subject) time.Time {
	if s.Payment.DueAt == nil {
		return s.CreatedAt.Add(paymentRequestAfter)
	}
	return s.CreatedAt.Add(s.Payment.DueAt.Sub(s.CreatedAt) / 2)
}

// findReturnReminderTime returns when a customer is reminded to return rented things.
func findReturnReminderTime(s Subject, location *time.Location) time.Time {
	at, before := timespan.TimeOfDay(returnReminderMinute), time.Duration(0)
	if s.EndTime != nil && at.UnmarshalText([]byte(*s.EndTime)) == nil {
		before = returnReminderBefore
	}
	return time.Unix(timespan.Instant(*s.EndDate, at, location), 0).Add(-before)
}

// EndsAt returns the time from which the message is no longer sent, because the announced start or
// deadline has passed.
func (t TimedMessage) EndsAt(s Subject) time.Time {
	switch {
	case t.Kind == letter.Reminder:
		return s.StartsAt
	case t.Kind == letter.PaymentDue && s.Payment != nil && s.Payment.DueAt != nil:
		return *s.Payment.DueAt
	}
	return t.Due.AddDate(0, 0, 1)
}

// SelectDue returns the messages to send now: of each kind, the latest one whose time is in [since, now] and that
// has not ended. It also returns the first time after now, or nil. times are those of s, in ascending order.
//
// The caller must choose an instant for the argument since that is not before the last booking,
// reschedule or pick-up of the subject: messages of earlier times are not sent.
func SelectDue(times []TimedMessage, s Subject, since, now time.Time) ([]TimedMessage, *TimedMessage) {
	var send []TimedMessage
	for _, t := range times {
		switch {
		case t.Due.Before(since):
		case t.Due.After(now):
			return send, &t
		case now.Before(t.EndsAt(s)):
			send = slices.DeleteFunc(send, func(before TimedMessage) bool { return before.Kind == t.Kind })
			send = append(send, t)
		}
	}
	return send, nil
}

// IsTimed reports whether messages of this kind are due at a certain time. Such a message may be
// outdated before it can be sent.
func IsTimed(kind letter.Kind) bool {
	return kind == letter.Reminder || kind == letter.PaymentDue || kind == letter.ReservationDue
}

// IsStillDue reports whether the message with the EventID id still belongs to one of the subject's times, and may
// still be sent at now. It does not if the subject was rescheduled since. [Timed.Draft] derives the EventID.
func IsStillDue(times []TimedMessage, s Subject, id, subject uuid.UUID, now time.Time) bool {
	return slices.ContainsFunc(times, func(t TimedMessage) bool {
		return t.NewDraft(subject, "").EventID == id && now.Before(t.EndsAt(s))
	})
}

// ChangesTimes reports whether the times of a subject's messages must be computed again after an event of this type.
func ChangesTimes(t event.Type) bool {
	return t == event.BookingCreated || t == event.TicketCreated || t == event.BookingRescheduled ||
		t == event.ReservationCreated || t == event.ReservationPickedUp
}

// TimeKey returns the value that the times of a subject's messages depend on: its start or end. If it
// has changed since the times were computed, the job of those times is no longer valid.
func TimeKey(kind event.SubjectKind, s Subject) string {
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
