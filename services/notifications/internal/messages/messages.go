// Package messages writes and sends the mails to customers and owners (lifecycle.md §2). internal/plan decides
// which messages an event leads to, internal/letter writes them, and internal/mail hands them to the mail server.
//
// The package subscribes to the event feeds. The transaction that takes an event stores the event if it
// leads to messages. A job writes the messages of stored events, in the order of each subject. One
// transaction stores the messages, inserts the jobs that send them and deletes the stored events, so there
// is one message per event, kind and recipient. A message is sent at least once. If a process dies after
// the mail server accepted the message and before the commit, it is sent again under the same Message-ID.
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
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/notifications/internal/jobs"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// Peers reads the data of messages from other services. Its errors are faults.
type Peers interface {
	// Offer returns the snapshot of a business. Fault: business_not_found once it is removed.
	Offer(ctx context.Context, businessID uuid.UUID) (*catalog.Offer, error)
	// Subject returns a booking, a ticket order or a reservation in
	// its present state, as the admin API shows it. Fault: not_found.
	Subject(ctx context.Context, businessID uuid.UUID, subject event.Subject) (json.RawMessage, error)
	// Link returns the customer's link to a subject, or "" without one.
	Link(ctx context.Context, businessID uuid.UUID, subject event.Subject) (string, error)
	// VerifiedMembers returns the addresses in emails that belong to verified members of a business or to operators.
	VerifiedMembers(ctx context.Context, businessID uuid.UUID, emails []string) ([]string, error)
}

// Sender hands a message to the mail server; outside tests it is
// *mail.Sender. Errors: [*mail.RefusedError], [*mail.UnsentError].
type Sender interface {
	Send(ctx context.Context, m mail.Message) error
}

// Config holds the dependencies and settings of [New].
type Config struct {
	Pool      *pgxpool.Pool
	Store     *store.Store
	Peers     Peers
	Sender    Sender // nil: messages are kept, and none is sent
	Preview   bool   // Sender only shows messages, so none of them counts as sent
	Limits    Limits
	UndoFor   time.Duration // how long messages about a change by the business wait, so that it can be undone
	From      string        // the sender's address; "" if no message is sent
	OwnerURL  string        // base URL of the owner's pages that notices link to; "": no links
	KeptFor   time.Duration // after which a message is deleted
	Clock     clock.Clock
	Telemetry *telemetry.Telemetry
}

// Limits are the limits on the messages of one business.
type Limits struct {
	RecipientHour int // to one customer within an hour
	RecipientDay  int // to one customer within 24 hours
	BusinessDay   int // to all recipients within 24 hours
	// CustomersShare is the percentage of BusinessDay that messages caused by customers may use. The rest
	// is reserved for messages caused by the business, so that many bookings cannot block them.
	CustomersShare int
	BusinessDays   map[string]int // overrides of BusinessDay by business id
}

// Limits of messages to one customer (lifecycle.md §2).
const (
	maxRecipientHour = 6
	maxRecipientDay  = 20
	customersShare   = 80
	// DefaultUndoFor is how long messages about a change by the business wait.
	DefaultUndoFor = 20 * time.Second
)

// RecipientLimits returns the limits on the messages of a business. The limits per customer are fixed. businessDay
// limits all messages of a business within 24 hours; businessDays overrides it for single businesses, by id.
func RecipientLimits(businessDay int, businessDays map[string]int) Limits {
	return Limits{
		RecipientHour: maxRecipientHour, RecipientDay: maxRecipientDay, BusinessDay: businessDay,
		BusinessDays:   businessDays,
		CustomersShare: customersShare,
	}
}

// Messages writes and sends messages.
type Messages struct {
	Config

	outcomes metric.Int64Counter
}

// New returns a Messages.
func New(cfg Config) *Messages {
	return &Messages{Config: cfg, outcomes: cfg.Telemetry.Counter("slotmesh.messages",
		"Messages by kind and by what became of them: "+
			"written, sent, refused for good, unsent and tried again, given up after a day, held by a limit, "+
			"replaced by "+
			"a newer one, or failed before they were written.")}
}

// The queues of the jobs. Jobs that write messages wait for other services, and jobs that send them
// wait for the mail server. With two queues, neither kind blocks the other.
const (
	queueWrite = "messages"
	queueSend  = "mail"
	workers    = 8 // of each queue, in one process
)

// AddTo adds the workers, queues and periodic jobs of messages to the work of the service.
func (m *Messages) AddTo(work *jobs.Work) {
	river.AddWorker(work.Workers, &writer{m: m})
	river.AddWorker(work.Workers, &timer{m: m})
	river.AddWorker(work.Workers, &sender{m: m})
	river.AddWorker(work.Workers, &sweeper{m: m})
	work.Queues[queueWrite], work.Queues[queueSend] = river.QueueConfig{MaxWorkers: workers},
		river.QueueConfig{MaxWorkers: workers}
	work.Periodic = append(work.Periodic, river.NewPeriodicJob(river.PeriodicInterval(sweepEvery),
		func() (river.JobArgs, *river.InsertOpts) {
			return sweepJob{}, &river.InsertOpts{Queue: queueWrite}
		}, &river.PeriodicJobOpts{RunOnStart: true}))
}

// Take stores the events that lead to messages, and returns a job for each.
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

// backlogs are limits on the number of a business's waiting events. Fewer events than backlogs[i] give priority i+1;
// more events than all limits give the last priority. Jobs of businesses with few events thus run before the others.
var backlogs = [...]int{20, 200, 2000}

// priority returns the priority of a job for a business with this number of waiting events: from 1,
// which runs first, to 4.
func priority(waiting int) int {
	for i, most := range backlogs {
		if waiting < most {
			return i + 1
		}
	}
	return len(backlogs) + 1
}

// EndpointDisabled returns a job that writes the notice to the owner about a disabled webhook
// endpoint. The argument gone is true if the endpoint answered 410, and false if all its deliveries
// failed for days. Call it, and insert the job, in the transaction that disables the endpoint.
func (m *Messages) EndpointDisabled(ctx context.Context, tx pgx.Tx, businessID, endpointID uuid.UUID, url string,
	gone bool) (river.InsertManyParams, error) {
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
		ID: id, Type: plan.EndpointDisabled, BusinessID: businessID,
		Subject: event.Subject{Kind: "webhook", ID: endpointID},
		At:      now, Actor: actor.Actor{Kind: actor.System}, Sequence: int(now.Unix()), Data: data,
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

// Outcomes of messages for the metric.
const (
	written   = "written"
	unwritten = "unwritten"
	sent      = "sent"
	refused   = "refused"
	unsent    = "unsent"
	givenUp   = "given_up"
	heldBack  = "held"     // by a limit
	replaced  = "replaced" // by a newer message, while held
)

func (m *Messages) count(ctx context.Context, kind, outcome string) {
	m.outcomes.Add(ctx, 1, metric.WithAttributes(attribute.String("kind", kind), attribute.String("outcome", outcome)))
}
