// Package server runs one service. Clients use the public port. Other services use the internal port, which also has
// the paths for probes and metrics. The package also starts the other parts of the service, and stops all parts in
// order.
//
// Handlers return errors. The server sends faults as JSON, in the form of
// semantics.md §7. Every request has a deadline, a maximal body size, a span and
// a metric. If a request fails with a status of 500 or more, the server logs it.
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
	// TrustedProxies are the networks of trusted proxies in CIDR notation. The headers X-Forwarded-For
	// (semantics.md §8), X-Forwarded-Host and X-Forwarded-Proto are trusted only from these networks.
	TrustedProxies []string `env:"TRUSTED_PROXIES"`
	// RequestTimeout is the time after which a request ends with a fault.
	RequestTimeout time.Duration `env:"REQUEST_TIMEOUT, default=10s"`
	// DrainDelay is the time for which a stopping service still
	// accepts requests, although /readyz reports that it is not ready.
	DrainDelay time.Duration `env:"DRAIN_DELAY, default=0s"`
	// DrainTimeout is the maximal duration of each step when the service stops.
	DrainTimeout time.Duration `env:"DRAIN_TIMEOUT, default=15s"`
	// PublicBodyLimit is the maximal size of a request body on the public port, in bytes.
	PublicBodyLimit int `env:"PUBLIC_BODY_LIMIT, default=262144"`
	// InternalBodyLimit is the maximal size of a request body on the internal port, in bytes.
	InternalBodyLimit int `env:"INTERNAL_BODY_LIMIT, default=16777216"`
	// MaxConnections is the maximal number of open connections of each port; 0: no maximum.
	MaxConnections int `env:"MAX_CONNECTIONS, default=8192"`
	// MaxConnectionsPerAddress is the maximal number of connections to the public port from one IPv4 address
	// or one IPv6 /64 network. For a /48 network, the maximum is four times as high. 0: no maximum. The
	// maximum does not apply to addresses in TrustedProxies, because many clients share such an address.
	MaxConnectionsPerAddress int `env:"MAX_CONNECTIONS_PER_ADDRESS, default=1024"`
	// AnswerBytesInFlight is the maximal memory, in bytes, for large answers that a port is
	// sending. The same maximum applies separately to large request bodies that a port is
	// reading. Answers and bodies that wait for memory may occupy half of this size in addition.
	// One business can use at most a quarter of the memory for answers. 0: no maximum.
	AnswerBytesInFlight int `env:"ANSWER_BYTES_IN_FLIGHT, default=67108864"`
	// ReaderBytesPerSecond is the minimal speed at which a client must read a large answer after
	// the first five seconds. The server closes the connection of a slower client. 0: no minimum.
	ReaderBytesPerSecond int `env:"READER_BYTES_PER_SECOND, default=65536"`
	// Peers holds the settings for calls to other services, and the
	// credentials of the services that may call the internal port.
	Peers peer.Config
	// Zones holds the settings for the rules of time zones.
	Zones zonefiles.Config
	// InternalHosts are additional host names of the internal port. IP
	// addresses, names without a dot and Kubernetes names are always accepted.
	InternalHosts []string `env:"INTERNAL_HOSTS"`
}

// Validate returns an error if TrustedProxies is invalid. The fields Peers and Zones check their own settings.
func (c *Config) Validate() error {
	_, err := ParseProxies(c.TrustedProxies)
	return err
}

// Runtime holds the values that a process passes to a service that it starts. If a listener is nil, the service opens
// the address in its [Config].
type Runtime struct {
	Name             string
	Clock            clock.Clock
	Telemetry        *telemetry.Telemetry
	Public, Internal net.Listener
	// Open makes the internal port accept every caller without a credential. If a request names no actor, its actor is
	// the owner. Only tests of handlers set Open.
	Open bool
}

// Server is one service with its two ports.
type Server struct {
	// Public and Internal accept the handlers of the service before Run.
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
	isHTTPS   bool // whether the public URL begins with https, see [Server.SetPublicURL]
	readSpeed minReadSpeed

	internalApp *fiber.App
	mounted     []*endpoints.Row
	open        bool // value of [Runtime.Open]
	refused     metric.Int64Counter

	limit    Limit                  // limit of the public port; nil: no limit
	limitBy  func(*fiber.Ctx) error // limit function that reads the whole request; nil: no limit
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

// New returns a server with its middleware and probes. It opens
// both listeners, but does not accept requests before Run.
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
		open: rt.Open}
	s.readSpeed = minReadSpeed{grace: readerGrace, bytesPerSecond: cfg.ReaderBytesPerSecond}
	open := bounds{port: "public", total: cfg.MaxConnections, byAddress: cfg.MaxConnectionsPerAddress, proxies: proxies,
		tel: rt.Telemetry}
	if s.public, err = listen(rt.Public, cfg.PublicAddr, open); err != nil {
		return nil, fmt.Errorf("public port: %w", err)
	}
	open.port, open.byAddress = "internal", 0 // the sidecar of a mesh sends the requests of all peers from one address
	if s.internal, err = listen(rt.Internal, cfg.InternalAddr, open); err != nil {
		return nil, errors.Join(fmt.Errorf("internal port: %w", err), s.public.Close())
	}
	s.observe = newObserver(rt.Telemetry, cfg.RequestTimeout)
	s.Public = s.app(cfg.PublicBodyLimit, s.setStrictTransport, s.applyLimit)
	s.openInternal()
	s.mountProbes()
	return s, nil
}

// openInternal prepares the internal port, which accepts only declared endpoints.
func (s *Server) openInternal() {
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

// PublicAddr returns the address on which the public port listens.
func (s *Server) PublicAddr() net.Addr { return s.public.Addr() }

// InternalAddr returns the address on which the internal port listens.
func (s *Server) InternalAddr() net.Addr { return s.internal.Addr() }

// Ready adds a check to /readyz. The server calls the function `ask` with a short deadline until a call has succeeded.
//
// After that, the check no longer runs, so a later failure of a store does not make the service unready. Otherwise all
// replicas would become unready at the same time, although they can still answer some requests.
func (s *Server) Ready(name string, ask func(context.Context) error) {
	s.checks = append(s.checks, &check{name: name, run: ask})
}

// Go adds a function that runs in its own goroutine while the server runs. The context of the
// function ends when the server stops. If the function returns an error, the service stops.
func (s *Server) Go(name string, run func(context.Context) error) {
	s.parts = append(s.parts, part{name, run})
}

// OnStop adds a function that closes a resource when the service stops. The added functions run after all parts of the
// service have ended. The function that was added last runs first.
func (s *Server) OnStop(name string, closer func(context.Context) error) {
	s.closers = append(s.closers, part{name, closer})
}

// IsDraining reports whether the server is stopping. A handler that waits for new events should then answer
// immediately.
func (s *Server) IsDraining() bool { return s.draining.Load() }

// Run serves requests until ctx ends or a part of the service fails. Then Run stops the service in this order: the
// service becomes unready, waits for DrainDelay, stops accepting connections, finishes its requests and ends its parts.
// Last, Run calls the functions that OnStop added, in reverse order. The error names the part that failed.
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
	s.closeListeners() // the drain does not close a listener that no HTTP server uses yet
	wg.Wait()
	return errors.Join(append(errs, s.Close())...)
}

// servePublic returns the function that serves the public port. It uses
// net/http if [Server.HandleHTTP] was called, and otherwise fiber.
func (s *Server) servePublic() func(context.Context) error {
	if s.httpPort == nil {
		return func(context.Context) error { return s.Public.Listener(s.public) }
	}
	return func(context.Context) error { return s.httpPort.serve() }
}

// drain stops accepting connections and waits for requests in progress. The argument
// `isOrderly` is false if a part of the service has failed; drain then skips DrainDelay.
func (s *Server) drain(isOrderly bool) error {
	s.draining.Store(true)
	if isOrderly && s.cfg.DrainDelay > 0 {
		// Kubernetes still sends requests to this pod until Kubernetes has noticed that the pod is not ready.
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
	// The HTTP servers are shut down last. An HTTP server may close a connection that seems idle, although a request is
	// just arriving on this connection.
	if s.httpPort != nil {
		errs = append(errs, s.httpPort.http.Shutdown(deadline))
	}
	errs = append(errs, s.Public.ShutdownWithContext(deadline), s.internalApp.ShutdownWithContext(deadline))
	return errors.Join(errs...)
}

// Close calls the functions that OnStop added, the last one first, and closes the listeners. Run calls Close. If a
// server never runs, the caller must call Close.
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

// closeListeners closes both listeners. Further calls have no effect.
func (s *Server) closeListeners() { _, _ = s.public.Close(), s.internal.Close() }
