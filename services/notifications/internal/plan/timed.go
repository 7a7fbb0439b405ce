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

// TimedMessage is a message that is due at a certain time, such as a reminder, and does not follow an event.
type TimedMessage struct {
	Kind letter.Kind
	Due  time.Time
}

// NewDraft returns the draft of the message `t` about a subject. The draft's EventID is derived from the subject's ID,
// the kind and the due time.
func (t TimedMessage) NewDraft(subject uuid.UUID, recipient string) Draft {
	return Draft{Kind: t.Kind, Recipient: recipient,
		EventID: uuid.NewSHA1(subject, []byte(string(t.Kind)+" "+t.Due.UTC().Format(time.RFC3339Nano)))}
}

// Settings are the settings of a business on which the due times depend.
type Settings struct {
	RemindersHoursBefore []int
	Location             *time.Location
}

const (
	// paymentRequestAfter is the time after a sale at which the customer gets a request to pay. This time applies if
	// the payment has no deadline yet.
	paymentRequestAfter = 15 * time.Minute
	// returnReminderMinute is the time of day of the reminder to return rented things, in minutes after midnight
	// (09:00). This time applies on the last day of a reservation without an end time.
	returnReminderMinute = 9 * 60
	// returnReminderBefore is the time between the reminder to return rented things and the end of a reservation with
	// an end time.
	returnReminderBefore = time.Hour
)

// ComputeTimes returns the messages about a subject that are due at a certain time, such as reminders, in ascending
// order of their due times. The due times may be in the past. For a subject that has ended or is cancelled, it returns
// no messages.
func ComputeTimes(kind event.SubjectKind, s Subject, settings Settings) []TimedMessage {
	var times []TimedMessage
	switch {
	case s.IsWithdrawn && s.Status != pickedUp: // such a subject may be cancelled, so no message is due
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

// planPaymentRequest returns the request to pay with its due time. If no online payment is open, it returns no message.
func planPaymentRequest(s Subject) []TimedMessage {
	if s.Payment == nil || s.Payment.Status != booking.PaymentOpen {
		return nil
	}
	return []TimedMessage{{letter.PaymentDue, findPaymentRequestTime(s)}}
}

// findPaymentRequestTime returns the time at which the customer gets a request to pay: halfway between the sale and the
// payment deadline. If there is no deadline yet, the time is paymentRequestAfter after the sale. The request is not
// sent earlier, because most customers pay at once.
func findPaymentRequestTime(s Subject) time.Time {
	if s.Payment.DueAt == nil {
		return s.CreatedAt.Add(paymentRequestAfter)
	}
	return s.CreatedAt.Add(s.Payment.DueAt.Sub(s.CreatedAt) / 2)
}

// findReturnReminderTime returns the time at which a customer gets a reminder to return rented things.
func findReturnReminderTime(s Subject, location *time.Location) time.Time {
	at, before := timespan.TimeOfDay(returnReminderMinute), time.Duration(0)
	if s.EndTime != nil && at.UnmarshalText([]byte(*s.EndTime)) == nil {
		before = returnReminderBefore
	}
	return time.Unix(timespan.Instant(*s.EndDate, at, location), 0).Add(-before)
}

// EndsAt returns the time from which the message `t` about the subject `s` is no longer sent: the announced start or
// deadline. If the message announces neither, EndsAt returns a time one day after the due time.
func (t TimedMessage) EndsAt(s Subject) time.Time {
	switch {
	case t.Kind == letter.Reminder:
		return s.StartsAt
	case t.Kind == letter.PaymentDue && s.Payment != nil && s.Payment.DueAt != nil:
		return *s.Payment.DueAt
	}
	return t.Due.AddDate(0, 0, 1)
}

// SelectDue returns the messages to send now. For each kind, it returns the latest message whose due time is from
// `since` to `now` and that is not outdated ([TimedMessage.EndsAt]). It also returns the first message that is due
// after `now`, or nil. The argument `times` holds the messages about the subject `s`, in ascending order of their due
// times.
//
// Messages that were due before the argument `since` are not sent. The caller must therefore choose a time that is not
// before the last booking, reschedule or pick-up of the subject.
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

// IsTimed reports whether messages of the given kind are due at a certain time. If the mail server was unavailable at
// that time, such a message may be outdated when it can be sent.
func IsTimed(kind letter.Kind) bool {
	return kind == letter.Reminder || kind == letter.PaymentDue || kind == letter.ReservationDue
}

// IsStillDue reports whether a message is still up to date and may be sent at the time in the argument `now`. The
// argument `id` is the EventID of the message ([TimedMessage.NewDraft]). After a reschedule of the subject, no message
// in times has this EventID.
func IsStillDue(times []TimedMessage, s Subject, id, subject uuid.UUID, now time.Time) bool {
	return slices.ContainsFunc(times, func(t TimedMessage) bool {
		return t.NewDraft(subject, "").EventID == id && now.Before(t.EndsAt(s))
	})
}

// ChangesTimes reports whether an event of type `t` changes the due times of the messages about its subject.
func ChangesTimes(t event.Type) bool {
	return t == event.BookingCreated || t == event.TicketCreated || t == event.BookingRescheduled ||
		t == event.ReservationCreated || t == event.ReservationPickedUp
}

// TimeKey returns the value from which the due times of the messages about a subject are computed: the subject's start
// or end. If the key has changed, a job that was inserted for the former due times does nothing.
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
