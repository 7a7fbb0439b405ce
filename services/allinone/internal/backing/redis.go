package backing

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// throwawayDatabases is the number of databases of a Redis for tests. Each test uses a database of its own.
const throwawayDatabases = "1024"

// startRedis starts the program redis-server. If the argument `program` is "", it starts a Redis in this process. When
// Redis ends, its data is lost. This is harmless: Redis only stores the counts for the rate limits of the last minute,
// and transmits messages between processes.
func (s *Stores) startRedis(ctx context.Context, o Options, p storeFolders, program string) error {
	if program == "" {
		return s.startRedisInProcess()
	}
	socket := filepath.Join(p.sockets, "redis.sock")
	args := []string{
		"--port", "0", "--unixsocket", socket, "--unixsocketperm", "700",
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", p.sockets,
	}
	if o.IsThrowaway {
		args = append(args, "--databases", throwawayDatabases)
	}
	server, err := launch(p, "redis", program, args...)
	if err != nil {
		return err
	}
	s.onStop(func() error { return server.stop(syscall.SIGTERM, syscall.SIGKILL) })
	s.RedisURL = "unix://" + socket
	if err := waitFor(ctx, server, "redis-server",
		func(ctx context.Context) error { return pingRedis(ctx, s.RedisURL) }); err != nil {
		return err
	}
	server.watch(s.failed)
	return nil
}

func pingRedis(ctx context.Context, redisURL string) error {
	client, err := redisx.Open(ctx, redisx.Config{URL: redisURL, Timeout: checkTimeout}, telemetry.Discard())
	if err != nil {
		return err
	}
	return errors.Join(client.Ping(ctx).Err(), client.Close())
}

// expiryStep is the interval at which the clock of a Redis in this process is advanced, so that keys expire.
const expiryStep = 250 * time.Millisecond

// startRedisInProcess starts miniredis, a Redis in this process. The command TIME returns the machine's time, but keys
// expire only when this process advances the clock of miniredis. The Redis listens on loopback, so every user of the
// machine can connect to it. Clients therefore need a password, which is new at each start.
func (s *Stores) startRedisInProcess() error {
	server, err := miniredis.Run()
	if err != nil {
		return fmt.Errorf("redis in process does not start: %w", err)
	}
	password := rand.Text()
	server.RequireAuth(password)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(expiryStep)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				server.FastForward(expiryStep)
			case <-stop:
				return
			}
		}
	}()
	s.onStop(func() error {
		close(stop)
		<-stopped
		server.Close()
		return nil
	})
	s.RedisURL = (&url.URL{Scheme: "redis", User: url.UserPassword("", password), Host: server.Addr()}).String()
	return nil
}
