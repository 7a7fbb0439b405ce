// Command bench compares the speed of Slotmesh with that of bare programs (package bench). It starts a PostgreSQL and a
// Redis and removes them at the end (`make bench`).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/slotmesh/slotmesh/services/allinone/internal/backing"
	"github.com/slotmesh/slotmesh/services/allinone/test/bench"
)

func main() {
	if played, err := bench.Child(); played {
		exit(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context) error {
	var o bench.Options
	flag.DurationVar(&o.Duration, "for", 4*time.Second, "how long each loop runs")
	flag.IntVar(&o.Clients, "clients", 32, "clients of the closed loops")
	flag.StringVar(&o.ProfileDir, "profiles", "", "folder for CPU and allocation profiles of each path")
	flag.BoolVar(&o.Engine, "engine", true, "also run the slot engine's benchmarks, from the root of the repository")
	flag.IntVar(&o.Views, "views", 5,
		"how often each step of the booking page, on a slow line, and a full week of the owner's calendar are viewed "+
			"in Chromium; 0: not at all")
	flag.StringVar(&o.Programs, "programs", "", "folder of the services' programs, to measure how they start")
	only := flag.String("only", "", "measure only the cases whose names match this regular expression")
	sizes := flag.String("grow", "",
		"measure only growth, at these numbers of businesses and bookings, such as 10:10000,1000:1000000")
	flag.Parse()
	var err error
	if *sizes != "" {
		if o.Sizes, err = bench.ParseSizes(*sizes); err != nil {
			return fmt.Errorf("-grow: %w", err)
		}
	}
	if o.Only, err = regexp.Compile(*only); err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	o.Seeds = bench.Seeds{Salons: 20, Keys: 200, Bookings: 2000}
	o.Progress = os.Stderr
	if o.ProfileDir != "" {
		if err := os.MkdirAll(o.ProfileDir, 0o755); err != nil {
			return err
		}
	}
	report, err := runWithStores(ctx, o)
	if err != nil {
		return err
	}
	return report.Print(os.Stdout)
}

// runWithStores starts a PostgreSQL and a Redis, measures with them, and removes them.
func runWithStores(ctx context.Context, o bench.Options) (*bench.Report, error) {
	stores, err := backing.Start(ctx, backing.Options{
		IsThrowaway: true, Say: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	if err != nil {
		return nil, err
	}
	o.DatabaseURL, o.RedisURL = stores.DatabaseURL, stores.RedisURL
	report, err := bench.Run(ctx, o)
	return report, errors.Join(err, stores.Stop())
}
