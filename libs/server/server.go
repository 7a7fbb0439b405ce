// Package server runs one service: a public listener with only what the ingress routes, an internal one with the peer
// API, probes and metrics, and the parts behind them, started and stopped in order.
//
// Handlers return errors; faults become the one JSON shape of semantics.md §7. Every request has a deadline, a bounded
// body, a span, a metric and, when it fails on our side, a log line.
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

	"github.com/slotmesh/slotmesh/libs/build"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/endpoints"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/libs/zone"
	"github.com/slotmesh/slotmesh/libs/zone/zonefiles"
)

// Config are the settings every service has.
type Config struct {
	// PublicAddr is where the public port listens.
	PublicAddr string `env:"PUBLIC_ADDR, default=:8080"`
	// InternalAddr is where the internal port listens.
	InternalAddr string `env:"INTERNAL_ADDR, default=:9090"`
	// TrustedProxies are the CIDRs whose X-Forwarded-For (semantics.md §8), -Host and -Proto are believed.
	TrustedProxies []string `env:"TRUSTED_PROXIES"`
	// RequestTimeout is the deadline of one request.
	RequestTimeout time.Duration `env:"REQUEST_TIMEOUT, default=10s"`
	// DrainDelay is how long a stopping service still accepts requests while it reports not ready.
	DrainDelay time.Duration `env:"DRAIN_DELAY, default=0s"`
	// DrainTimeout bounds each step of stopping.
	DrainTimeout time.Duration `env:"DRAIN_TIMEOUT, default=15s"`
	// PublicBodyLimit is the largest request body of the public port, in bytes.
	PublicBodyLimit int `env:"PUBLIC_BODY_LIMIT, default=262144"`
	// InternalBodyLimit is the largest request body of the internal port, in bytes.
	InternalBodyLimit int `env:"INTERNAL_BODY_LIMIT, default=16777216"`
	// MaxConnections bounds the open connections of each port; 0: none.
	MaxConnections int `env:"MAX_CONNECTIONS, default=8192"`
	// MaxConnectionsPerAddress bounds those of one address, or of one /64, to the public port, and four times as many those of a /48; 0: none.
	// Addresses of TrustedProxies are not bound by it: their connections are many clients'.
	MaxConnectionsPerAddress int `env:"MAX_CONNECTIONS_PER_ADDRESS, default=1024"`
	// AnswerBytesInFlight bounds, for each port, the memory of large answers that are being written, and by itself that of large bodies that are
	// read; half as much may wait. 0 is no bound.
	// One business takes at most a quarter of it for answers.
	AnswerBytesInFlight int `env:"ANSWER_BYTES_IN_FLIGHT, default=67108864"`
	// ReaderBytesPerSecond is the least speed at which a client reads a large answer after the first five seconds; the connection of a
	// slower one is closed. 0 is no bound.
	ReaderBytesPerSecond int `env:"READER_BYTES_PER_SECOND, default=65536"`
	// Peers are the settings of calls to other services, and what these show at the internal port.
	Peers peer.Config
	// Zones are the rules of time zones.
	Zones zonefiles.Config
	// InternalHosts are names by which the internal port may be asked beside addresses, names without a dot and Kubernetes' own.
	InternalHosts []string `env:"INTERNAL_HOSTS"`
}

// Validate checks what the types cannot say.
func (c *Config) Validate() error {
	_, err := ParseProxies(c.TrustedProxies)
	return err
}

// Runtime is what a service is given by whoever starts it. Without listeners it opens those of its [Config].
type Runtime struct {
	Name             string
	Clock            clock.Clock
	Telemetry        *telemetry.Telemetry
	Public, Internal net.Listener
	// Open lets the internal port answer every caller, as the owner where none else is named, for tests of what lies behind it. No
	// process sets it.
	Open bool
	// Endpoints are the rows of the service's internal endpoints where they are not those of [endpoints.Of], as in tests.
	Endpoints []endpoints.Endpoint
}

// Server is one running service.
type Server struct {
	// Public and Internal take the service's routes before Run. Internal panics for a route that has no row in libs/endpoints.
	Public   *fiber.App
	Internal fiber.Router

	name     string
	cfg      Config
	clock    clock.Clock
	tel      *telemetry.Telemetry
	public   *listener
	internal *listener
	observe  *observer
	web      *web // nil where fiber serves the public port
	believed believed
	https    bool // see [Server.ServedAt]
	slow     slowness

	internalApp *fiber.App
	rows        []endpoints.Endpoint // of the internal endpoints
	mounted     []string             // of them, as "METHOD path"
	open        bool                 // [Runtime.Open]
	refused     metric.Int64Counter

	limit    Limit                  // of the public port; nil: none
	limitBy  func(*fiber.Ctx) error // the same, where fiber serves it
	draining atomic.Bool
	checks   []*check
	parts    []part
	closers  []part
}

type check struct {
	name   string
	ask    func(context.Context) error
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
		return nil, errors.New("PEER_SECRETS: write a random secret of this service alone, such as `openssl rand -hex 32` prints")
	}
	s := &Server{name: rt.Name, cfg: cfg, clock: rt.Clock, tel: rt.Telemetry, believed: believed{proxies, callers}, open: rt.Open, rows: rt.Endpoints}
	s.slow = slowness{grace: readerGrace, bytesPerSecond: cfg.ReaderBytesPerSecond}
	open := bounds{port: "public", total: cfg.MaxConnections, byAddress: cfg.MaxConnectionsPerAddress, proxies: proxies, tel: rt.Telemetry}
	if s.public, err = listen(rt.Public, cfg.PublicAddr, open); err != nil {
		return nil, fmt.Errorf("public port: %w", err)
	}
	open.port, open.byAddress = "internal", 0 // a mesh's sidecar is one address for all peers
	if s.internal, err = listen(rt.Internal, cfg.InternalAddr, open); err != nil {
		return nil, errors.Join(fmt.Errorf("internal port: %w", err), s.public.Close())
	}
	s.observe = newObserver(rt.Telemetry, cfg.RequestTimeout)
	s.Public = s.app(cfg.PublicBodyLimit, s.stateHTTPS, s.limited)
	s.openInternal()
	s.probes()
	return s, nil
}

// openInternal prepares the internal port, which takes endpoints of the service's rows alone.
func (s *Server) openInternal() {
	if s.rows == nil {
		s.rows = endpoints.Of(s.name)
	}
	s.refused = s.tel.Counter("slotmesh.internal.refused", "Requests refused at the internal port, by what gave them away.")
	s.internalApp = s.app(s.cfg.InternalBodyLimit)
	s.internalApp.Use(s.sources(s.cfg, s.open).check)
	s.Internal = &internalRouter{server: s}
	s.observe.internal = s.internalApp
}

func listen(given net.Listener, addr string, b bounds) (*listener, error) {
	if given != nil {
		return newListener(given, b), nil
	}
	opened, err := net.Listen("tcp", addr) //nolint:noctx // binding waits for nothing
	if err != nil {
		return nil, err
	}
	return newListener(opened, b), nil
}

// PublicAddr is the address the public port listens on.
func (s *Server) PublicAddr() net.Addr { return s.public.Addr() }

// InternalAddr is the address the internal port listens on.
func (s *Server) InternalAddr() net.Addr { return s.internal.Addr() }

// Ready adds a check that /readyz asks, with a short deadline, until it has passed once. A store that goes away later
// shows in answers, not in readiness: every replica would leave service at once, with what they can still answer.
func (s *Server) Ready(name string, ask func(context.Context) error) {
	s.checks = append(s.checks, &check{name: name, ask: ask})
}

// Go adds a part that runs beside the listeners until its context ends. When it fails, the service stops.
func (s *Server) Go(name string, run func(context.Context) error) {
	s.parts = append(s.parts, part{name, run})
}

// OnStop adds a closer; closers run last, in reverse order.
func (s *Server) OnStop(name string, closer func(context.Context) error) {
	s.closers = append(s.closers, part{name, closer})
}

// Draining reports whether the server stops: who waits for news on behalf of a request should answer it now.
func (s *Server) Draining() bool { return s.draining.Load() }

// Run serves until ctx ends or a part dies, then stops politely: not ready, drain, stop accepting, finish, end the
// parts, close the stores in reverse order of their opening. Its error names the part that died.
func (s *Server) Run(ctx context.Context) error {
	if err := s.unmounted(); err != nil && !s.open {
		return errors.Join(err, s.Close())
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	died := make(chan error, len(s.parts)+2)
	var wg sync.WaitGroup
	begin := func(name string, run func(context.Context) error) {
		wg.Go(func() {
			if err := run(running); err != nil && running.Err() == nil {
				died <- fmt.Errorf("%s: %s: %w", s.name, name, err)
			}
		})
	}
	for _, p := range s.parts {
		begin(p.name, p.run)
	}
	begin("public port", s.publicPort())
	begin("internal port", func(context.Context) error { return s.internalApp.Listener(s.internal) })
	zonefiles.Report(ctx, s.tel, s.clock.Now())
	s.tel.Logger.InfoContext(ctx, "started", "build", build.Version(), "zones", zone.Current().String(), "public", s.PublicAddr().String(), "internal", s.InternalAddr().String())

	var cause error
	select {
	case cause = <-died:
	case <-ctx.Done():
	}
	errs := []error{cause, s.drain(cause == nil)}
	stop()
	s.closeListeners() // a listener that had not begun to serve would not have heard of the draining
	wg.Wait()
	return errors.Join(append(errs, s.Close())...)
}

// publicPort serves with net/http where it was given a route, with fiber else.
func (s *Server) publicPort() func(context.Context) error {
	if s.web == nil {
		return func(context.Context) error { return s.Public.Listener(s.public) }
	}
	return func(context.Context) error { return s.web.serve() }
}

// drain stops taking requests and waits for those in flight.
func (s *Server) drain(polite bool) error {
	s.draining.Store(true)
	if polite && s.cfg.DrainDelay > 0 {
		time.Sleep(s.cfg.DrainDelay) // endpoints still route here until they have seen that it is not ready
	}
	deadline, cancel := context.WithTimeout(context.Background(), s.cfg.DrainTimeout)
	defer cancel()
	var errs []error
	for _, port := range []*listener{s.public, s.internal} {
		if err := port.drain(deadline); err != nil {
			errs = append(errs, fmt.Errorf("%s: draining the %s port %w", s.name, port.bounds.port, err))
		}
	}
	// The HTTP servers hear of it last: they close connections that they hold for idle while a request is on its way to them.
	if s.web != nil {
		errs = append(errs, s.web.http.Shutdown(deadline))
	}
	errs = append(errs, s.Public.ShutdownWithContext(deadline), s.internalApp.ShutdownWithContext(deadline))
	return errors.Join(errs...)
}

// Close runs the closers in reverse order and frees the listeners. Run calls it; who never runs the server must.
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

// closeListeners may be called again: closing a closed listener changes nothing.
func (s *Server) closeListeners() { _, _ = s.public.Close(), s.internal.Close() }
