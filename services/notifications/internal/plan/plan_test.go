package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
)

var owners = []string{"hello@harbor.example", "boss@harbor.example"}

var customerActor, ownerActor = actor.Actor{Kind: actor.APIKey}, actor.Actor{Kind: actor.Owner}

var draftCases = []struct {
	event    event.Type
	status   string
	by       actor.Actor
	customer letter.Kind // "": none
	owners   bool
}{
	{event.BookingCreated, "pending", customerActor, letter.BookingReceived, true},
	// the business confirms bookings at once
	{event.BookingCreated, "confirmed", customerActor, letter.BookingConfirmed, true},
	{event.BookingCreated, "pending", ownerActor, letter.BookingReceived, false},
	{event.BookingConfirmed, "confirmed", ownerActor, letter.BookingConfirmed, false},
	{event.BookingConfirmed, "confirmed", actor.Actor{Kind: actor.Provider}, letter.BookingConfirmed, false},
	{event.BookingRescheduled, "confirmed", actor.Actor{Kind: actor.Customer}, letter.BookingRescheduled, true},
	{event.BookingRescheduled, "pending", ownerActor, letter.BookingRescheduled, false},
	{event.BookingCancelled, "cancelled", actor.Actor{Kind: actor.Customer}, letter.BookingCancelled, true},
	{event.BookingCancelled, "cancelled", actor.Actor{Kind: actor.Page}, letter.BookingCancelled, true},
	{event.BookingCancelled, "cancelled", actor.Actor{Kind: actor.System}, letter.BookingCancelled, false},
	{event.BookingCancelled, "cancelled", ownerActor, letter.BookingCancelled, false},
	{event.BookingWithdrawn, "confirmed", actor.Actor{Kind: actor.System}, letter.BookingWithdrawn, false},
	{event.BookingWithdrawn, "pending", actor.Actor{Kind: actor.System}, letter.BookingWithdrawn, false},
	{event.ReservationWithdrawn, "reserved", actor.Actor{Kind: actor.System}, letter.ReservationWithdrawn, false},
	{event.BookingRestored, "confirmed", actor.Actor{Kind: actor.System}, letter.BookingConfirmed, false},
	{event.BookingRestored, "pending", actor.Actor{Kind: actor.System}, letter.BookingReceived, false},
	{event.ReservationRestored, "reserved", actor.Actor{Kind: actor.System}, letter.Reservation, false},
	{event.ReservationRestored, "pending", actor.Actor{Kind: actor.System}, "", false},
	{event.BookingCompleted, "completed", ownerActor, "", false},
	{event.BookingNoShow, "no_show", ownerActor, "", false},
	{event.BookingReopened, "confirmed", ownerActor, "", false},
	{event.PaymentSucceeded, "pending", actor.Actor{Kind: actor.Provider}, "", false},
	{event.PaymentFailed, "pending", actor.Actor{Kind: actor.Provider}, letter.PaymentFailed, false},
	// a cancelled booking is not paid any more
	{event.PaymentFailed, "cancelled", actor.Actor{Kind: actor.Provider}, "", false},
	// booking.cancelled leads to the message
	{event.PaymentExpired, "cancelled", actor.Actor{Kind: actor.System}, "", false},
	{event.PaymentRefunded, "cancelled", actor.Actor{Kind: actor.Provider}, letter.Refunded, false},
	{event.PaymentRefunded, "completed", actor.Actor{Kind: actor.Provider}, letter.Refunded, false},
	{event.TicketSold, "sold", ownerActor, letter.Ticket, false},
	{event.TicketSold, "sold", customerActor, letter.Ticket, true},
	{event.TicketRescheduled, "sold", actor.Actor{Kind: actor.System}, letter.TicketRescheduled, false},
	{event.TicketRescheduled, "pending", actor.Actor{Kind: actor.System}, "", false},
	{event.TicketWithdrawn, "sold", actor.Actor{Kind: actor.System}, letter.TicketWithdrawn, false},
	{event.TicketCancelled, "cancelled", ownerActor, letter.TicketCancelled, false},
	{event.ReservationCreated, "reserved", ownerActor, letter.Reservation, false},
	{event.ReservationCreated, "reserved", customerActor, letter.Reservation, true},
	{event.ReservationCreated, "pending", actor.Actor{Kind: actor.Page}, "", false}, // the notice waits for the payment
	{event.ReservationConfirmed, "reserved", actor.Actor{Kind: actor.Provider}, letter.Reservation, true},
	{event.PaymentFailed, "pending", actor.Actor{Kind: actor.Provider}, letter.PaymentFailed, false},
	{event.PaymentRefunded, "returned", actor.Actor{Kind: actor.Provider}, letter.Refunded, false},
	{event.ReservationPickedUp, "picked_up", ownerActor, "", false},
	{event.ReservationReturned, "returned", ownerActor, "", false},
	{event.ReservationCancelled, "cancelled", ownerActor, letter.ReservationCancelled, false},
	{event.BusinessPublished, "", ownerActor, "", false},
	{event.KeyCreated, "", ownerActor, "", false},
	{plan.EndpointDisabled, "", actor.Actor{Kind: actor.System}, "", true},
}

// The table of lifecycle.md §2, for each status that a subject can have after an event.
func TestNewDraftsFollowsTable(t *testing.T) {
	t.Parallel()
	for _, c := range draftCases {
		e := event.Event{ID: uuid.New(), Type: c.event, Actor: c.by}
		var want []plan.Draft
		if c.customer != "" {
			want = append(want, plan.Draft{Kind: c.customer, EventID: e.ID, Recipient: "ada@example.com"})
		}
		if c.owners {
			for _, address := range owners {
				want = append(want, plan.Draft{Kind: letter.OwnerNotice, EventID: e.ID, Recipient: address})
			}
		}
		got := plan.NewDrafts(e, plan.Subject{Status: c.status, Email: "ada@example.com"}, owners)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %s by %s (-want +got):\n%s", c.event, c.status, c.by, diff)
		}
		if len(want) > 0 && !plan.LeadsToMessages(c.event) {
			t.Errorf("LeadsToMessages(%s) is false", c.event)
		}
		for _, d := range plan.NewDrafts(e, plan.Subject{Status: c.status}, owners) {
			if d.Kind != letter.OwnerNotice {
				t.Errorf("%s: a %s without a recipient", c.event, d.Kind)
			}
		}
	}
}

var monday = time.Date(2027, time.March, 1, 9, 0, 0, 0, time.UTC)

// bookingSimulation simulates a booking that is rescheduled and cancelled at some times. Its jobs may
// run late.
type bookingSimulation struct {
	hours   []int
	now     time.Time
	subject plan.Subject
	jobs    []simulatedJob
	sent    map[string][]time.Time // times of the sent reminders, by the time key of the booking
}

type simulatedJob struct {
	timeKey   string
	since, at time.Time
}

func (l *bookingSimulation) computeTimes() []plan.TimedMessage {
	return plan.ComputeTimes(event.Booking, l.subject, plan.Settings{RemindersHoursBefore: l.hours, Location: time.UTC})
}

// scheduleFirst inserts the first job, as an event does after which the times are computed.
func (l *bookingSimulation) scheduleFirst() {
	if _, next := plan.SelectDue(l.computeTimes(), l.subject, l.now, l.now.Add(-1)); next != nil {
		l.jobs = append(l.jobs, simulatedJob{plan.TimeKey(event.Booking, l.subject), next.Due, next.Due})
	}
}

// runDueJobs runs the jobs that are due now, like the worker.
func (l *bookingSimulation) runDueJobs() {
	for i := 0; i < len(l.jobs); i++ {
		j := l.jobs[i]
		if j.at.After(l.now) {
			continue
		}
		l.jobs = slices.Delete(l.jobs, i, i+1)
		i--
		if j.timeKey != plan.TimeKey(event.Booking, l.subject) {
			continue
		}
		send, next := plan.SelectDue(l.computeTimes(), l.subject, j.since, l.now)
		for _, t := range send {
			if !slices.ContainsFunc(l.sent[j.timeKey], t.Due.Equal) {
				l.sent[j.timeKey] = append(l.sent[j.timeKey], t.Due)
			}
		}
		if next != nil {
			l.jobs = append(l.jobs, simulatedJob{j.timeKey, next.Due, next.Due})
		}
	}
}

// Each reminder is sent once, if jobs run in time. No reminder is sent for a booking that is
// cancelled, was rescheduled or has begun, or if it was due before the booking was made. The oracle
// follows lifecycle.md and checks each minute.
func TestRemindersMatchOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drawMinutes := func(name string, from, to int) time.Duration {
			return time.Duration(rapid.IntRange(from, to).Draw(t, name)) * time.Minute
		}
		l := &bookingSimulation{now: monday, hours: rapid.SliceOfNDistinct(rapid.IntRange(1, 72), 0, 3,
			rapid.ID[int]).Draw(t,
			"hours"), sent: map[string][]time.Time{}}
		start := monday.Add(drawMinutes("start", 1, 100*60))
		l.subject = plan.Subject{Status: rapid.SampledFrom([]string{"pending", "confirmed"}).Draw(t, "status"),
			StartsAt: start, CreatedAt: monday}
		want := map[string][]time.Time{}
		expectDue := func(from, to time.Time) { // adds the reminders that are due in [from, to) for the current start
			key := plan.TimeKey(event.Booking, l.subject)
			for at := from; at.Before(to) && at.Before(l.subject.StartsAt); at = at.Add(time.Minute) {
				for _, h := range l.hours {
					if at.Add(time.Duration(h)*time.Hour).Equal(l.subject.StartsAt) && !slices.ContainsFunc(want[key],
						at.Equal) {
						want[key] = append(want[key], at)
					}
				}
			}
		}
		advance := func(d time.Duration) {
			for end := l.now.Add(d); l.now.Before(end); l.now = l.now.Add(time.Minute) {
				l.runDueJobs()
			}
		}
		l.scheduleFirst()
		for range rapid.IntRange(0, 3).Draw(t, "moves") {
			before := l.now
			d := drawMinutes("until the move", 1, 60*60)
			advance(d)
			expectDue(before, l.now)
			l.subject.StartsAt = l.now.Add(drawMinutes("moved to", 1, 100*60))
			l.scheduleFirst()
		}
		before := l.now
		advance(drawMinutes("until the end", 1, 120*60))
		expectDue(before, l.now)
		l.subject.Status = rapid.SampledFrom([]string{"cancelled", "completed", "no_show"}).Draw(t, "end")
		advance(120 * time.Hour)
		for _, times := range []map[string][]time.Time{want, l.sent} {
			for _, list := range times {
				slices.SortFunc(list, time.Time.Compare)
			}
		}
		if diff := cmp.Diff(want, l.sent); diff != "" {
			t.Fatalf("reminders (-want +got):\n%s", diff)
		}
	})
}

func TestSelectDueReturnsLatestReminder(t *testing.T) {
	t.Parallel()
	s := plan.Subject{Status: "confirmed", StartsAt: monday.Add(48 * time.Hour), CreatedAt: monday}
	times := plan.ComputeTimes(event.Booking, s, plan.Settings{RemindersHoursBefore: []int{2, 24}})
	for _, c := range []struct {
		now  time.Duration
		want []time.Duration
		next time.Duration
	}{
		{23 * time.Hour, nil, 24 * time.Hour},
		{24 * time.Hour, []time.Duration{24 * time.Hour}, 46 * time.Hour},
		{45 * time.Hour, []time.Duration{24 * time.Hour}, 46 * time.Hour}, // the job runs late
		{47 * time.Hour, []time.Duration{46 * time.Hour}, 0},              // both are due; only the later one is sent
		{48 * time.Hour, nil, 0},                                          // the booking has begun
	} {
		send, next := plan.SelectDue(times, s, monday, monday.Add(c.now))
		var got []time.Duration
		for _, m := range send {
			got = append(got, m.Due.Sub(monday))
		}
		if !slices.Equal(got, c.want) || (next == nil) != (c.next == 0) || next != nil &&
			next.Due.Sub(monday) != c.next {
			t.Errorf("after %s: got %v, next %v", c.now, got, next)
		}
	}
}

func TestComputeTimesRequestsPaymentAtHalfTime(t *testing.T) {
	t.Parallel()
	due := monday.Add(30 * time.Minute)
	s := plan.Subject{Status: "pending", StartsAt: monday.Add(48 * time.Hour), CreatedAt: monday,
		Payment: &plan.Payment{Status: "open", DueAt: &due}}
	times := plan.ComputeTimes(event.Booking, s, plan.Settings{})
	if len(times) != 1 || times[0] != (plan.TimedMessage{Kind: letter.PaymentDue, Due: monday.Add(15 * time.Minute)}) {
		t.Fatalf("got %v", times)
	}
	if send, _ := plan.SelectDue(times, s, monday, due); len(send) != 0 {
		t.Errorf("a request to pay after the deadline: %v", send)
	}
	s.Payment.Status = "paid"
	if times := plan.ComputeTimes(event.Booking, s, plan.Settings{}); len(times) != 0 {
		t.Errorf("a request to pay for a paid booking: %v", times)
	}
}

// The job of the request to pay does not send a reminder that was due before the booking was made.
func TestSelectDueSkipsReminderBeforeBooking(t *testing.T) {
	t.Parallel()
	due := monday.Add(time.Hour)
	s := plan.Subject{Status: "pending", StartsAt: monday.Add(23 * time.Hour), CreatedAt: monday,
		Payment: &plan.Payment{Status: "open", DueAt: &due}}
	times := plan.ComputeTimes(event.Booking, s, plan.Settings{RemindersHoursBefore: []int{24, 2}})
	_, first := plan.SelectDue(times, s, monday, monday.Add(-1))
	if first == nil || first.Kind != letter.PaymentDue {
		t.Fatalf("the first time is %+v", first)
	}
	send, next := plan.SelectDue(times, s, first.Due, first.Due)
	if len(send) != 1 || send[0].Kind != letter.PaymentDue || next == nil || next.Due != monday.Add(21*time.Hour) {
		t.Errorf("got %v, next %v", send, next)
	}
	if send, _ := plan.SelectDue(times, s, monday, monday.Add(time.Minute)); len(send) != 0 {
		t.Errorf("a minute after the booking: %v", send)
	}
}

func TestComputeTimesOfReturn(t *testing.T) {
	t.Parallel()
	lisbon, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]string{
		`{"status":"picked_up","end_date":"2027-06-10","end_time":null}`:    "2027-06-10T08:00:00Z", // 09:00 in Lisbon
		`{"status":"picked_up","end_date":"2027-06-10","end_time":"18:00"}`: "2027-06-10T16:00:00Z",
		`{"status":"picked_up","end_date":"2027-06-10","end_time":"24:00"}`: "2027-06-10T22:00:00Z",
		`{"status":"reserved","end_date":"2027-06-10","end_time":null}`:     "",
		`{"status":"returned","end_date":"2027-06-10","end_time":null}`:     "",
	} {
		s, err := plan.ParseSubject([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if times := plan.ComputeTimes(event.Reservation, s, plan.Settings{Location: lisbon}); len(times) == 1 {
			got = times[0].Due.UTC().Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", data, got, want)
		}
	}
}

// Tickets are sent when they are sold, whichever actor reports the payment. Before that, the customer
// gets a request to pay (lifecycle.md §2).
func TestNewDraftsWaitsForTicketPayment(t *testing.T) {
	t.Parallel()
	createdAt, due := time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC), time.Date(2027, 3, 1, 8, 30, 0, 0, time.UTC)
	waiting := plan.Subject{Status: booking.StatusPending, Email: "zoe@example.com", CreatedAt: createdAt,
		Payment: &plan.Payment{Status: "open", DueAt: &due}}
	kinds := func(typ event.Type, by actor.Kind, s plan.Subject) string {
		var got []string
		for _, d := range plan.NewDrafts(event.Event{ID: uuid.New(), Type: typ, Actor: actor.Actor{Kind: by}}, s,
			[]string{"owner@example.com"}) {
			got = append(got, string(d.Kind))
		}
		return strings.Join(got, " ")
	}
	if got := kinds(event.TicketCreated, actor.Page, waiting); got != "" ||
		!plan.LeadsToMessages(event.TicketCreated) ||
		!plan.ChangesTimes(event.TicketCreated) {
		t.Errorf("created, and %q is sent", got)
	}
	if got := kinds(event.PaymentFailed, actor.Provider, waiting); got != "payment_failed" {
		t.Errorf("an attempt failed, and %q is sent", got)
	}
	want := []plan.TimedMessage{{Kind: letter.PaymentDue, Due: createdAt.Add(15 * time.Minute)}}
	if diff := cmp.Diff(want, plan.ComputeTimes(event.Ticket, waiting, plan.Settings{})); diff != "" {
		t.Error(diff)
	}
	sold := waiting
	sold.Status, sold.Payment = booking.StatusSold, &plan.Payment{Status: "paid"}
	for by, want := range map[actor.Kind]string{
		actor.Page: "ticket owner_notice", actor.Provider: "ticket owner_notice", actor.System: "ticket owner_notice",
		actor.Owner: "ticket",
	} {
		if got := kinds(event.TicketSold, by, sold); got != want {
			t.Errorf("sold by %s, and %q is sent, want %q", by, got, want)
		}
	}
	if times := plan.ComputeTimes(event.Ticket, sold, plan.Settings{}); len(times) != 0 {
		t.Errorf("sold, and still due are %v", times)
	}
	cancelled := sold
	cancelled.Status = booking.StatusCancelled
	if got := kinds(event.PaymentRefunded, actor.System, cancelled); got != "refunded" {
		t.Errorf("refunded, and %q is sent", got)
	}
}
