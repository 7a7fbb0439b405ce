// Package messages writes and sends the mails to customers and owners (lifecycle.md §2). Package internal/plan decides
// which messages an event requires, internal/letter writes them, and internal/mail sends them to the mail server.
//
// The package subscribes to the event feeds. The transaction that processes an event stores the event if the event
// requires messages. A job then writes the messages of the stored events of one subject, in order. One transaction
// stores the messages, inserts the jobs that send them and deletes the stored events. Each event therefore leads to one
// message per kind and recipient.
//
// A message is sent at least once. If a process dies after the mail server accepted the message and before the commit,
// the message is sent again with the same Message-ID.
package messages

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/notifications/internal/jobs"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// Peers reads the data for messages from other services. The errors of its methods are faults.
type Peers interface {
	// Offer returns the snapshot of a business. Fault: business_not_found if the business was removed.
	Offer(ctx context.Context, businessID uuid.UUID) (*catalog.Snapshot, error)
	// Subject returns a booking, a ticket order or a reservation in its current state, in the format of the admin API.
	// Fault: not_found.
	Subject(ctx context.Context, businessID uuid.UUID, subject event.Subject) (json.RawMessage, error)
	// Link returns the URL of the customer view of a subject, or "" if the subject has no customer view.
	Link(ctx context.Context, businessID uuid.UUID, subject event.Subject) (string, error)
	// DecisionLink returns the URL with which a recipient confirms or declines a pending booking, or "" if there is none.
	DecisionLink(ctx context.Context, businessID uuid.UUID, recipient booking.DecisionRecipient) (string, error)
	// VerifiedMembers returns those addresses in `emails` that belong to operators or to verified members of the
	// business.
	VerifiedMembers(ctx context.Context, businessID uuid.UUID, emails []string) ([]string, error)
	// SignIn returns a customer's sign-in whose link can still be used. Fault: not_found.
	SignIn(ctx context.Context, businessID, id uuid.UUID) (*booking.SignIn, error)
	// HasReservations reports whether a reservation of the business has the address.
	HasReservations(ctx context.Context, businessID uuid.UUID, email string) (bool, error)
	// PictureFile returns a file of an uploaded picture. Fault: not_found.
	PictureFile(ctx context.Context, name string) ([]byte, error)
}

// Sender sends a message to the mail server. Its implementation is *mail.Sender, except in tests. Errors:
// [*mail.RefusedError], [*mail.UnsentError].
type Sender interface {
	Send(ctx context.Context, m mail.Message) error
}

// Config holds the dependencies and settings of [Messages].
type Config struct {
	Pool       *pgxpool.Pool
	Store      *store.Store
	Peers      Peers
	Sender     Sender // nil: messages are stored but not sent
	IsPreview  bool   // Sender only shows messages to the operator, so they count as not sent
	Limits     Limits
	UndoPeriod time.Duration // how long messages about a change wait, so that the business can undo the change
	From       string        // the sender's address; required if Sender is set
	OwnerURL   string        // base URL of the owner's pages; "": notices have no links
	KeptFor    time.Duration // time after which a message is deleted
	Clock      clock.Clock
	Telemetry  *telemetry.Telemetry
}

// Limits are the limits on the number of messages of one business.
type Limits struct {
	MaxRecipientHour int // most messages to one customer within an hour
	MaxRecipientDay  int // most messages to one customer within 24 hours
	MaxBusinessDay   int // most messages of the business, to all recipients together, within 24 hours
	// CustomersShare is the percentage of MaxBusinessDay that messages about changes by customers may use. The rest is
	// reserved for messages about changes by the business, so that many bookings cannot block those messages.
	CustomersShare  int
	MaxBusinessDays map[string]int // limits by business id that replace MaxBusinessDay
}

// The limits on the number of messages to one customer (lifecycle.md §2).
const (
	maxRecipientHour = 6
	maxRecipientDay  = 20
	customersShare   = 80
	// DefaultUndoPeriod is how long messages about a change by the business wait, so that the business can undo it.
	DefaultUndoPeriod = 20 * time.Second
)

// NewLimits returns the limits on the messages of a business. The limits per customer are constants. The argument
// `maxBusinessDay` limits all messages of a business within 24 hours. The argument `maxBusinessDays` contains limits
// for single businesses, by business id; these limits replace `maxBusinessDay`.
func NewLimits(maxBusinessDay int, maxBusinessDays map[string]int) Limits {
	return Limits{
		MaxRecipientHour: maxRecipientHour, MaxRecipientDay: maxRecipientDay, MaxBusinessDay: maxBusinessDay,
		MaxBusinessDays: maxBusinessDays,
		CustomersShare:  customersShare,
	}
}

// Messages writes the messages about events and sends them.
type Messages struct {
	Config

	outcomes metric.Int64Counter
	logos    *lru.Cache[string, cachedLogo] // logos by the name of their file
}

// New returns the messages of a service with the given parts.
func New(cfg Config) *Messages {
	logos := lru.New[string](maxLogos, func(logo cachedLogo) int { return len(logo.content) + logoOverhead })
	return &Messages{Config: cfg, logos: logos, outcomes: cfg.Telemetry.Counter("slotmesh.messages",
		"Messages by kind and outcome: written, sent, rejected, not sent and retried, not sent within a day, "+
			"delayed by a limit, replaced by a newer one, or failed before they were written.")}
}

// The queues of the jobs. The jobs in queueWrite wait for other services, and the jobs in queueSend wait for the mail
// server. Because of the two queues, neither kind of job delays the other.
const (
	queueWrite = "messages"
	queueSend  = "mail"
	workers    = 8 // number of workers of each queue, in one process
)

// AddTo adds the workers, queues and periodic jobs for messages to the argument `work`.
func (m *Messages) AddTo(work *jobs.Work) {
	river.AddWorker(work.Workers, &writer{m: m})
	river.AddWorker(work.Workers, &timer{m: m})
	river.AddWorker(work.Workers, &sender{m: m})
	river.AddWorker(work.Workers, &signInSender{m: m})
	river.AddWorker(work.Workers, &sweeper{m: m})
	work.Queues[queueWrite], work.Queues[queueSend] = river.QueueConfig{MaxWorkers: workers},
		river.QueueConfig{MaxWorkers: workers}
	work.Periodic = append(work.Periodic, river.NewPeriodicJob(river.PeriodicInterval(sweepEvery),
		func() (river.JobArgs, *river.InsertOpts) {
			return sweepJob{}, &river.InsertOpts{Queue: queueWrite}
		}, &river.PeriodicJobOpts{RunOnStart: true}))
}

// Take stores the events that require messages. For each stored event, it returns a job that writes the messages.
func (m *Messages) Take(ctx context.Context, tx pgx.Tx, events []event.Event) ([]river.InsertManyParams, error) {
	var relevant []event.Event
	for _, e := range events {
		if plan.LeadsToMessages(e.Type) {
			relevant = append(relevant, e)
		}
	}
	if len(relevant) == 0 {
		return nil, nil
	}
	if err := m.Store.StoreEvents(ctx, tx, relevant); err != nil {
		return nil, err
	}
	businesses := make([]uuid.UUID, 0, len(relevant))
	for _, e := range relevant {
		businesses = append(businesses, e.BusinessID)
	}
	backlog, err := m.Store.CountBacklog(ctx, tx, businesses, backlogLimits[len(backlogLimits)-1])
	if err != nil {
		return nil, err
	}
	params := make([]river.InsertManyParams, len(relevant))
	for i, e := range relevant {
		opts := &river.InsertOpts{Priority: choosePriority(backlog[e.BusinessID])}
		if m.mustWait(e) {
			opts.ScheduledAt = e.At.Add(m.UndoPeriod)
		}
		params[i] = river.InsertManyParams{Args: writeJob{BusinessID: e.BusinessID, EventID: e.ID}, InsertOpts: opts}
	}
	return params, nil
}

// backlogLimits are limits on the number of a business's waiting events. A business with fewer events than
// backlogLimits[i] gets priority i+1. A business that exceeds all limits gets the last priority. Jobs of businesses
// with few waiting events therefore run first.
var backlogLimits = [...]int{20, 200, 2000}

// choosePriority returns the priority of a job for a business with the given number of waiting events. Jobs with
// priority 1 run first, and jobs with priority 4 run last.
func choosePriority(waiting int) int {
	for i, limit := range backlogLimits {
		if waiting < limit {
			return i + 1
		}
	}
	return len(backlogLimits) + 1
}

// NewDisabledNotice returns a job that writes the notice to the owner about a disabled webhook endpoint. The argument
// `gone` is true if the endpoint answered 410, and false if all its deliveries failed for days. The argument `tx` must
// be the transaction that disables the endpoint; the caller must insert the job in the same transaction.
func (m *Messages) NewDisabledNotice(ctx context.Context, tx pgx.Tx, businessID, endpointID uuid.UUID, url string,
	gone bool) (river.InsertManyParams, error) {
	data, err := json.Marshal(disabledEndpoint{URL: url, IsGone: gone})
	if err != nil {
		return river.InsertManyParams{}, err
	}
	now := m.Clock.Now()
	id, err := uuid.NewV7()
	if err != nil {
		return river.InsertManyParams{}, fmt.Errorf("name the notice of an endpoint: %w", err)
	}
	params, err := m.Take(ctx, tx, []event.Event{{
		ID: id, Type: plan.EndpointDisabled, BusinessID: businessID,
		Subject: event.Subject{Kind: "webhook", ID: endpointID},
		At:      now, Actor: actor.Actor{Kind: actor.System}, Sequence: int(now.Unix()), Data: data,
	}})
	if err != nil {
		return river.InsertManyParams{}, err
	}
	return params[0], nil
}

// disabledEndpoint is the data of an event of type [plan.EndpointDisabled].
type disabledEndpoint struct {
	URL    string `json:"url"`
	IsGone bool   `json:"gone"`
}

// The outcomes of messages, as labels of the metric slotmesh.messages.
const (
	outcomeWritten   = "written"
	outcomeUnwritten = "unwritten"
	outcomeSent      = "sent"
	outcomeRefused   = "refused"
	outcomeUnsent    = "unsent"
	outcomeGivenUp   = "given_up"
	outcomeHeld      = "held"     // a limit holds the message back
	outcomeReplaced  = "replaced" // a newer message replaced the message while a limit held it back
)

func (m *Messages) countOutcome(ctx context.Context, kind, outcome string) {
	m.outcomes.Add(ctx, 1, metric.WithAttributes(attribute.String("kind", kind), attribute.String("outcome", outcome)))
}
