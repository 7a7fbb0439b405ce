package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/slotmesh/slotmesh/services/allinone"
)

// startsAt is the initial time of the services' clock. The time is a constant, so that every run requests the same
// dates. The date is a Monday.
const startsAt = "2027-03-01T06:00:00Z"

// adminToken is the token of the admin API of the child process that runs Slotmesh. The parent and the child need the
// same token, so it is a constant. The token need not be secret, because the child process listens only on loopback.
const adminToken = "measured-on-loopback-4c1f9e07"

// Addresses are the base URLs of the child process that runs Slotmesh. Inside is the URL of the process's allocation
// counts and profiles.
type Addresses struct {
	Front, Admin, Inside string
	Services             map[string]string // URL of the public port of each service
}

// settingsVariable is the environment variable that passes the settings to the child process that runs Slotmesh. Its
// value is a JSON object.
const settingsVariable = "SLOTMESH_BENCH_SETTINGS"

// serveSlotmesh is the [roleFunc] that runs all services in this process. The environment contains the URLs of the
// stores.
func serveSlotmesh(ctx context.Context, ready func(any) error) error {
	var settings map[string]string
	if err := json.Unmarshal([]byte(os.Getenv(settingsVariable)), &settings); err != nil {
		return fmt.Errorf("%s: %w", settingsVariable, err)
	}
	home, err := os.MkdirTemp("", "slotmesh-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }()
	p, err := allinone.Start(ctx, allinone.Config{
		Home: home, Now: startsAt, TrustedProxies: []string{"127.0.0.0/8"}, AdminToken: adminToken,
		DatabaseURL: os.Getenv("DATABASE_URL"), RedisURL: os.Getenv("REDIS_URL"), Settings: settings,
	}, func(string) {})
	if err != nil {
		return err
	}
	inside, err := serveDiagnostics(ctx)
	if err != nil {
		return err
	}
	services := map[string]string{}
	for _, name := range []string{"catalog", "availability", "booking", "rental", "mcp"} {
		services[name] = p.ServiceURL(name)
	}
	if err := ready(Addresses{Front: p.PublicURL, Admin: p.AdminURL, Inside: inside, Services: services}); err != nil {
		return err
	}
	select {
	case err = <-p.Failed():
	case <-ctx.Done():
	}
	if stopErr := p.Stop(); err == nil {
		err = stopErr
	}
	return err
}
