package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/build"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/platform/zonefiles"
)

// process holds the settings of a process that runs one service, in addition to the settings of the service.
type process struct {
	Telemetry telemetry.Config
	// Now is the instant, in RFC 3339, at which the clock of the service
	// starts. If it is empty, the service uses the machine's clock.
	Now string `env:"SLOTMESH_NOW"`
}

// Service describes a service for [Main]. New builds the service from its settings. Migrate applies the migrations of
// the service's tables; Migrate is nil for a service without tables.
type Service[C any] struct {
	Name    string
	New     func(context.Context, C, Runtime) (*Server, error)
	Migrate func(context.Context, C) error
	// Commands are further commands of the program: `<name> <command> <argument>`. The key is the name of the command.
	Commands map[string]func(ctx context.Context, cfg C, argument string) error
}

// Main is the main function of a service. The command line `<name>` runs the service
// until SIGINT or SIGTERM. The command line `<name> migrate` applies the migrations.
// On an error, Main prints one sentence to standard error and exits with code 1.
func Main[C any](s Service[C]) {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Printf("%s %s\nzones %s\n", s.Name, build.Version(), zonefiles.Describe(os.Getenv("ZONE_DATA")))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", s.Name, err)
		os.Exit(1)
	}
}

func run[C any](ctx context.Context, s Service[C], args []string) error {
	var own C
	if err := config.Load(ctx, &own, envconfig.OsLookuper()); err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return serve(ctx, s, own)
	case len(args) == 1 && args[0] == "migrate" && s.Migrate != nil:
		return s.Migrate(ctx, own)
	case len(args) == 2 && s.Commands[args[0]] != nil:
		return s.Commands[args[0]](ctx, own, args[1])
	}
	return fmt.Errorf("unknown arguments %q; run it without any to serve, or with migrate where it has tables", args)
}

func serve[C any](ctx context.Context, s Service[C], own C) error {
	LimitMemory()
	var p process
	if err := config.Load(ctx, &p, envconfig.OsLookuper()); err != nil {
		return err
	}
	now, err := clock.Parse(p.Now)
	if err != nil {
		return fmt.Errorf("SLOTMESH_NOW: write an instant such as 2027-03-01T09:00:00Z: %w", err)
	}
	tel, err := telemetry.New(ctx, p.Telemetry, s.Name, telemetry.Stderr())
	if err != nil {
		return err
	}
	srv, err := s.New(ctx, own, Runtime{Name: s.Name, Clock: now, Telemetry: tel})
	if err != nil {
		return err
	}
	err = srv.Run(ctx)
	flush, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(err, tel.Shutdown(flush))
}
