package soak

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/components"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
)

// replicas is the number of replicas of each service.
const replicas = 2

var services = components.Names()

// storedServices are the services that have tables.
var storedServices = slices.DeleteFunc(components.Names(), func(name string) bool {
	return !components.All[name].Tables
})

const (
	toPostgres = "postgres"
	toRedis    = "redis"
	pagesURL   = "https://pages.soak" // no server has this URL, because the clients do the work of the pages
)

// cluster runs two processes of every service. It also runs the links that connect these processes with each other and
// with the stores.
type cluster struct {
	programs string
	logs     string
	stores   *stores
	settings []string          // settings of every service
	secrets  map[string]string // secrets with which the services authenticate to each other, by service
	replicas []*replica
}

// replica is one process of a service. The process can end and start again with the same ports and links.
type replica struct {
	service          string
	name             string
	public, internal int
	ingress          *link            // link from the clients to the public port of the replica
	internalLink     *link            // link from the customers' pages to the internal port of the replica
	links            map[string]*link // links from the replica to other services and stores, by target
	environment      []string

	mu      sync.Mutex
	command *exec.Cmd
	done    chan struct{} // closed when the process has ended
}

func newCluster(programs, logs string, s *stores, settings []string) (*cluster, error) {
	c := &cluster{programs: programs, logs: logs, stores: s, secrets: peer.NewSecrets(components.Names()...)}
	c.settings = append(settings, "LINK_SECRETS="+rand.Text()+rand.Text(), "PAGES_URL="+pagesURL)
	for i, service := range services {
		for n := range replicas {
			r := &replica{service: service, name: fmt.Sprintf("%s-%d", service, n), links: map[string]*link{}}
			c.replicas = append(c.replicas, r)
			var err error
			if r.public, err = findFreePort(4*i + 2*n); err != nil {
				return c, err
			}
			if r.internal, err = findFreePort(4*i + 2*n + 1); err != nil {
				return c, err
			}
		}
	}
	for _, r := range c.replicas {
		if err := c.connect(r); err != nil {
			return c, err
		}
	}
	return c, nil
}

// newPagesHeaders returns the headers of a request from the customers' pages to a service. The argument `kind` is the
// actor in whose name the request is sent.
func (c *cluster) newPagesHeaders(service string, kind actor.Kind) map[string]string {
	return map[string]string{peer.SecretHeader: peer.Credential(c.secrets["pages"], service),
		actor.Header: string(kind)}
}

// connect creates the links of a replica, and the settings of the replica that contain the addresses of the links.
func (c *cluster) connect(r *replica) error {
	targets := map[string]func() []string{toPostgres: c.stores.postgresAddress, toRedis: c.stores.redisAddress}
	for _, peer := range components.All[r.service].Calls {
		targets[peer] = func() []string { return c.listInternalAddresses(peer) }
	}
	r.environment = append([]string{
		fmt.Sprintf("PUBLIC_ADDR=127.0.0.1:%d", r.public), fmt.Sprintf("INTERNAL_ADDR=127.0.0.1:%d", r.internal),
		"TRUSTED_PROXIES=127.0.0.0/8", "LOG_LEVEL=info",
		"PEER_SECRETS=" + c.secrets[r.service], "PEER_CALLERS=" + peer.CallersSetting(c.secrets, r.service),
	}, c.settings...)
	for target, addresses := range targets {
		l, err := newLink(addresses)
		if err != nil {
			return err
		}
		r.links[target] = l
		switch target {
		case toPostgres:
			r.environment = append(r.environment, "DATABASE_URL=postgres://postgres@"+l.address()+
				"/postgres?sslmode=disable")
		case toRedis:
			r.environment = append(r.environment, "REDIS_URL=redis://"+l.address())
		default:
			r.environment = append(r.environment, strings.ToUpper(target)+"_URL=http://"+l.address())
		}
	}
	var err error
	if r.ingress, err = newLink(func() []string { return []string{fmt.Sprintf("127.0.0.1:%d", r.public)} }); err != nil {
		return err
	}
	r.internalLink, err = newLink(func() []string { return []string{fmt.Sprintf("127.0.0.1:%d", r.internal)} })
	return err
}

func (c *cluster) listInternalAddresses(service string) []string {
	var addresses []string
	for _, r := range c.listReplicas(service) {
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", r.internal))
	}
	return addresses
}

func (c *cluster) listReplicas(service string) []*replica {
	var all []*replica
	for _, r := range c.replicas {
		if r.service == service {
			all = append(all, r)
		}
	}
	return all
}

// start runs the migrations and starts all services. It returns when all replicas are ready.
func (c *cluster) start(ctx context.Context) error {
	for _, service := range storedServices {
		r := c.listReplicas(service)[0]
		migrate := exec.CommandContext(ctx, filepath.Join(c.programs, service), "migrate")
		migrate.Env = append(os.Environ(), r.environment...)
		if output, err := migrate.CombinedOutput(); err != nil {
			return fmt.Errorf("migrate %s: %w: %s", service, err, output)
		}
	}
	for _, r := range c.replicas {
		if err := c.launch(r, 0); err != nil {
			return err
		}
	}
	for _, r := range c.replicas {
		if err := r.awaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// launch starts the process of a replica. The argument `apart` is the difference between the replica's clock and the
// machine's clock.
func (c *cluster) launch(r *replica, apart time.Duration) error {
	log, err := os.OpenFile(filepath.Join(c.logs, r.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own file handle
	command := exec.Command(filepath.Join(c.programs, r.service))
	command.Env = append(append(os.Environ(), r.environment...),
		"SLOTMESH_NOW="+now().Add(apart).Format(time.RFC3339Nano))
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = endsWithParent()
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { _ = command.Wait(); close(ended) }()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.command, r.done = command, ended
	return nil
}

var readiness = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// awaitReady waits until the replica answers that it is ready.
func (r *replica) awaitReady(ctx context.Context) error {
	err := retryUntil(ctx, 2*time.Minute, 50*time.Millisecond, func() error {
		answer, err := readiness.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", r.internal))
		if err != nil {
			return err
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("/readyz answers %d: %s", answer.StatusCode, body)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s is not ready: %w", r.name, err)
	}
	return nil
}

func (r *replica) signal(s syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.command != nil {
		_ = r.command.Process.Signal(s) // the process may have ended already
	}
}

// kill ends the process with SIGKILL.
func (r *replica) kill() {
	r.signal(syscall.SIGKILL)
	<-r.done
}

// stopTimeout is the time within which a process must end after SIGTERM. stopTimeout is longer than DRAIN_TIMEOUT. A
// process that still runs after stopTimeout therefore hangs.
const stopTimeout = time.Minute

// stop sends SIGTERM to the process and waits for its end. If the process does not end in time with exit code 0, stop
// returns an error.
func (r *replica) stop() error {
	r.signal(syscall.SIGTERM)
	select {
	case <-r.done:
	case <-time.After(stopTimeout):
		r.kill()
		return fmt.Errorf("%s did not stop within %s", r.name, stopTimeout)
	}
	if code := r.command.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with exit code %d on SIGTERM", r.name, code)
	}
	return nil
}

// close ends all processes and links.
func (c *cluster) close() {
	for _, r := range c.replicas {
		if r.command != nil {
			r.signal(syscall.SIGCONT)
			r.kill()
		}
	}
	for _, r := range c.replicas {
		for _, l := range r.links {
			l.close()
		}
		for _, l := range []*link{r.ingress, r.internalLink} {
			if l != nil {
				l.close()
			}
		}
	}
}

// findPanics returns the panics of Go code in the logs of all replicas.
func (c *cluster) findPanics() []string {
	var found []string
	for _, r := range c.replicas {
		text, err := os.ReadFile(filepath.Join(c.logs, r.name+".log"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			found = append(found, err.Error())
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
				found = append(found, r.name+": "+strings.TrimSpace(line))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
