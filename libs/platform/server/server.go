// Package server runs one service. Its public listener has the routes for clients. Its internal listener has
// the internal API, probes and metrics. The package starts and stops the other parts of the service in order.
//
// Handlers return errors; faults are sent in the JSON form of semantics.md §7. Every request has a
// deadline, a bounded body, a span and a metric. A request that fails because of the server is logged.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/build"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/platform/zonefiles"
	"github.com/slotmesh/slotmesh/libs/values/zone"
)

// Config holds the settings that every service has.
type Config struct {
	// PublicAddr is the listen address of the public port.
	PublicAddr string `env:"PUBLIC_ADDR, default=:8080"`
	// InternalAddr is the listen address of the internal port.
	InternalAddr string `env:"INTERNAL_ADDR, default=:9090"`
	// TrustedProxies are the CIDRs whose X-Forwarded-For (semantics.md §8), -Host and -Proto are trusted.
	TrustedProxies []string `env:"TRUSTED_PROXIES"`
	// RequestTimeout is the deadline of one request.
	RequestTimeout time.Duration `env:"REQUEST_TIMEOUT, default=10s"`
	// DrainDelay is how long a stopping service still accepts requests while it is not ready.
	DrainDelay time.Duration `env:"DRAIN_DELAY, default=0s"`
	// DrainTimeout bounds each step of stopping.
	DrainTimeout time.Duration `env:"DRAIN_TIMEOUT, default=15s"`
	// PublicBodyLimit is the largest request body of the public port, in bytes.
	PublicBodyLimit int `env:"PUBLIC_BODY_LIMIT, default=262144"`
	// InternalBodyLimit is the largest request body of the internal port, in bytes.
	InternalBodyLimit int `env:"INTERNAL_BODY_LIMIT, default=16777216"`
	// MaxConnections bounds the open connections of each port; 0: no bound.
	MaxConnections int `env:"MAX_CONNECTIONS, default=8192"`
	// MaxConnectionsPerAddress bounds the connections of one IPv4 address or one /64
	// to the public port. For a /48 the bound is four times as high. 0: no bound.
	// Addresses in TrustedProxies are exempt, because many clients share them.
	MaxConnectionsPerAddress int `env:"MAX_CONNECTIONS_PER_ADDRESS, default=1024"`
	// AnswerBytesInFlight bounds the memory, in bytes, of large answers that are being
	// written. A separate bound of the same size applies to large bodies that are being read.
	// Both apply to each port. Answers and bodies that wait for memory may have half of the
	// bound. One business gets at most a quarter of the memory for answers. 0: no bound.
	AnswerBytesInFlight int `env:"ANSWER_BYTES_IN_FLIGHT, default=67108864"`
	// ReaderBytesPerSecond is the minimal speed at which a client must read a large answer
	// after the first five seconds. The connection of a slower client is closed. 0: no bound.
	ReaderBytesPerSecond int `env:"READER_BYTES_PER_SECOND, default=65536"`
	// Peers are the settings of calls to other services, and of the callers of the internal port.
	Peers peer.Config
	// Zones are the settings of the time zone rules.
	Zones zonefiles.Config
	// InternalHosts are additional host names of the internal port. Addresses,
	// names without a dot and names of Kubernetes are always accepted.
	InternalHosts []string `env:"INTERNAL_HOSTS"`
}

// Validate checks the settings beyond their types.
func (c *Config) Validate() error {
	_, err := ParseProxies(c.TrustedProxies)
	return err
}

// Runtime holds what the starting process passes to a service.
// Without listeners the service opens those of its [Config].
type Runtime struct {
	Name             string
	Clock            clock.Clock
	Telemetry        *telemetry.Telemetry
	Public, Internal net.Listener
	// Open makes the internal port accept every caller without a credential.
	// The default actor is then the owner. Only tests of handlers set it.
	Open bool
	// Endpoints are the rows of the service's internal endpoints; nil uses [endpoints.Of]. Tests set it.
	Endpoints []*endpoints.Row
}

// Server is one running service.
type Server struct {
	// Public and Internal take the service's routes before Run.
	// Internal panics for a route without a declaration in libs/contracts/endpoints.
	Public   *fiber.App
	Internal *Internal

	name      string
	cfg       Config
	clock     clock.Clock
	tel       *telemetry.Telemetry
	public    *listener
	internal  *listener
	observe   *observer
	httpPort  *httpPort // nil if fiber serves the public port
	senders   trustedSenders
	isHTTPS   bool // see [Server.SetPublicURL]
	readSpeed minReadSpeed

	internalApp *fiber.App
	rows        []*endpoints.Row // of the internal endpoints
	mounted     []*endpoints.Row
	open        bool // [Runtime.Open]
	refused     metric.Int64Counter

	limit    Limit                  // of the public port; nil: no limit
	limitBy  func(*fiber.Ctx) error // the same, if fiber serves it
	draining atomic.Bool
	checks   []*check
	parts    []part
	closers  []part
}

type check struct {
	name   string
	run    func(context.Context) error
	passed atomic.Bool
}

type part struct {
	name string
	run  func(context.Context) error
}

// New prepares a server with its middleware and probes, and opens its listeners.
func New(cfg Config, rt Runtime) (*Server, error) {
	proxies, err := ParseProxies(cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	if err := zonefiles.Choose(cfg.Zones); err != nil {
		return nil, err
	}
	callers, err := peer.ParseCallers(cfg.Peers.Callers)
	switch {
	case err != nil:
		return nil, fmt.Errorf("PEER_CALLERS: %w", err)
	case len(cfg.Peers.Secrets) == 0 && !rt.Open:
		return nil, errors.New("PEER_SECRETS: write a random secret of this service alone, such as `openssl rand " +
			"-hex 32` prints")
	}
	s := &Server{name: rt.Name, cfg: cfg, clock: rt.Clock, tel: rt.Telemetry, senders: trustedSenders{proxies, callers},
		open: rt.Open, rows: rt.Endpoints}
	s.readSpeed = minReadSpeed{grace: readerGrace, bytesPerSecond: cfg.ReaderBytesPerSecond}
	open := bounds{port: "public", total: cfg.MaxConnections, byAddress: cfg.MaxConnectionsPerAddress, proxies: proxies,
		tel: rt.Telemetry}
	if s.public, err = listen(rt.Public, cfg.PublicAddr, open); err != nil {
		return nil, fmt.Errorf("public port: %w", err)
	}
	open.port, open.byAddress = "internal", 0 // a mesh's sidecar is one address for all peers
	if s.internal, err = listen(rt.Internal, cfg.InternalAddr, open); err != nil {
		return nil, errors.Join(fmt.Errorf("internal port: %w", err), s.public.Close())
	}
	s.observe = newObserver(rt.Telemetry, cfg.RequestTimeout)
	s.Public = s.app(cfg.PublicBodyLimit, s.setStrictTransport, s.applyLimit)
	s.openInternal()
	s.mountProbes()
	return s, nil
}

// openInternal prepares the internal port, which only accepts the endpoints in the service's rows.
func (s *Server) openInternal() {
	if s.rows == nil {
		s.rows = endpoints.Of(s.name)
	}
	s.refused = s.tel.Counter("slotmesh.internal.refused",
		"Requests refused at the internal port, by reason.")
	s.internalApp = s.app(s.cfg.InternalBodyLimit)
	s.internalApp.Use(s.newCallerCheck(s.cfg, s.open).check)
	s.Internal = &Internal{server: s}
	s.observe.internal = s.internalApp
}

func listen(existing net.Listener, addr string, b bounds) (*listener, error) {
	if existing != nil {
		return newListener(existing, b), nil
	}
	opened, err := net.Listen("tcp", addr) //nolint:noctx // listening does not wait
	if err != nil {
		return nil, err
	}
	return newListener(opened, b), nil
}

// PublicAddr returns the address of the public port.
func (s *Server) PublicAddr() net.Addr { return s.public.Addr() }

// InternalAddr returns the address of the internal port.
func (s *Server) InternalAddr() net.Addr { return s.internal.Addr() }

// Ready adds a check to /readyz. The check is called with a short deadline until it has succeeded once.
//
// A store that fails later does not make the service unready. Otherwise all replicas
// would become unready at the same time, although they can still answer some requests.
func (s *Server) Ready(name string, ask func(context.Context) error) {
	s.checks = append(s.checks, &check{name: name, run: ask})
}

// Go adds a part that runs alongside the listeners until its context ends. If it fails, the service stops.
func (s *Server) Go(name string, run func(context.Context) error) {
	s.parts = append(s.parts, part{name, run})
}

// OnStop adds a closer. Closers run last, in reverse order.
func (s *Server) OnStop(name string, closer func(context.Context) error) {
	s.closers = append(s.closers, part{name, closer})
}

// Draining reports whether the server is stopping. A request that waits for news should then be answered immediately.
func (s *Server) Draining() bool { return s.draining.Load() }

// Run serves until ctx ends or a part of the service fails. Then it becomes unready,
// waits, stops accepting connections, finishes requests, ends the parts, and closes
// the stores in reverse order of their opening. Its error names the part that failed.
func (s *Server) Run(ctx context.Context) error {
	if err := s.checkMounted(); err != nil && !s.open {
		return errors.Join(err, s.Close())
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	failures := make(chan error, len(s.parts)+2)
	var wg sync.WaitGroup
	begin := func(name string, run func(context.Context) error) {
		wg.Go(func() {
			if err := run(running); err != nil && running.Err() == nil {
				failures <- fmt.Errorf("%s: %s: %w", s.name, name, err)
			}
		})
	}
	for _, p := range s.parts {
		begin(p.name, p.run)
	}
	begin("public port", s.servePublic())
	begin("internal port", func(context.Context) error { return s.internalApp.Listener(s.internal) })
	zonefiles.Report(ctx, s.tel, s.clock.Now())
	s.tel.Logger.InfoContext(ctx, "started", "build", build.Version(), "zones", zone.Current().String(), "public",
		s.PublicAddr().String(), "internal", s.InternalAddr().String())

	var cause error
	select {
	case cause = <-failures:
	case <-ctx.Done():
	}
	errs := []error{cause, s.drain(cause == nil)}
	stop()
	s.closeListeners() // a listener that does not serve yet does not notice the drain
	wg.Wait()
	return errors.Join(append(errs, s.Close())...)
}

// servePublic returns the function that serves the public port: with
// net/http if [Server.HandleHTTP] was called, otherwise with fiber.
func (s *Server) servePublic() func(context.Context) error {
	if s.httpPort == nil {
		return func(context.Context) error { return s.Public.Listener(s.public) }
	}
	return func(context.Context) error { return s.httpPort.serve() }
}

// drain stops accepting requests and waits for those in flight.
func (s *Server) drain(isOrderly bool) error {
	s.draining.Store(true)
	if isOrderly && s.cfg.DrainDelay > 0 {
		// The cluster routes requests here until it has noticed that the service is not ready.
		time.Sleep(s.cfg.DrainDelay)
	}
	deadline, cancel := context.WithTimeout(context.Background(), s.cfg.DrainTimeout)
	defer cancel()
	var errs []error
	for _, port := range []*listener{s.public, s.internal} {
		if err := port.drain(deadline); err != nil {
			errs = append(errs, fmt.Errorf("%s: draining the %s port %w", s.name, port.bounds.port, err))
		}
	}
	// The HTTP servers are shut down last. They may close a connection
	// that they consider idle although a request on it is just arriving.
	if s.httpPort != nil {
		errs = append(errs, s.httpPort.http.Shutdown(deadline))
	}
	errs = append(errs, s.Public.ShutdownWithContext(deadline), s.internalApp.ShutdownWithContext(deadline))
	return errors.Join(errs...)
}

// Close runs the closers in reverse order and closes the listeners.
// Run calls it; a server that never runs must be closed by the caller.
func (s *Server) Close() error {
	deadline, cancel := context.WithTimeout(context.Background(), s.cfg.DrainTimeout)
	defer cancel()
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		if err := s.closers[i].run(deadline); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", s.closers[i].name, err))
		}
	}
	s.closers = nil
	s.closeListeners()
	return errors.Join(errs...)
}

// closeListeners closes both listeners. It is idempotent.
func (s *Server) closeListeners() { _, _ = s.public.Close(), s.internal.Close() }
