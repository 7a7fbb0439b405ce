// Package messages writes and sends the mail that customers and owners get (lifecycle.md §2): which message for which event internal/plan
// says, its words internal/letter, and internal/mail hands it to the mail server.
//
// It subscribes to the events. An event that somebody is told of is kept, in the transaction that takes it, until a job has made its
// messages, in the order of its subject; they are written down, and the jobs that send them made, in the transaction that drops
// the event. So there is one message for each event, kind and recipient. It is sent at least once: a process that dies between the mail
// server's yes and the commit sends it again, under the same Message-ID.
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

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/notifications/internal/jobs"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// Peers are the services that know what a message tells. Their errors are faults.
type Peers interface {
	// Offer returns the offer of a business. Fault: business_not_found once it is removed.
	Offer(ctx context.Context, businessID uuid.UUID) (*catalog.Offer, error)
	// Subject returns a booking or a reservation as it is now, as the admin API shows it. Fault: not_found.
	Subject(ctx context.Context, businessID uuid.UUID, subject event.Subject) (json.RawMessage, error)
	// Link returns the customer's link to a subject, "" where there is none to show.
	Link(ctx context.Context, businessID uuid.UUID, subject event.Subject) (string, error)
	// VerifiedMembers returns those of these addresses that belong to verified members of a business, or to operators.
	VerifiedMembers(ctx context.Context, businessID uuid.UUID, emails []string) ([]string, error)
}

// Sender hands a message to the mail server; *mail.Sender is the one outside tests. Errors: [*mail.RefusedError], [*mail.UnsentError].
type Sender interface {
	Send(ctx context.Context, m mail.Message) error
}

// Config is what [New] puts together.
type Config struct {
	Pool      *pgxpool.Pool
	Store     *store.Store
	Peers     Peers
	Sender    Sender // nil: messages are kept, and none is sent
	Preview   bool   // Sender only shows messages, so that none of them is sent
	Limits    Limits
	UndoFor   time.Duration // messages about a change by the business wait that long, so that the change can be undone
	From      string        // the address that messages come from; "" where none are sent
	OwnerURL  string        // base of the owner's pages, which notices link to; "": they have no link
	KeptFor   time.Duration // after which a message is deleted
	Clock     clock.Clock
	Telemetry *telemetry.Telemetry
}

// Limits bound the messages of one business.
type Limits struct {
	RecipientHour int // to one customer within an hour
	RecipientDay  int // to one customer within 24 hours
	BusinessDay   int // to all recipients within 24 hours
	// CustomersShare is the percentage of BusinessDay for messages that a change by the business does not cause. The rest
	// stays for those that it causes, however much customers book.
	CustomersShare int
	BusinessDays   map[string]int // the same of single businesses, by their ids
}

// Limits of messages to one customer (lifecycle.md §2).
const (
	maxRecipientHour = 6
	maxRecipientDay  = 20
	customersShare   = 80
	// DefaultUndoFor is how long messages about a change by the business wait.
	DefaultUndoFor = 20 * time.Second
)

// RecipientLimits returns the limits of messages to one customer, and these of all messages of a business a day.
func RecipientLimits(businessDay int, businessDays map[string]int) Limits {
	return Limits{
		RecipientHour: maxRecipientHour, RecipientDay: maxRecipientDay, BusinessDay: businessDay, BusinessDays: businessDays,
		CustomersShare: customersShare,
	}
}

// Messages writes and sends messages.
type Messages struct {
	Config

	outcomes metric.Int64Counter
}

// New returns what writes and sends messages.
func New(cfg Config) *Messages {
	return &Messages{Config: cfg, outcomes: cfg.Telemetry.Counter("slotmesh.messages", "Messages by kind and by what became of them: "+
		"written, sent, refused for good, unsent and tried again, given up after a day, held by a limit, replaced by a newer one, or failed before they were written.")}
}

// The queues of the jobs: writing waits for peers, sending for the mail server, and neither for the other.
const (
	queueWrite = "messages"
	queueSend  = "mail"
	workers    = 8 // of each, in one process
)

// AddTo adds the work to that of the service.
func (m *Messages) AddTo(work *jobs.Work) {
	river.AddWorker(work.Workers, &writer{m: m})
	river.AddWorker(work.Workers, &timer{m: m})
	river.AddWorker(work.Workers, &sender{m: m})
	river.AddWorker(work.Workers, &sweeper{m: m})
	work.Queues[queueWrite], work.Queues[queueSend] = river.QueueConfig{MaxWorkers: workers}, river.QueueConfig{MaxWorkers: workers}
	work.Periodic = append(work.Periodic, river.NewPeriodicJob(river.PeriodicInterval(sweepEvery),
		func() (river.JobArgs, *river.InsertOpts) { return sweepJob{}, &river.InsertOpts{Queue: queueWrite} }, &river.PeriodicJobOpts{RunOnStart: true}))
}

// Take keeps the events that somebody is told of, and returns a job for each.
func (m *Messages) Take(ctx context.Context, tx pgx.Tx, events []event.Event) ([]river.InsertManyParams, error) {
	var told []event.Event
	for _, e := range events {
		if plan.Told(e.Type) {
			told = append(told, e)
		}
	}
	if len(told) == 0 {
		return nil, nil
	}
	if err := m.Store.KeepEvents(ctx, tx, told); err != nil {
		return nil, err
	}
	businesses := make([]uuid.UUID, 0, len(told))
	for _, e := range told {
		businesses = append(businesses, e.BusinessID)
	}
	backlog, err := m.Store.Backlog(ctx, tx, businesses, backlogs[len(backlogs)-1])
	if err != nil {
		return nil, err
	}
	params := make([]river.InsertManyParams, len(told))
	for i, e := range told {
		opts := &river.InsertOpts{Priority: priority(backlog[e.BusinessID])}
		if m.delays(e) {
			opts.ScheduledAt = e.At.Add(m.UndoFor)
		}
		params[i] = river.InsertManyParams{Args: writeJob{BusinessID: e.BusinessID, EventID: e.ID}, InsertOpts: opts}
	}
	return params, nil
}

// backlogs are how many events of a business wait at each priority but the last: the more it brings, the later they come, so that
// those of a business that brings few overtake them.
var backlogs = [...]int{20, 200, 2000}

// priority is a job's, 1 to 4; 1 is first.
func priority(waiting int) int {
	for i, most := range backlogs {
		if waiting < most {
			return i + 1
		}
	}
	return len(backlogs) + 1
}

// EndpointDisabled has the owner told that a webhook endpoint was disabled: gone says that it answered 410, else its every delivery
// failed for days. It is called in the transaction that disables the endpoint; the job is to be inserted in it.
func (m *Messages) EndpointDisabled(ctx context.Context, tx pgx.Tx, businessID, endpointID uuid.UUID, url string, gone bool) (river.InsertManyParams, error) {
	data, err := json.Marshal(endpoint{URL: url, Gone: gone})
	if err != nil {
		return river.InsertManyParams{}, err
	}
	now := m.Clock.Now()
	id, err := uuid.NewV7()
	if err != nil {
		return river.InsertManyParams{}, fmt.Errorf("name the notice of an endpoint: %w", err)
	}
	params, err := m.Take(ctx, tx, []event.Event{{
		ID: id, Type: plan.EndpointDisabled, BusinessID: businessID, Subject: event.Subject{Kind: "webhook", ID: endpointID},
		At: now, Actor: actor.Actor{Kind: actor.System}, Sequence: int(now.Unix()), Data: data,
	}})
	if err != nil {
		return river.InsertManyParams{}, err
	}
	return params[0], nil
}

// endpoint is the data of [plan.EndpointDisabled].
type endpoint struct {
	URL  string `json:"url"`
	Gone bool   `json:"gone"`
}

// Outcomes of messages, for the metric.
const (
	written   = "written"
	unwritten = "unwritten"
	sent      = "sent"
	refused   = "refused"
	unsent    = "unsent"
	givenUp   = "given_up"
	heldBack  = "held"     // by a limit
	replaced  = "replaced" // by a newer message, while a limit held it back
)

func (m *Messages) count(ctx context.Context, kind, outcome string) {
	m.outcomes.Add(ctx, 1, metric.WithAttributes(attribute.String("kind", kind), attribute.String("outcome", outcome)))
}
