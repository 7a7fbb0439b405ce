package messages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// writeJob holds the arguments of the job that writes the messages about a stored event.
type writeJob struct {
	BusinessID uuid.UUID `json:"business_id"`
	EventID    uuid.UUID `json:"event_id"`
}

func (writeJob) Kind() string                 { return "write_messages" }
func (writeJob) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: queueWrite} }

type writer struct {
	river.WorkerDefaults[writeJob]
	m *Messages
}

// Work writes the messages about all stored events of one subject together, and inserts the jobs that send the
// messages. If the messages about the last event must wait ([Messages.findDueTime]), the job runs again at that time.
func (w *writer) Work(ctx context.Context, job *river.Job[writeJob]) error {
	for {
		events, err := w.m.Store.SubjectEvents(ctx, job.Args.BusinessID, job.Args.EventID)
		if errors.Is(err, store.ErrNotFound) { // the messages were written before, or the event was erased
			return nil
		}
		if err != nil {
			return err
		}
		if wait := w.m.findDueTime(events).Sub(w.m.Clock.Now()); wait > 0 {
			return river.JobSnooze(wait)
		}
		if err := w.write(ctx, events, job); err != nil {
			return err
		}
	}
}

// maxUndoPeriods is the maximum delay of the message about a series of changes, as a multiple of UndoPeriod.
const maxUndoPeriods = 6

// findDueTime returns the time at which the messages about the given events are written. All events have the same
// subject and are in order. If mustWait is true for the last event, the messages wait for UndoPeriod after this event.
// The messages wait for at most maxUndoPeriods*UndoPeriod after the first event.
func (m *Messages) findDueTime(events []event.Event) time.Time {
	first, last := events[0], events[len(events)-1]
	due := last.At
	if m.mustWait(last) {
		due = due.Add(m.UndoPeriod)
	}
	if latest := first.At.Add(maxUndoPeriods * m.UndoPeriod); latest.Before(due) {
		return latest
	}
	return due
}

// mustWait reports whether the messages about the given event must wait ([plan.MustWait]). They must wait if the
// business can still undo the change that the event reports. They must also wait if the customer may soon pay for the
// new booking.
func (m *Messages) mustWait(e event.Event) bool {
	subject, err := plan.ParseSubject(e.Data)
	return err == nil && plan.MustWait(plan.Change{Event: e, Subject: subject})
}

// write writes and stores the messages about events of one subject. If several jobs run for the same events, only one
// of them stores messages. If the job's last attempt cannot write the messages about an event, write drops this event.
// The other messages about the subject are then not lost.
func (w *writer) write(ctx context.Context, events []event.Event, job *river.Job[writeJob]) error {
	list, next, err := w.m.compose(ctx, events, func(e event.Event, err error) error {
		if job.Attempt < job.MaxAttempts {
			return err
		}
		w.m.countOutcome(ctx, string(e.Type), outcomeUnwritten)
		w.m.Telemetry.Logger.ErrorContext(ctx, "the messages about an event are dropped: they cannot be written",
			"business_id", e.BusinessID, "event_id", e.ID, "type", string(e.Type), "error", err)
		return nil
	})
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, w.m.Pool, func(tx pgx.Tx) error {
		if err := w.m.Store.DropEvents(ctx, tx, events); err != nil {
			return err
		}
		return w.m.storeMessages(ctx, tx, list, next, job.Priority)
	})
	if errors.Is(err, store.ErrNotFound) { // another job has written the messages
		return nil
	}
	return err
}

// compose returns the messages about the given events of one subject, and the next job that checks whether a reminder
// about the subject is due. If the messages about an event cannot be written, compose calls `onFailure` with the event
// and the error. If `onFailure` returns nil, compose skips that event; otherwise compose returns the error of
// `onFailure`.
func (m *Messages) compose(
	ctx context.Context, events []event.Event, onFailure func(event.Event, error) error,
) ([]store.Message, *river.InsertManyParams, error) {
	last := events[len(events)-1]
	offer, err := m.Peers.Offer(ctx, last.BusinessID)
	if isRemoved(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, onFailure(last, err)
	}
	var changes []plan.Change
	for _, e := range events {
		subject, err := plan.ParseSubject(e.Data)
		if err == nil {
			changes = append(changes, plan.Change{Event: e, Subject: subject})
		} else if err := onFailure(e, err); err != nil {
			return nil, nil, err
		}
	}
	owners := collectOwners(offer)
	drafts, before := plan.DraftBatch(changes, owners)
	verified := m.findVerified(ctx, last.BusinessID, owners, drafts)
	var (
		list []store.Message
		next *river.InsertManyParams
	)
	for i, c := range changes {
		written, err := m.composeChange(ctx, offer, c, before, drafts[i])
		if err == nil {
			for at := range written {
				written[at].IsByBusiness = plan.IsByBusiness(c.Event)
				isNotice := written[at].Kind == string(letter.OwnerNotice)
				written[at].IsUnlimited = isNotice && slices.Contains(verified, written[at].Recipient)
			}
			list = append(list, written...)
		} else if err := onFailure(c.Event, err); err != nil {
			return nil, nil, err
		}
		if plan.ChangesTimes(c.Event.Type) {
			_, due := plan.SelectDue(plan.ComputeTimes(c.Event.Subject.Kind, c.Subject, newSettings(offer)), c.Subject,
				c.Event.At,
				c.Event.At.Add(-1))
			next = newTimedJob(c.Event.BusinessID, c.Event.Subject, c.Subject, due)
		}
	}
	return list, next, nil
}

// collectOwners returns the e-mail addresses to which notices to the given business are sent, without duplicates.
func collectOwners(offer *catalog.Snapshot) []string {
	var addresses []string
	for _, address := range offer.Notifications.OwnerEmails {
		if !slices.ContainsFunc(addresses, func(other string) bool { return strings.EqualFold(address, other) }) {
			addresses = append(addresses, address)
		}
	}
	return addresses
}

// findVerified returns those addresses in `owners` that belong to verified members of the business. Only these
// addresses get notices without a limit, because any other address may belong to a person who did not agree to notices.
// If the console service does not respond, findVerified returns no address, so that messages do not wait for it.
func (m *Messages) findVerified(
	ctx context.Context, businessID uuid.UUID, owners []string, drafts [][]plan.Draft,
) []string {
	isNotice := func(d plan.Draft) bool { return d.Kind == letter.OwnerNotice }
	if !slices.ContainsFunc(drafts, func(list []plan.Draft) bool { return slices.ContainsFunc(list, isNotice) }) {
		return nil
	}
	found, err := m.Peers.VerifiedMembers(ctx, businessID, owners)
	if err != nil {
		m.Telemetry.Logger.WarnContext(ctx, "owners' addresses were not checked: their notices are limited",
			"business_id", businessID, "error", err)
		return nil
	}
	return found
}

func newSettings(offer *catalog.Snapshot) plan.Settings {
	return plan.Settings{RemindersHoursBefore: offer.Notifications.RemindersHoursBefore, Location: offer.Location()}
}

// composeChange writes the messages about a change. The argument `before` holds the booking's time and staff member as
// stated in earlier messages to the customer. It is nil if the time and the staff member have not changed.
func (m *Messages) composeChange(
	ctx context.Context, offer *catalog.Snapshot, c plan.Change, before *plan.Place, drafts []plan.Draft,
) ([]store.Message, error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	e, subject := c.Event, c.Subject
	ownerFacts, err := m.collectFacts(offer, e, offer.DefaultLanguage)
	if err != nil {
		return nil, err
	}
	customerFacts, err := m.collectFacts(offer, e, subject.Locale)
	if err != nil {
		return nil, err
	}
	customerFacts.Reason = subject.Reason
	status, reason := m.chooseStatus(offer)
	letters := map[letter.Kind]letter.Letter{}
	list := make([]store.Message, 0, len(drafts))
	for _, d := range drafts {
		l, isWritten := letters[d.Kind]
		if !isWritten {
			facts := addFormerState(offer, customerFacts, subject.Locale, c, before)
			if d.Kind == letter.OwnerNotice {
				facts = addFormerState(offer, ownerFacts, offer.DefaultLanguage, c, c.Subject.FormerPlace)
			}
			if l, err = m.renderLetter(ctx, d.Kind, offer, e, subject, facts); err != nil {
				return nil, err
			}
			letters[d.Kind] = l
		}
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("name a message: %w", err)
		}
		list = append(list, store.Message{
			BusinessID: e.BusinessID, ID: id, Kind: string(d.Kind), EventID: d.EventID, About: e.Subject,
			CustomerEmail: subject.Email,
			Recipient:     d.Recipient, Locale: l.Language, FromName: l.From, ReplyTo: chooseReplyTo(d.Kind, offer),
			Subject: l.Subject, Text: l.Text,
			HTML: l.HTML, Calendar: l.Calendar, Method: l.Method, Status: status, Reason: reason,
			AboutEndsAt: findEnd(ownerFacts, e.At), CreatedAt: m.Clock.Now(),
		})
	}
	return list, nil
}

// addFormerState adds the former time and the former staff member of a booking to `facts`. The argument `language` is
// the language of the staff member's name.
func addFormerState(offer *catalog.Snapshot, facts letter.Facts, language string, c plan.Change,
	before *plan.Place) letter.Facts {
	if before == nil || c.Event.Subject.Kind != event.Booking || c.Subject.Status == booking.StatusCancelled {
		return facts
	}
	if !before.StartsAt.Equal(facts.Subject.When.Start) || !before.EndsAt.Equal(facts.Subject.When.End) {
		facts.FormerTime = &letter.When{Start: before.StartsAt, End: before.EndsAt}
	}
	if staff := offer.MemberName(before.StaffID, stringValue(before.StaffName),
		language); staff != facts.Subject.Staff {
		facts.FormerStaff = staff
	}
	was, is := before.Location, c.Subject.Location
	switch {
	case c.ReplacesAddress():
		facts.FormerPlace = c.Subject.FormerPlace.Location.Name
	case is != nil && was == nil || was != nil && is != nil && was.ID != is.ID:
		facts.FormerPlace = findFormerPlace(offer, was, language)
	}
	return facts
}

// renderLetter writes one message. Only messages to customers contain the URL of the customer view.
func (m *Messages) renderLetter(ctx context.Context, kind letter.Kind, offer *catalog.Snapshot, e event.Event,
	subject plan.Subject, facts letter.Facts) (letter.Letter, error) {
	facts.Now = m.Clock.Now()
	if kind == letter.OwnerNotice {
		facts.Link = m.buildOwnerURL(offer, e.Subject)
		if offer.Bookings.AutoConfirm && !facts.Payment.Due.IsZero() {
			facts.Subject.IsPending = false // the booking waits for the payment, not for the owner
		}
		if facts.Link != "" && e.Subject.Kind == event.Booking {
			facts.DeclineLink = facts.Link + declinePath
		}
		return letter.Render(kind, "", facts)
	}
	var err error
	if facts.Link, err = m.Peers.Link(ctx, e.BusinessID, e.Subject); err != nil {
		return letter.Letter{}, err
	}
	if facts.Link != "" {
		facts.CalendarLink = facts.Link + "/calendar.ics"
	}
	note := offer.Notifications.Notes[string(kind)]
	facts.Note = letter.Note{Text: note.Text, Translations: note.Translations}
	intro := offer.Notifications.Intros[string(kind)]
	facts.Intro = letter.Note{Text: intro.Text, Translations: intro.Translations}
	return letter.Render(kind, subject.Locale, facts)
}

// buildOwnerURL returns the URL of the owner's page about the given subject, or "" if OwnerURL is not set. All webhooks
// of a business share one page, and all its reservations share another page.
func (m *Messages) buildOwnerURL(offer *catalog.Snapshot, subject event.Subject) string {
	if m.OwnerURL == "" {
		return ""
	}
	base := m.OwnerURL + "/business/" + offer.Slug
	switch subject.Kind {
	case event.Booking:
		return base + "/bookings/" + subject.ID.String()
	case event.Ticket:
		return base + "/tickets/" + subject.ID.String()
	case event.Reservation:
		return base + "/rentals"
	default:
		return base + "/settings/webhooks"
	}
}

// chooseReplyTo returns the address for replies to a message. For a notice to the owner, it returns "", because the
// reply would return to the business itself.
func chooseReplyTo(kind letter.Kind, offer *catalog.Snapshot) string {
	if kind == letter.OwnerNotice {
		return ""
	}
	return offer.Notifications.ReplyTo
}

// chooseStatus returns the status of a new message and the reason for that status. Messages of a sandbox are never
// sent.
func (m *Messages) chooseStatus(offer *catalog.Snapshot) (string, string) {
	switch {
	case offer.Account.Sandbox:
		return store.MessageNotSent, reasonSandbox
	case m.Sender == nil:
		return store.MessageNotSent, reasonNoServer
	}
	return store.MessageQueued, ""
}

// storeMessages stores messages and inserts the jobs that send them. storeMessages also inserts the argument `next`,
// which is the job that checks the subject again.
func (m *Messages) storeMessages(ctx context.Context, tx pgx.Tx, list []store.Message, next *river.InsertManyParams,
	priority int) error {
	var params []river.InsertManyParams
	if next != nil {
		params = append(params, *next)
	}
	for _, message := range list {
		isNew, err := m.Store.AddMessage(ctx, tx, message)
		if err != nil {
			return err
		}
		if !isNew {
			continue
		}
		m.countOutcome(ctx, message.Kind, outcomeWritten)
		if message.Status == store.MessageQueued {
			params = append(params, river.InsertManyParams{
				Args:       sendJob{BusinessID: message.BusinessID, MessageID: message.ID},
				InsertOpts: &river.InsertOpts{Priority: priority},
			})
		}
	}
	if len(params) == 0 {
		return nil
	}
	_, err := river.ClientFromContext[pgx.Tx](ctx).InsertManyFastTx(ctx, tx, params)
	return err
}

// isRemoved reports whether err means that the business was removed. No message is sent in the name of such a business.
func isRemoved(err error) bool { return fault.Is(err, fault.BusinessNotFound) }
