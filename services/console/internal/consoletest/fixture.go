package consoletest

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// Token is the admin token that is set in the environment of each [Fixture].
var Token = rand.Text()

// OwnerURL is the base URL of the owner's pages. Links in mails begin with this URL.
const OwnerURL = "https://owner.example.com"

// Fixture is a console that runs in a test, with fakes of all services that console calls.
type Fixture struct {
	URL           string
	InternalURL   string // base URL of console's internal port
	Catalog       *Catalog
	Booking       *Booking
	Rental        *Rental
	Availability  *Availability
	Notifications *Notifications
	Log           *Log
	Peers         *Peers        // records the requests to the fakes
	Store         *store.Store  // store that reads and writes console's database
	Pool          *pgxpool.Pool // connections to console's database
	Routes        []fiber.Route // routes of console's public port
	// StopBooking stops the fake booking service, so that console cannot reach it.
	StopBooking func()
	// StopRental stops the fake rental service, so that console cannot reach it.
	StopRental func()
	// StopAvailability stops the fake availability service, so that console cannot reach it.
	StopAvailability func()

	cfg       console.Config
	clock     clock.Clock
	telemetry *telemetry.Telemetry
}

// Log collects the log lines of console.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends a line to the collected log.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// String returns all lines that console has logged.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Start runs console until the test ends.
func Start(t *testing.T, change ...func(*console.Config)) *Fixture {
	t.Helper()
	return StartAt(t, clock.System(), change...)
}

// StartAt is [Start], but console reads the time from the clock in the argument `now`.
func StartAt(t *testing.T, now clock.Clock, change ...func(*console.Config)) *Fixture {
	t.Helper()
	w := &Fixture{Catalog: &Catalog{}, Booking: &Booking{}, Rental: &Rental{}, Availability: &Availability{},
		Notifications: &Notifications{}, Log: &Log{}, Peers: &Peers{}}
	offers := httptest.NewServer(w.Peers.countRequests(w.Catalog.Handler()))
	t.Cleanup(offers.Close)
	bookings := httptest.NewServer(w.Peers.countRequests(w.Booking.Handler()))
	t.Cleanup(bookings.Close)
	w.StopBooking = bookings.Close
	rentals := httptest.NewServer(w.Peers.countRequests(w.Rental.Handler()))
	t.Cleanup(rentals.Close)
	w.StopRental = rentals.Close
	slots := httptest.NewServer(w.Peers.countRequests(w.Availability.Handler()))
	t.Cleanup(slots.Close)
	w.StopAvailability = slots.Close
	webhooks := httptest.NewServer(w.Peers.countRequests(w.Notifications.Handler()))
	t.Cleanup(webhooks.Close)

	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewJSONHandler(w.Log, nil))
	cfg := console.Config{
		Server: server.Config{
			PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0",
			RequestTimeout: 2 * time.Minute, DrainTimeout: 2 * time.Minute,
			Peers: peer.Config{Timeout: 2 * time.Minute}, PublicBodyLimit: 1000, InternalBodyLimit: 10_000,
		},
		Postgres: testkit.PostgresSchema(t, "console"), Redis: testkit.RedisConfig(t),
		Limits:     limits.Config{Counting: ratelimit.Config{Timeout: testkit.MaxWait}},
		AdminToken: Token, CatalogURL: offers.URL, BookingURL: bookings.URL, RentalURL: rentals.URL,
		AvailabilityURL: slots.URL, NotificationsURL: webhooks.URL, PublishTimeout: 2 * time.Minute,
		OwnerURL: OwnerURL, PagesURL: "https://book.example.org", PasswordSignIn: true,
		Events: eventlog.Config{KeepDays: 90},
	}
	for _, c := range change {
		c(&cfg)
	}
	if err := console.Migrate(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	srv, err := console.New(t.Context(), cfg, server.Runtime{Open: true, Name: "console", Clock: now, Telemetry: tel})
	if err != nil {
		t.Fatal(err)
	}
	w.Routes, w.clock = srv.Public.GetRoutes(true), now
	w.openStore(t, cfg.Postgres)
	run(t, srv)
	w.URL, w.InternalURL = "http://"+srv.PublicAddr().String(), "http://"+srv.InternalAddr().String()
	w.cfg, w.telemetry = cfg, tel
	return w
}

// StartReplica runs another console with the same database and the same fakes, until the test ends. StartReplica
// returns a copy of the Fixture. The field URL of the copy is the base URL of the other console's public port.
func (w *Fixture) StartReplica(t *testing.T) *Fixture {
	t.Helper()
	srv, err := console.New(t.Context(), w.cfg, server.Runtime{Open: true, Name: "console", Clock: w.clock,
		Telemetry: w.telemetry})
	if err != nil {
		t.Fatal(err)
	}
	run(t, srv)
	other := *w
	other.URL = "http://" + srv.PublicAddr().String()
	return &other
}

func run(t *testing.T, srv *server.Server) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("console did not stop cleanly: %v", err)
		}
	})
}

// Answer is a response of console to a test's request.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Call sends a request with the admin token to console, and returns the response. The argument `header` has alternating
// names and values of headers. If `header` contains the header Authorization, this header replaces the admin token.
func (w *Fixture) Call(t *testing.T, method, path, body string, header ...string) Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, w.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+Token)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Minute}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{Status: response.StatusCode, Header: response.Header, Body: string(text)}
}

// BuildManifest returns a small valid manifest of a business.
func BuildManifest(slug, name string) string {
	return "apiVersion: slotmesh/v1\nkind: Business\nslug: " + slug + "\nname: " + name + `
currency: EUR
timezone: Europe/Lisbon
default_language: en
services:
  - {key: cut, name: Haircut, duration_minutes: 45, price: 40.00}
`
}

// Config returns the settings of the console that runs in the Fixture.
func (w *Fixture) Config() console.Config { return w.cfg }
