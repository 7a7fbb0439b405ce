// Package mcp is the service with which agents read a business and book appointments, over the
// Model Context Protocol (semantics.md §9). At /mcp it serves tools that read data, and the tool
// book_appointment. The API keys, their scopes and their limits are the same as for POST /book.
//
// The service owns no data and keeps nothing between requests, so any replica can serve any request. Each request
// first passes the gate (internal/gate). The gate checks the headers Host and Origin, the API key (by a call to
// booking), and the limit of the key. Then the official SDK handles the protocol and calls a tool (internal/tools).
//
// The tool calls the service that owns the data: POST /book of booking, or the public paths of catalog, availability
// and rental. It calls them through their internal ports, which have no limits for each client address.
package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/service"
	"github.com/slotmesh/slotmesh/services/mcp/internal/gate"
	"github.com/slotmesh/slotmesh/services/mcp/internal/tools"
)

// Config holds the settings of the mcp service.
type Config struct {
	Server server.Config
	Redis  redisx.Config
	Limits limits.Config
	// CatalogURL is the base URL of catalog's internal port.
	CatalogURL string `env:"CATALOG_URL, required"`
	// AvailabilityURL is the base URL of availability's internal port.
	AvailabilityURL string `env:"AVAILABILITY_URL, required"`
	// RentalURL is the base URL of rental's internal port.
	RentalURL string `env:"RENTAL_URL, required"`
	// BookingURL is the base URL of booking's internal port.
	BookingURL string `env:"BOOKING_URL, required"`
	// Hosts contains the names that requests may have in the header Host. If Hosts is empty, any name is allowed.
	// The exception is a server at a loopback address, which then allows only names of the same machine.
	Hosts []string `env:"MCP_HOSTS"`
	// Origins contains the web origins whose pages may call the service
	// from a browser. Pages of the service's own host may always call it.
	Origins []string `env:"MCP_ORIGINS"`
}

// Validate checks all settings. Each error names the environment variable of the invalid setting.
func (c *Config) Validate() error {
	errs := []error{c.Server.Validate(), c.Redis.Validate(), c.Limits.Validate()}
	for _, origin := range c.Origins {
		if u, err := url.Parse(strings.TrimSpace(origin)); err != nil || u.Host == "" || u.Scheme == "" ||
			strings.Trim(u.Path, "/") != "" {
			errs = append(errs, errors.New("MCP_ORIGINS: write origins such as https://app.example, separated by "+
				"commas"))
		}
	}
	for _, host := range c.Hosts {
		if strings.ContainsAny(host, "/ ") {
			errs = append(errs, errors.New("MCP_HOSTS: write names such as book.example, separated by commas, "+
				"without scheme or path"))
		}
	}
	return errors.Join(errs...)
}

// version is the version of the server that the protocol sends to clients.
const version = "1"

// New returns the mcp service, ready to run. New opens no connection.
func New(ctx context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	return service.New(cfg.Server, rt, func(s *service.Service) error { return assemble(ctx, cfg, rt, s) })
}

func assemble(ctx context.Context, cfg Config, rt server.Runtime, s *service.Service) error {
	rdb, err := s.Redis(ctx, cfg.Redis)
	if err != nil {
		return err
	}
	counts := s.Limits(cfg.Limits, rdb)
	s.Limit(counts.Pass)
	// The variable `spare` is the time that is reserved for sending the answer before the deadline of the
	// request. Every tool call ends earlier by this time. A call to booking may take all of the remaining time.
	spare := cfg.Server.RequestTimeout / 10
	bookings := bookingclient.NewAgents(s.Peer("booking", cfg.BookingURL,
		peer.Timeout(cfg.Server.RequestTimeout-spare)))
	catalog := s.Peer("catalog", cfg.CatalogURL)
	box := &tools.Toolbox{
		Catalog:      newReader("catalog", catalog),
		Availability: newReader("availability", s.Peer("availability", cfg.AvailabilityURL)),
		Rental:       newReader("rental", s.Peer("rental", cfg.RentalURL)),
		Booking:      bookings, Clock: rt.Clock, Telemetry: rt.Telemetry,
	}
	g := &gate.Gate{
		Keys: bookings, Limits: counts, Slugs: catalogclient.NewSlugs(catalog), Hosts: toLower(cfg.Hosts),
		Origins: toLower(cfg.Origins), Spare: spare,
		Protocol: serveProtocol(box),
	}
	s.HandleHTTP("/mcp", g.Serve)
	return nil
}

// serveProtocol returns the HTTP handler of the official SDK, which handles the protocol.
func serveProtocol(box *tools.Toolbox) http.Handler {
	agents := box.Server(&protocol.Implementation{Name: "slotmesh", Title: "Slotmesh", Version: version})
	return protocol.NewStreamableHTTPHandler(
		func(*http.Request) *protocol.Server { return agents },
		&protocol.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
			DisableLocalhostProtection: true, // the gate makes stricter checks
			Logger:                     box.Telemetry.Logger,
		})
}

// toLower normalizes host names or origins, so that they can be compared. It leaves out empty ones.
func toLower(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.ToLower(strings.TrimRight(strings.TrimSpace(s), "/")); s != "" {
			out = append(out, s)
		}
	}
	return out
}
