package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/components"
)

// Startup is the measurement of one service that runs as a separate process. It contains the time of the start with
// existing tables, and the memory without requests.
type Startup struct {
	Service  string
	Ready    time.Duration // from the start of the process to the first status 200 of /readyz; median of three starts
	Resident int64         // maximum memory in bytes, one second after the service was ready
}

// The limits for each service: for its start time, and for its memory.
const (
	maxReadyTime    = 300 * time.Millisecond
	maxIdleResident = 40 << 20
)

var programs = components.Names()

// measureStartups starts each service's program in the folder Options.Programs three times, and returns the
// measurements.
func (w *system) measureStartups(ctx context.Context) ([]Startup, error) {
	var all []Startup
	for _, name := range programs {
		_, _ = fmt.Fprintf(w.o.Progress, "starting %s\n", name)
		var took []time.Duration
		s := Startup{Service: name}
		for range 3 {
			once, err := w.startService(ctx, name)
			if err != nil {
				return nil, fmt.Errorf("start %s: %w", name, err)
			}
			took, s.Resident = append(took, once.Ready), max(s.Resident, once.Resident)
		}
		slices.Sort(took)
		s.Ready = took[1]
		all = append(all, s)
	}
	return all, nil
}

func (w *system) startService(ctx context.Context, name string) (Startup, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	public, err := findFreeAddress()
	if err != nil {
		return Startup{}, err
	}
	internal, err := findFreeAddress()
	if err != nil {
		return Startup{}, err
	}
	command := exec.CommandContext(ctx, filepath.Join(w.o.Programs, name))
	command.Env = append(os.Environ(), "PUBLIC_ADDR="+public, "INTERNAL_ADDR="+internal,
		"DATABASE_URL="+w.o.DatabaseURL,
		"REDIS_URL="+w.o.RedisURL, "SLOTMESH_ADMIN_TOKEN="+adminToken, "PEER_SECRETS="+rand.Text()+rand.Text(),
		"LINK_SECRETS="+rand.Text()+rand.Text())
	for _, peer := range programs {
		command.Env = append(command.Env, strings.ToUpper(peer)+"_URL="+w.addresses.Front) // receives no requests
	}
	startTime := now()
	if err := command.Start(); err != nil {
		return Startup{}, err
	}
	defer func() { _ = command.Process.Kill(); _ = command.Wait() }()
	if err := awaitReady(ctx, "http://"+internal+"/readyz"); err != nil {
		return Startup{}, err
	}
	s := Startup{Service: name, Ready: now().Sub(startTime)}
	if err := sleepUntil(ctx, now().Add(time.Second)); err != nil {
		return s, err
	}
	s.Resident = readResident(command.Process.Pid)
	return s, nil
}

func findFreeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func awaitReady(ctx context.Context, url string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Second}
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if answer, err := client.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		if err := sleepUntil(ctx, now().Add(2*time.Millisecond)); err != nil {
			return err
		}
	}
}
