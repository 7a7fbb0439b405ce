package messages

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// writeJob makes the messages of a kept event.
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

// Work writes the messages of an event down, and before those of the earlier ones of its subject, and makes the jobs that send them.
func (w *writer) Work(ctx context.Context, job *river.Job[writeJob]) error {
	for {
		e, err := w.m.Store.FirstEvent(ctx, job.Args.BusinessID, job.Args.EventID)
		if errors.Is(err, store.ErrNotFound) { // made before, or forgotten
			return nil
		}
		if err != nil {
			return err
		}
		if err := w.write(ctx, e, job); err != nil {
			return err
		}
	}
}

// write writes the messages of one event down; of many that do, one does it. An event whose messages cannot be written is given up after the
// last attempt, so that later ones of its subject are told of.
func (w *writer) write(ctx context.Context, e event.Event, job *river.Job[writeJob]) error {
	list, next, err := w.m.of(ctx, e)
	if err != nil {
		if job.Attempt < job.MaxAttempts {
			return err
		}
		w.m.count(ctx, string(e.Type), unwritten)
		w.m.Telemetry.Logger.ErrorContext(ctx, "the messages of an event are given up: they cannot be written",
			"business_id", e.BusinessID, "event_id", e.ID, "type", string(e.Type), "error", err)
	}
	err = pgx.BeginFunc(ctx, w.m.Pool, func(tx pgx.Tx) error {
		if err := w.m.Store.DropEvent(ctx, tx, e.BusinessID, e.ID); err != nil {
			return err
		}
		return w.m.add(ctx, tx, list, next, job.Priority)
	})
	if errors.Is(err, store.ErrNotFound) { // another job was faster
		return nil
	}
	return err
}

// of returns the messages of an event, and when its subject is to be looked at again.
func (m *Messages) of(ctx context.Context, e event.Event) ([]store.Message, *river.InsertManyParams, error) {
	offer, err := m.Peers.Offer(ctx, e.BusinessID)
	if isGone(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	subject, err := plan.Read(e.Data)
	if err != nil {
		return nil, nil, err
	}
	list, err := m.letters(ctx, offer, e, subject, plan.Of(e, subject, offer.Notifications.OwnerEmails))
	if err != nil {
		return nil, nil, err
	}
	if !plan.Begins(e.Type) {
		return list, nil, nil
	}
	_, next := plan.Due(plan.Times(e.Subject.Kind, subject, settings(offer)), subject, e.At, e.At.Add(-1))
	return list, timing(e.BusinessID, e.Subject, subject, next), nil
}

func settings(offer *catalog.Offer) plan.Settings {
	return plan.Settings{RemindersHoursBefore: offer.Notifications.RemindersHoursBefore, Location: offer.Location()}
}

// letters writes the messages that are to be written.
func (m *Messages) letters(ctx context.Context, offer *catalog.Offer, e event.Event, subject plan.Subject, drafts []plan.Draft) ([]store.Message, error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	facts, err := m.facts(offer, e)
	if err != nil {
		return nil, err
	}
	written := map[letter.Kind]letter.Letter{}
	list := make([]store.Message, 0, len(drafts))
	for _, d := range drafts {
		l, there := written[d.Kind]
		if !there {
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
			BusinessID: e.BusinessID, ID: id, Kind: string(d.Kind), EventID: d.EventID, About: e.Subject, CustomerEmail: subject.Email,
			Recipient: d.Recipient, Locale: l.Language, FromName: l.From, ReplyTo: replyTo(d.Kind, offer), Subject: l.Subject, Text: l.Text,
			HTML: l.HTML, Calendar: l.Calendar, Method: l.Method, Status: m.initial(offer), AboutEndsAt: ends(facts, e.At), CreatedAt: m.Clock.Now(),
		})
	}
	return list, nil
}

// letter writes one message. The customer's link is the customer's alone.
func (m *Messages) letter(ctx context.Context, kind letter.Kind, offer *catalog.Offer, e event.Event, subject plan.Subject, facts letter.Facts) (letter.Letter, error) {
	if kind == letter.OwnerNotice {
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

// replyTo is where the answer to a message goes. A notice is from the business to itself: its owner's answer would come back.
func replyTo(kind letter.Kind, offer *catalog.Offer) string {
	if kind == letter.OwnerNotice {
		return ""
	}
	return offer.Notifications.ReplyTo
}

// initial is the status of a new message. Nobody is written to in the name of a sandbox.
func (m *Messages) initial(offer *catalog.Offer) string {
	if m.Sender == nil || offer.Account.Sandbox {
		return store.MessageKept
	}
	return store.MessageQueued
}

// add writes messages down and makes the jobs that send them, and the one that looks at the subject again.
func (m *Messages) add(ctx context.Context, tx pgx.Tx, list []store.Message, next *river.InsertManyParams, priority int) error {
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
				Args: sendJob{BusinessID: message.BusinessID, MessageID: message.ID}, InsertOpts: &river.InsertOpts{Priority: priority},
			})
		}
	}
	if len(params) == 0 {
		return nil
	}
	_, err := river.ClientFromContext[pgx.Tx](ctx).InsertManyFastTx(ctx, tx, params)
	return err
}

// isGone reports whether the business was removed: nobody is told anything in its name any more.
func isGone(err error) bool { return fault.Is(err, fault.BusinessNotFound) }
