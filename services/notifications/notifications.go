// Package notifications is the service that sends messages and webhooks. The package reads the event feeds of the
// services booking, rental and catalog, and creates the jobs that each event requires (lifecycle.md §2).
//
// The jobs are River jobs in the database of this service. One transaction processes a page of events: it writes the
// rows of the subscribers, inserts the jobs and moves the cursor of the feed (internal/feed). Each event therefore
// creates each of its jobs exactly once, even if a process dies. A job runs at least once. No other service waits for
// notifications: after an outage of days, notifications continues from the stored cursor.
package notifications

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/eventclient"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/service"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/api"
	"github.com/slotmesh/slotmesh/services/notifications/internal/deliver"
	"github.com/slotmesh/slotmesh/services/notifications/internal/feed"
	"github.com/slotmesh/slotmesh/services/notifications/internal/jobs"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/messages"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
	"github.com/slotmesh/slotmesh/services/notifications/migrations"
)

// Config holds the settings of the notifications service.
type Config struct {
	Server   server.Config
	Postgres postgres.Config
	// CatalogURL is the base URL of the catalog service's internal port.
	CatalogURL string `env:"CATALOG_URL, required"`
	// BookingURL is the base URL of the booking service's internal port.
	BookingURL string `env:"BOOKING_URL, required"`
	// RentalURL is the base URL of the rental service's internal port.
	RentalURL string `env:"RENTAL_URL, required"`
	// ConsoleURL is the base URL of the console service's internal port.
	ConsoleURL string `env:"CONSOLE_URL, required"`
	Mail       mail.Config
	// MessagesKeptFor is the time after which messages are deleted, in any status. Messages about a booking, order or
	// reservation that has ended are deleted earlier if the business's setting privacy.keep_customers_days is shorter.
	MessagesKeptFor time.Duration `env:"MESSAGES_KEPT_FOR, default=2160h"`
	// MessagesPerDay is the maximum number of messages that one business sends within 24 hours. Further messages are
	// held back until the limit allows them.
	MessagesPerDay int `env:"MESSAGES_PER_DAY, default=1000"`
	// MessagesPerDayOf sets other limits than MessagesPerDay for single businesses: ID:NUMBER,ID:NUMBER.
	MessagesPerDayOf map[string]int `env:"MESSAGES_PER_DAY_OF"`
	// MessagesUndo is how long messages about a change by the business wait, so that the business can undo the change.
	MessagesUndo time.Duration `env:"MESSAGES_UNDO, default=20s"`
	// OwnerURL is the public base URL of the owner's console, such as https://owner.example.com. Notices to owners
	// contain links to the console; if OwnerURL is empty, they contain no link.
	OwnerURL string `env:"OWNER_URL"`
	// WebhookAllow lists networks (CIDRs) that webhooks may also call, by HTTP or HTTPS and on any port.
	WebhookAllow []string `env:"WEBHOOK_ALLOW"`
	// WebhookLoopback allows webhooks to this machine, by HTTP or HTTPS and on any port. It is meant for tests.
	WebhookLoopback bool `env:"WEBHOOK_LOOPBACK, default=false"`
}

// Validate checks all settings and returns the errors together. Each error names the environment variable.
func (c *Config) Validate() error {
	errs := []error{c.Server.Validate(), c.Postgres.Validate(), c.Mail.Validate()}
	if c.Mail.Timeout > maxMailTimeout {
		errs = append(errs, fmt.Errorf("SMTP_TIMEOUT: write at most %s: an attempt takes up to twice as long, and a "+
			"job ends after %s", maxMailTimeout, jobs.Timeout))
	}
	if c.MessagesKeptFor < minKeptFor {
		errs = append(errs, fmt.Errorf("MESSAGES_KEPT_FOR: write at least %s, as attempts at a message are made for "+
			"a day", minKeptFor))
	}
	if _, err := parseNetworks(c.WebhookAllow); err != nil {
		errs = append(errs, err)
	}
	if c.OwnerURL != "" && !link.IsBaseURL(c.OwnerURL) {
		errs = append(errs, errors.New("OWNER_URL: write the base of the owner's side, such as "+
			"https://owner.example.com"))
	}
	if c.MessagesPerDay < 1 {
		errs = append(errs, errors.New("MESSAGES_PER_DAY: write a number above 0, such as 1000"))
	}
	for id, n := range c.MessagesPerDayOf {
		if uuid.Validate(id) != nil || n < 1 {
			errs = append(errs, fmt.Errorf("MESSAGES_PER_DAY_OF: %q: write the id of a business and a number above "+
				"0, such as 01890a5d-ac96-774b-bcce-b302099a8057:5000", id))
		}
	}
	if c.MessagesUndo < 0 || c.MessagesUndo > maxUndo {
		errs = append(errs, fmt.Errorf("MESSAGES_UNDO: write a duration of at most %s, such as 20s", maxUndo))
	}
	return errors.Join(errs...)
}

const (
	maxUndo        = 5 * time.Minute
	maxMailTimeout = 25 * time.Second
	minKeptFor     = 48 * time.Hour
)

// parseNetworks parses the networks of WEBHOOK_ALLOW.
func parseNetworks(cidrs []string) ([]netip.Prefix, error) {
	list := make([]netip.Prefix, len(cidrs))
	for i, text := range cidrs {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("WEBHOOK_ALLOW: %q is no network; write one such as 10.0.0.0/8, several with "+
				"commas between them", text)
		}
		list[i] = p.Masked()
	}
	return list, nil
}

// Migrate applies new migrations to the database of the notifications service, including the migrations of River.
func Migrate(ctx context.Context, cfg Config) error {
	return postgres.Migrate(ctx, cfg.Postgres, "notifications", migrations.FS)
}

// Commands are the commands of the program, apart from serving and migrating. Each command takes one argument.
var Commands = map[string]func(ctx context.Context, cfg Config, argument string) error{
	feed.ResumeCommand: func(ctx context.Context, cfg Config, name string) error {
		return ResumeFeed(ctx, cfg.Postgres, name)
	},
}

// ResumeFeed resets the cursor of a feed to the oldest event that the feed still has. An operator calls it after events
// were lost.
func ResumeFeed(ctx context.Context, cfg postgres.Config, name string) error {
	pool, err := postgres.Open(ctx, cfg, "notifications", telemetry.Discard())
	if err != nil {
		return err
	}
	defer pool.Close()
	return store.New(pool).ResumeFeed(ctx, name)
}

// CheckMail opens a session with the mail server at `url`, and ends it without a message. The other arguments are the
// settings MAIL_FROM and SMTP_ALLOW_PLAINTEXT.
func CheckMail(ctx context.Context, url, from string, allowsPlaintext bool) error {
	cfg := mail.Config{URL: url, From: from, AllowPlaintext: allowsPlaintext, Timeout: 20 * time.Second}
	if err := cfg.Validate(); err != nil {
		return err
	}
	sender, err := mail.NewSender(cfg)
	if err != nil {
		return err
	}
	return sender.Check(ctx)
}

// New returns the service. The service connects to no database and no other service before it runs.
func New(ctx context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	return service.New(cfg.Server, rt, func(s *service.Service) error { return assemble(ctx, cfg, rt, s) })
}

func assemble(ctx context.Context, cfg Config, rt server.Runtime, s *service.Service) error {
	pool, err := s.Postgres(ctx, cfg.Postgres, "notifications")
	if err != nil {
		return err
	}
	records := store.New(pool)
	s.Ready("postgres", records.Ready)

	catalog := s.Peer("catalog", cfg.CatalogURL)
	s.AddErasureJob(catalog, records.Erase)
	s.AddRetentionJob(catalog, catalogclient.NewClient(catalog, rt.Telemetry), pool, records)

	allowedNetworks, err := parseNetworks(cfg.WebhookAllow)
	if err != nil {
		return err
	}
	guard := webhook.Guard{AllowLoopback: cfg.WebhookLoopback, AllowedNetworks: allowedNetworks}
	sender := webhook.NewSender(guard, nil, rt.Clock, webhook.SendTimeout)
	s.OnStop("webhooks", func(context.Context) error { sender.Close(); return nil })

	work := jobs.NewWork()
	letters, err := newMailSender(cfg.Mail)
	if err != nil {
		return err
	}
	(&api.Mails{Account: &usecase.Mails{Sender: letters, Clock: rt.Clock,
		Logger: rt.Telemetry.Logger}}).Mount(s.Internal)
	messages := newMessages(cfg, rt, s, pool, records, catalog)
	messages.Sender = letters
	messages.AddTo(work)
	webhooks := &deliver.Webhooks{FindSlug: newSlugFinder(messages), Store: records, Sender: sender,
		NotifyDisabled: newDisabledNotifier(messages),
		Clock:          rt.Clock, Telemetry: rt.Telemetry}
	webhooks.AddTo(work)
	client, err := jobs.Open(pool, work, rt.Clock, rt.Telemetry)
	if err != nil {
		return err
	}
	webhooks.SetJobs(client)
	(&api.Webhooks{Records: records, Owner: &usecase.Webhooks{
		FindSlug: newSlugFinder(messages), Store: records, Guard: guard, ResolveHost: webhook.Resolve, Clock: rt.Clock,
		Wake: webhooks.Wake,
	}}).Mount(s.Internal)
	(&api.Customers{Records: records, Owner: &usecase.Customers{Store: records, Clock: rt.Clock,
		Wake: webhooks.Wake}}).Mount(s.Internal)
	(&api.Messages{Owner: &usecase.Messages{Store: records,
		RetryMessage: func(ctx context.Context, businessID, id uuid.UUID) (store.Message, error) {
			return messages.Retry(ctx, client, businessID, id)
		}}}).Mount(s.Internal)
	(&api.Samples{Owner: &usecase.Samples{Messages: messages, Logger: rt.Telemetry.Logger}}).Mount(s.Internal)
	(&api.SignIns{Customers: &usecase.SignIns{
		Queue: func(ctx context.Context, businessID, id uuid.UUID) error {
			return messages.QueueSignIn(ctx, client, businessID, id)
		}}}).Mount(s.Internal)
	s.Go("jobs", client.Run)
	return addFeeds(cfg, rt, s, records, client, []feed.Subscriber{messages, webhooks})
}

// addFeeds adds a reader for the feed of each service that records events.
func addFeeds(cfg Config, rt server.Runtime, s *service.Service, records *store.Store, client *jobs.Client,
	subscribers []feed.Subscriber) error {
	for _, from := range []struct {
		url    string
		events eventclient.Endpoints
	}{{cfg.CatalogURL, catalogclient.Events}, {cfg.BookingURL, bookingclient.Events}, {cfg.RentalURL, rental.Events}} {
		name := from.events.Feed.Service
		reader, err := feed.New(feed.Config{
			Feed: name, Subscribers: subscribers,
			Events: eventclient.New(s.Peer(name, from.url, peer.Timeout(feed.RequestTimeout)), from.events),
			Jobs:   client, Store: records, Clock: rt.Clock, Telemetry: rt.Telemetry,
		})
		if err != nil {
			return err
		}
		s.Go("feed of "+name, reader.Run)
	}
	return nil
}

// newMailSender returns the sender of mails, or nil if no mail server is configured.
func newMailSender(cfg mail.Config) (messages.Sender, error) {
	if !cfg.IsEnabled() {
		return nil, nil
	}
	return mail.NewSender(cfg)
}

func newMessages(cfg Config, rt server.Runtime, s *service.Service, pool *pgxpool.Pool, records *store.Store,
	catalog *peer.Client) *messages.Messages {
	return messages.New(messages.Config{
		Pool: pool, Store: records, From: cfg.Mail.From, IsPreview: cfg.Mail.IsPreview,
		OwnerURL: strings.TrimSuffix(cfg.OwnerURL, "/"),
		Limits:   messages.NewLimits(cfg.MessagesPerDay, cfg.MessagesPerDayOf), UndoPeriod: cfg.MessagesUndo,
		KeptFor: cfg.MessagesKeptFor, Clock: rt.Clock, Telemetry: rt.Telemetry,
		Peers: messages.NewServices(catalog, s.Peer("booking", cfg.BookingURL), s.Peer("rental", cfg.RentalURL),
			s.Peer("console", cfg.ConsoleURL), rt.Telemetry),
	})
}

// newSlugFinder returns a function that returns the slug of a business, or "" if the business was removed.
func newSlugFinder(m *messages.Messages) func(context.Context, uuid.UUID) (string, error) {
	return func(ctx context.Context, businessID uuid.UUID) (string, error) {
		offer, err := m.Peers.Offer(ctx, businessID)
		switch {
		case fault.Is(err, fault.BusinessNotFound):
			return "", nil
		case err != nil:
			return "", err
		}
		return offer.Slug, nil
	}
}

// newDisabledNotifier returns the function for [deliver.Webhooks.NotifyDisabled]. That function creates the job that
// writes the notice to the owner of a disabled endpoint.
func newDisabledNotifier(m *messages.Messages) func(context.Context, pgx.Tx, store.Endpoint) ([]river.InsertManyParams,
	error) {
	return func(ctx context.Context, tx pgx.Tx, e store.Endpoint) ([]river.InsertManyParams, error) {
		job, err := m.NewDisabledNotice(ctx, tx, e.BusinessID, e.ID, e.URL, e.DisabledReason == store.ReasonGone)
		return []river.InsertManyParams{job}, err
	}
}
