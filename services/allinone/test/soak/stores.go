package soak

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/services/allinone/internal/backing"
)

// stores are a PostgreSQL and a Redis. PostgreSQL runs with fsync, because its data must survive a crash.
type stores struct {
	home  string
	redis *redis.Client

	mu       sync.Mutex
	first    *backing.Stores // PostgreSQL and Redis at the start of the soak
	postgres *backing.Stores // the newest PostgreSQL; until the first crash, the same as the field `first`
	all      []*backing.Stores
}

func startStores(ctx context.Context, home string) (*stores, error) {
	started, err := backing.Start(ctx, backing.Options{Home: home, Say: func(string) {}})
	if err != nil {
		return nil, err
	}
	s := &stores{home: home, first: started, postgres: started, all: []*backing.Stores{started}}
	options, err := redis.ParseURL(started.RedisURL)
	if err != nil {
		return nil, errors.Join(err, started.Stop())
	}
	s.redis = redis.NewClient(options)
	return s, nil
}

func (s *stores) stop() error {
	errs := []error{s.redis.Close()}
	for i := len(s.all) - 1; i >= 0; i-- {
		errs = append(errs, s.all[i].Stop())
	}
	return errors.Join(errs...)
}

// databaseURL returns the URL of PostgreSQL for the soak's own queries. The URL does not pass through a link, so faults
// do not affect these queries.
func (s *stores) databaseURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.postgres.DatabaseURL
}

// postgresAddress returns the current address of PostgreSQL, as a target of links.
func (s *stores) postgresAddress() []string {
	u, err := url.Parse(s.databaseURL())
	if err != nil {
		return nil
	}
	if folder := u.Query().Get("host"); folder != "" {
		return []string{filepath.Join(folder, ".s.PGSQL."+u.Query().Get("port"))}
	}
	return []string{u.Host}
}

func (s *stores) redisAddress() []string { return []string{s.redis.Options().Addr} }

// crashPostgres kills PostgreSQL's main process. The child processes end when they notice that the main process is
// dead.
func (s *stores) crashPostgres(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.databaseURL())
	if err != nil {
		return err
	}
	var data string
	if err := conn.QueryRow(ctx, "SHOW data_directory").Scan(&data); err != nil {
		return errors.Join(err, conn.Close(ctx))
	}
	_ = conn.Close(ctx) // an error is harmless
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return fmt.Errorf("postmaster.pid: %w", err)
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// restartPostgres starts PostgreSQL again with the same data after a crash. restartPostgres retries the start, because
// PostgreSQL cannot start before the last child process of the crashed server has ended.
func (s *stores) restartPostgres(ctx context.Context) error {
	// The file contains the path of the folder with the sockets, which Redis still uses. If the file remained, the next
	// start would assume that a killed process has left the folder, and would remove the folder.
	if err := os.Remove(filepath.Join(s.home, "sockets")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return retryUntil(ctx, 2*time.Minute, 200*time.Millisecond, func() error {
		started, err := backing.Start(ctx, backing.Options{Home: s.home, RedisURL: s.first.RedisURL, Say: func(string) {}})
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.postgres, s.all = started, append(s.all, started)
		return nil
	})
}

// retryUntil calls the function `try` until the call succeeds. If no call succeeds within the given time, retryUntil
// returns the last error.
func retryUntil(ctx context.Context, timeout, pause time.Duration, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		if !sleep(ctx, pause) {
			return fmt.Errorf("not within %s: %w", timeout, err)
		}
	}
}

// sleep waits for the duration `d`. If ctx ends first, it returns false.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// findFreePort returns a free port below the range that the system uses for outgoing connections. While a process with
// this port restarts, no outgoing connection can therefore take the port.
func findFreePort(try int) (int, error) {
	for i := range 2000 {
		port := 12000 + (try*37+i*7+os.Getpid()*131)%18000
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, errors.New("there is no free port between 12000 and 30000")
}
