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

// writeJob holds the arguments of the job that writes the messages of a stored event.
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

// Work writes the messages of all stored events of one subject together, and inserts the jobs that send
// them. If the messages of the last event must wait ([Messages.dueAt]), it runs again at that time.
func (w *writer) Work(ctx context.Context, job *river.Job[writeJob]) error {
	for {
		events, err := w.m.Store.SubjectEvents(ctx, job.Args.BusinessID, job.Args.EventID)
		if errors.Is(err, store.ErrNotFound) { // written before, or erased
			return nil
		}
		if err != nil {
			return err
		}
		if wait := w.m.dueAt(events).Sub(w.m.Clock.Now()); wait > 0 {
			return river.JobSnooze(wait)
		}
		if err := w.write(ctx, events, job); err != nil {
			return err
		}
	}
}

// maxUndos limits how long a series of changes can delay the message about them, as a multiple of UndoFor.
const maxUndos = 6

// dueAt returns the time at which the messages of these events are written. All events are about one
// subject, in order. The messages wait UndoFor after the last event if the event can be undone, but at
// most maxUndos*UndoFor after the first.
func (m *Messages) dueAt(events []event.Event) time.Time {
	first, last := events[0], events[len(events)-1]
	due := last.At
	if m.delays(last) {
		due = due.Add(m.UndoFor)
	}
	if latest := first.At.Add(maxUndos * m.UndoFor); latest.Before(due) {
		return latest
	}
	return due
}

// delays reports whether the messages about an event must wait, so that the change can still be undone.
func (m *Messages) delays(e event.Event) bool {
	subject, err := plan.Read(e.Data)
	return err == nil && plan.Delays(plan.Change{Event: e, Subject: subject})
}

// write writes and stores the messages of events of one subject. If several jobs run for the same
// events, only one of them stores messages. In the last attempt, write drops an event whose messages
// cannot be written, so that the other messages of the subject are not lost.
func (w *writer) write(ctx context.Context, events []event.Event, job *river.Job[writeJob]) error {
	list, next, err := w.m.of(ctx, events, func(e event.Event, err error) error {
		if job.Attempt < job.MaxAttempts {
			return err
		}
		w.m.count(ctx, string(e.Type), unwritten)
		w.m.Telemetry.Logger.ErrorContext(ctx, "the messages of an event are given up: they cannot be written",
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
		return w.m.add(ctx, tx, list, next, job.Priority)
	})
	if errors.Is(err, store.ErrNotFound) { // another job was faster
		return nil
	}
	return err
}

// of returns the messages about events of one subject, and the job that checks the subject for
// reminders next. If the messages of an event cannot be written, it calls failed with the event and
// the error. If failed returns nil, it leaves that event out; otherwise it returns that error.
func (m *Messages) of(
	ctx context.Context, events []event.Event, failed func(event.Event, error) error,
) ([]store.Message, *river.InsertManyParams, error) {
	last := events[len(events)-1]
	offer, err := m.Peers.Offer(ctx, last.BusinessID)
	if isGone(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, failed(last, err)
	}
	var changes []plan.Change
	for _, e := range events {
		subject, err := plan.Read(e.Data)
		if err == nil {
			changes = append(changes, plan.Change{Event: e, Subject: subject})
		} else if err := failed(e, err); err != nil {
			return nil, nil, err
		}
	}
	owners := ownersOf(offer)
	drafts, before := plan.Batch(changes, owners)
	verified := m.verified(ctx, last.BusinessID, owners, drafts)
	var (
		list []store.Message
		next *river.InsertManyParams
	)
	for i, c := range changes {
		written, err := m.letters(ctx, offer, c, before, drafts[i])
		if err == nil {
			for at := range written {
				written[at].ByBusiness = plan.ByBusiness(c.Event)
				isNotice := written[at].Kind == string(letter.OwnerNotice)
				written[at].Unlimited = isNotice && slices.Contains(verified, written[at].Recipient)
			}
			list = append(list, written...)
		} else if err := failed(c.Event, err); err != nil {
			return nil, nil, err
		}
		if plan.Begins(c.Event.Type) {
			_, due := plan.Due(plan.Times(c.Event.Subject.Kind, c.Subject, settings(offer)), c.Subject, c.Event.At,
				c.Event.At.Add(-1))
			next = timing(c.Event.BusinessID, c.Event.Subject, c.Subject, due)
		}
	}
	return list, next, nil
}

// ownersOf returns a business's addresses for notices, without duplicates.
func ownersOf(offer *catalog.Offer) []string {
	var addresses []string
	for _, address := range offer.Notifications.OwnerEmails {
		if !slices.ContainsFunc(addresses, func(other string) bool { return strings.EqualFold(address, other) }) {
			addresses = append(addresses, address)
		}
	}
	return addresses
}

// verified returns the owners' addresses that get notices without a limit: those that members of the
// business have verified. Any other address may belong to a person who did not agree to notices. If
// console does not respond, verified returns none, so that messages do not wait for it.
func (m *Messages) verified(
	ctx context.Context, businessID uuid.UUID, owners []string, drafts [][]plan.Draft,
) []string {
	isNotice := func(d plan.Draft) bool { return d.Kind == letter.OwnerNotice }
	if !slices.ContainsFunc(drafts, func(of []plan.Draft) bool { return slices.ContainsFunc(of, isNotice) }) {
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

func settings(offer *catalog.Offer) plan.Settings {
	return plan.Settings{RemindersHoursBefore: offer.Notifications.RemindersHoursBefore, Location: offer.Location()}
}

// letters writes the messages about a change. The argument before is the booking's time and staff
// member before the change, as the customer knows them; nil if they did not change.
func (m *Messages) letters(
	ctx context.Context, offer *catalog.Offer, c plan.Change, before *plan.Place, drafts []plan.Draft,
) ([]store.Message, error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	e, subject := c.Event, c.Subject
	own, err := m.facts(offer, e, offer.DefaultLanguage)
	if err != nil {
		return nil, err
	}
	translated, err := m.facts(offer, e, subject.Locale)
	if err != nil {
		return nil, err
	}
	status, reason := m.initial(offer)
	written := map[letter.Kind]letter.Letter{}
	list := make([]store.Message, 0, len(drafts))
	for _, d := range drafts {
		l, there := written[d.Kind]
		if !there {
			facts := withBefore(offer, translated, subject.Locale, c, before)
			if d.Kind == letter.OwnerNotice {
				facts = withBefore(offer, own, offer.DefaultLanguage, c, c.Subject.From)
			}
			if l, err = m.letter(ctx, d.Kind, offer, e, subject, facts); err != nil {
				return nil, err
			}
			written[d.Kind] = l
		}
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("name a message: %w", err)
		}
		list = append(list, store.Message{
			BusinessID: e.BusinessID, ID: id, Kind: string(d.Kind), EventID: d.EventID, About: e.Subject,
			CustomerEmail: subject.Email,
			Recipient:     d.Recipient, Locale: l.Language, FromName: l.From, ReplyTo: replyTo(d.Kind, offer),
			Subject: l.Subject, Text: l.Text,
			HTML: l.HTML, Calendar: l.Calendar, Method: l.Method, Status: status, Reason: reason,
			AboutEndsAt: ends(own, e.At), CreatedAt: m.Clock.Now(),
		})
	}
	return list, nil
}

// withBefore adds the previous time and staff member of a booking to the facts, with names in the given language.
func withBefore(offer *catalog.Offer, facts letter.Facts, language string, c plan.Change,
	before *plan.Place) letter.Facts {
	if before == nil || c.Event.Subject.Kind != event.Booking || c.Subject.Status == booking.StatusCancelled {
		return facts
	}
	if !before.StartsAt.Equal(facts.Subject.When.Start) || !before.EndsAt.Equal(facts.Subject.When.End) {
		facts.Was = &letter.When{Start: before.StartsAt, End: before.EndsAt}
	}
	if staff := offer.MemberName(before.StaffID, text(before.StaffName), language); staff != facts.Subject.Staff {
		facts.WasStaff = staff
	}
	return facts
}

// letter writes one message. Only messages to customers contain the customer's link.
func (m *Messages) letter(ctx context.Context, kind letter.Kind, offer *catalog.Offer, e event.Event,
	subject plan.Subject, facts letter.Facts) (letter.Letter, error) {
	if kind == letter.OwnerNotice {
		facts.Link = m.ownerPage(offer, e.Subject)
		return letter.Render(kind, "", facts)
	}
	var err error
	if facts.Link, err = m.Peers.Link(ctx, e.BusinessID, e.Subject); err != nil {
		return letter.Letter{}, err
	}
	note := offer.Notifications.Notes[string(kind)]
	facts.Note = letter.Note{Text: note.Text, Translations: note.Translations}
	return letter.Render(kind, subject.Locale, facts)
}

// ownerPage returns the URL of the page on which owners see the subject, or "" if OwnerURL is not set.
// All webhooks have one page in common, and so have all reservations.
func (m *Messages) ownerPage(offer *catalog.Offer, of event.Subject) string {
	if m.OwnerURL == "" {
		return ""
	}
	base := m.OwnerURL + "/business/" + offer.Slug
	switch of.Kind {
	case event.Booking:
		return base + "/bookings/" + of.ID.String()
	case event.Ticket:
		return base + "/tickets/" + of.ID.String()
	case event.Reservation:
		return base + "/rentals"
	default:
		return base + "/settings/webhooks"
	}
}

// replyTo returns the address for replies to a message. It returns "" for a notice to the owner,
// because a reply would come back to the business itself.
func replyTo(kind letter.Kind, offer *catalog.Offer) string {
	if kind == letter.OwnerNotice {
		return ""
	}
	return offer.Notifications.ReplyTo
}

// initial returns the status of a new message and its reason. No message of a sandbox is sent.
func (m *Messages) initial(offer *catalog.Offer) (string, string) {
	switch {
	case offer.Account.Sandbox:
		return store.MessageNotSent, reasonSandbox
	case m.Sender == nil:
		return store.MessageNotSent, reasonNoServer
	}
	return store.MessageQueued, ""
}

// add stores messages and inserts the jobs that send them. It also inserts next, the job that checks the subject again.
func (m *Messages) add(ctx context.Context, tx pgx.Tx, list []store.Message, next *river.InsertManyParams,
	priority int) error {
	var params []river.InsertManyParams
	if next != nil {
		params = append(params, *next)
	}
	for _, message := range list {
		added, err := m.Store.AddMessage(ctx, tx, message)
		if err != nil {
			return err
		}
		if !added {
			continue
		}
		m.count(ctx, message.Kind, written)
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

// isGone reports whether the business was removed. No message is sent in the name of a removed business.
func isGone(err error) bool { return fault.Is(err, fault.BusinessNotFound) }
