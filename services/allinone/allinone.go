// Package allinone runs all services of Slotmesh in one process, behind the front. The front has the same routes as the
// ingress of a cluster. Unless the settings contain the URLs of a PostgreSQL and a Redis, the process starts its own.
// The package is used by `make run`, the end-to-end tests and the benchmarks.
//
// The services are the same as in a cluster. Each service has its two listeners, its telemetry and its settings, and
// the services call each other by HTTP. Only the URLs differ. No service knows whether it runs in one process or in a
// cluster.
package allinone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/build"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/allinone/internal/backing"
	"github.com/slotmesh/slotmesh/services/front"
)

// Process is a running Slotmesh. [Process.Stop] ends it.
type Process struct {
	PublicURL  string // URL of the front
	AdminURL   string // URL of the console
	AdminToken string // the admin token; the first one if several are configured
	// PeerSecrets are the secrets with which the services and the front authenticate to each other, by the name of the
	// service. Each process generates new secrets.
	PeerSecrets map[string]string
	MailURL     string       // URL of the page with the demo's mails; "" if SMTP_URL is set
	Mailbox     *mailbox.Box // receives the demo's mails
	OpsURL      string       // URL of the readiness and the metrics of all services; "" if OPS_PORT is not set
	Demo        *Demo        // nil without a demo business

	adminTokens string // all admin tokens, separated by commas
	linkSecret  string // secret from which the links to customer views are derived

	cfg    Config
	clock  clock.Clock
	say    func(line string)
	logs   io.Writer
	home   *backing.Home
	stores *backing.Stores
	ports  ports
	ops    net.Listener // nil if OPS_PORT is not set
	parts  []*part      // in the order of their start
	stops  []func() error
	failed chan error
}

// part is a running service or the running front.
type part struct {
	name      string
	srv       *server.Server
	telemetry *telemetry.Telemetry
	stop      context.CancelFunc
	done      chan struct{} // closed when the service or the front has ended
	err       error         // set before done is closed
	once      sync.Once
}

// startTimeout limits the time for the start of the services. This time begins when PostgreSQL and Redis are ready.
const startTimeout = 3 * time.Minute

// Start starts all services and returns when the services answer requests. It also runs the migrations and creates the
// demo business. It calls `say` with each line that the person at the terminal should read. The error is one sentence.
// If ctx is cancelled, the start is aborted; after the start, call [Process.Stop] instead.
func Start(ctx context.Context, cfg Config, say func(line string)) (*Process, error) {
	p := &Process{cfg: cfg, say: say, PeerSecrets: peer.NewSecrets(partNames()...),
		failed: make(chan error, len(partNames())+1)}
	if err := p.start(ctx); err != nil {
		_ = p.Stop() // errors of Stop are consequences of err
		return nil, err
	}
	return p, nil
}

func (p *Process) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		p.openClock, p.openHome, p.openLogs, p.openPorts, p.openMail, p.openOps, p.openToken, p.checkSettings,
		p.startStores, p.migrate, p.startServices, p.startOps,
		p.awaitReady, p.startDemo,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	p.logStart(ctx)
	return nil
}

// logStart logs the version of the build, the public URL, the admin URL and the path of the home folder. The terminal
// shows them too, but its output may be lost later. logStart omits the URLs of PostgreSQL and Redis, because they
// contain passwords.
func (p *Process) logStart(ctx context.Context) {
	front := p.parts[len(p.parts)-1]
	front.telemetry.Logger.InfoContext(ctx, "Slotmesh has started", "build", build.Version(), "public", p.PublicURL,
		"admin", p.AdminURL, "home", p.home.Path)
}

func (p *Process) openClock(context.Context) error {
	var err error
	if p.clock, err = clock.Parse(p.cfg.Now); err != nil {
		return fmt.Errorf("SLOTMESH_NOW: %q is not an instant; write one such as 2027-03-01T09:00:00Z", p.cfg.Now)
	}
	return nil
}

func (p *Process) openHome(context.Context) error {
	home, err := backing.OpenHome(p.cfg.Home)
	if err != nil {
		return err
	}
	p.home = home
	p.onStop(home.Close)
	if home.IsShared {
		p.say("SLOTMESH_HOME: other users of this machine may enter or read " + home.Path +
			", which was there before; it is left as it is")
	}
	return nil
}

func (p *Process) openLogs(context.Context) error {
	if p.cfg.logsToStderr() {
		p.logs = os.Stderr
		return nil
	}
	log, err := openLog(p.file(LogFile))
	if err != nil {
		return err
	}
	p.logs = log
	p.onStop(log.Close)
	return nil
}

func (p *Process) openPorts(ctx context.Context) error {
	var err error
	p.ports, err = openPorts(ctx, p.cfg)
	if err != nil {
		return err
	}
	p.onStop(p.ports.close)
	p.PublicURL, p.AdminURL = p.ports.findURL(frontName), p.ports.findURL(consoleName)
	return nil
}

func (p *Process) openToken(context.Context) error {
	var err error
	p.adminTokens, err = loadAdminToken(p.cfg, p.home.Path)
	if err != nil {
		return err
	}
	p.AdminToken, _, _ = strings.Cut(p.adminTokens, ",")
	if _, isGiven := p.cfg.Settings["LINK_SECRETS"]; isGiven {
		return nil
	}
	p.linkSecret, err = loadSecret(p.home.Path, linkSecretFile, "the secret of customers' links")
	return err
}

func (p *Process) startStores(ctx context.Context) error {
	stores, err := backing.Start(ctx, backing.Options{
		Home: p.home.Path, DatabaseURL: p.cfg.DatabaseURL, RedisURL: p.cfg.RedisURL, Say: p.say,
		MayInstall: newInstallPrompt(p.cfg, os.Stdin, p.say),
	})
	if err != nil {
		return err
	}
	p.stores = stores
	stopped := make(chan struct{})
	go p.watchStores(stopped)
	p.onStop(func() error {
		close(stopped)
		return stores.Stop()
	})
	return nil
}

// watchStores sends an error to p.failed if PostgreSQL or Redis ends before the channel `stopped` is closed.
func (p *Process) watchStores(stopped <-chan struct{}) {
	select {
	case err := <-p.stores.Failed():
		p.failed <- err
	case <-stopped:
	}
}

func (p *Process) migrate(ctx context.Context) error {
	for _, s := range services {
		if err := s.migrate(ctx, p.environment(s.name)); err != nil {
			return newTablesError(s.name, p.stores.Data, err)
		}
	}
	return nil
}

// newTablesError adds advice for the operator to an error of a migration. The argument `data` is the data folder of the
// PostgreSQL that this process started, or "" if DATABASE_URL names the PostgreSQL.
func newTablesError(service, data string, err error) error {
	label := "the tables of " + service + " cannot be made or brought up to date"
	if data == "" {
		return fmt.Errorf("DATABASE_URL: %s: %w", label, err)
	}
	if _, ok := errors.AsType[*postgres.ChangedTextError](err); ok {
		return fmt.Errorf("%s, as a build that was never released has made them; delete %s, which loses all data, "+
			"and start again", label, data)
	}
	return fmt.Errorf("%s: %w", label, err)
}

// startServices starts the services in the order of the variable `services`, and then the front.
func (p *Process) startServices(ctx context.Context) error {
	for _, s := range services {
		if err := p.launch(ctx, s.name, func(rt server.Runtime) (*server.Server,
			error) {
			return s.open(ctx, p.environment(s.name), rt)
		}); err != nil {
			return err
		}
	}
	return p.launch(ctx, frontName, func(rt server.Runtime) (*server.Server, error) {
		cfg, err := loadFrontConfig(ctx, p.cfg, p.PeerSecrets[frontName], p.upstreams())
		if err != nil {
			return nil, err
		}
		return front.New(ctx, cfg, rt)
	})
}

// upstreams returns the addresses to which the front forwards requests: NAME=HOST:PORT of each service's public port.
func (p *Process) upstreams() []string {
	var upstreams []string
	for _, name := range front.ServiceNames() {
		upstreams = append(upstreams, name+"="+p.ports[name].public.Addr().String())
	}
	return upstreams
}

// launch starts the telemetry and the listeners of a service or of the front, and then the service or the front itself.
func (p *Process) launch(ctx context.Context, name string, open func(server.Runtime) (*server.Server, error)) error {
	tel, err := telemetry.New(ctx, p.cfg.Telemetry, name, p.logs)
	if err != nil {
		return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	listeners := p.ports[name]
	srv, err := open(server.Runtime{
		Name: name, Clock: p.clock, Telemetry: tel, Public: listeners.public, Internal: listeners.internal,
	})
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", name, err), tel.Shutdown(ctx))
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	part := &part{name: name, srv: srv, telemetry: tel, stop: cancel, done: make(chan struct{})}
	p.parts = append(p.parts, part)
	go part.run(running, p.failed)
	return nil
}

// run serves requests until ctx ends. If serving ends earlier, run sends an error to the channel `died`.
func (part *part) run(ctx context.Context, died chan<- error) {
	defer close(part.done)
	part.err = part.srv.Run(ctx)
	if ctx.Err() == nil {
		died <- part.err
	}
	flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	// If the telemetry collector is unavailable, the last telemetry data is lost. The stop must succeed nevertheless.
	_ = part.telemetry.Shutdown(flush)
}

func (part *part) end() error {
	part.once.Do(part.stop)
	<-part.done
	return part.err
}

// awaitReady waits until all services and the front report that they are ready.
func (p *Process) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, part := range p.parts {
		if err := p.awaitPart(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (p *Process) awaitPart(ctx context.Context, part *part) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		problem := checkReady(ctx, part.srv.InternalAddr())
		if problem == nil {
			return nil
		}
		select {
		case err := <-p.Failed():
			return err
		case <-ctx.Done():
			return fmt.Errorf("%s did not become ready: %w", part.name, problem)
		case <-tick.C:
		}
	}
}

func checkReady(ctx context.Context, address net.Addr) error {
	status, body, err := sendRequest(ctx, http.MethodGet, "http://"+address.String()+"/readyz", nil, nil)
	if err == nil && status != http.StatusOK {
		return fmt.Errorf("it answers %d: %s", status, body)
	}
	return err
}

// Failed returns a channel that receives an error if a service, PostgreSQL or Redis ends unexpectedly. The process can
// then no longer work, and the caller should call Stop.
func (p *Process) Failed() <-chan error { return p.failed }

// InternalURL returns the base URL of the given service's internal port.
func (p *Process) InternalURL(service string) string {
	return "http://" + p.ports[service].internal.Addr().String()
}

// ServiceURL returns the base URL of the given service's public port. Requests to this URL do not pass through the
// front.
func (p *Process) ServiceURL(service string) string { return p.ports.findURL(service) }

// StopService shuts down the given service gracefully. The effect is the same as when the last replica of a service
// ends in a cluster. The other services continue to run.
func (p *Process) StopService(name string) error {
	for _, part := range p.parts {
		if part.name == name {
			return part.end()
		}
	}
	return fmt.Errorf("there is no service %q", name)
}

// Stop ends the front, then the services in reverse order of their start, then PostgreSQL and Redis.
func (p *Process) Stop() error {
	var errs []error
	for i := len(p.parts) - 1; i >= 0; i-- {
		errs = append(errs, p.parts[i].end())
	}
	p.parts = nil
	for i := len(p.stops) - 1; i >= 0; i-- {
		errs = append(errs, p.stops[i]())
	}
	p.stops = nil
	return errors.Join(errs...)
}

// file returns the path of the file with the given name in the home folder.
func (p *Process) file(name string) string { return filepath.Join(p.home.Path, name) }

func (p *Process) onStop(stop func() error) { p.stops = append(p.stops, stop) }
