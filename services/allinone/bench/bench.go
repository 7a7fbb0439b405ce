// Package bench measures Slotmesh beside bare programs that do the unavoidable part of the same work with the same
// libraries, in one run, and prints ratios: absolute figures move with the machine, ratios far less.
//
// Three processes take part, so that the CPU of each can be told apart: this one sends the load; one child is the whole
// of Slotmesh (allinone); the other is the bare program. PostgreSQL's and Redis's CPU is read from their processes. All
// of it runs on one machine, the load included: a ceiling says what is left for the servers there, and CPU per request
// is the figure to compare.
//
//	closed loop   so many clients, each asks again as soon as it is answered: the ceiling
//	open loop     requests begin at fixed times, at half the ceiling; a latency counts from the time at which its request
//	              should have begun, so that a stall counts for all who would have come meanwhile (coordinated omission)
package bench

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options say what to measure and for how long.
type Options struct {
	DatabaseURL string        // a PostgreSQL in which databases are made for the run and dropped after it
	RedisURL    string        // a Redis
	Duration    time.Duration // of each loop
	Clients     int           // of the closed loops
	Seeds       Seeds
	Engine      bool              // also run the slot engine's benchmarks, by the go command in the current folder
	Sizes       []Size            // measure how figures change with these, and nothing else
	Keep        bool              // keep the databases of the sizes, and take those that an earlier run has made
	OnlyMake    bool              // only make the databases of the sizes
	Only        *regexp.Regexp    // the cases to measure, by name; nil: all
	Views       int               // how often each step of the booking page, and the owner's calendar, is viewed in Chromium; 0: that is not measured
	Programs    string            // the folder of the services' programs, to measure their start; "": not measured
	ProfileDir  string            // a folder for CPU and allocation profiles of Slotmesh by path; "" makes none
	Settings    map[string]string // of Slotmesh's services, by variable, over those that hold there
	Progress    io.Writer         // what is going on
}

// Seeds are the sizes of what is made before the run.
type Seeds struct {
	Salons   int // businesses that are booked at
	Keys     int // API keys of each business; each is good for a hundred requests a minute
	Bookings int // of the business whose calendars are read, within 62 days
}

// Report is what a run found.
type Report struct {
	Engine   []EngineRow
	Startups []Startup
	Rows     []Row
	Painted  []Painted
	Week     *Week // nil: it was not measured
	Grown    []Grown
	Claims   []Claim
}

// Run measures once: everything but growth, or growth alone where there are sizes.
func Run(ctx context.Context, o Options) (*Report, error) {
	report := &Report{}
	var err error
	if len(o.Sizes) > 0 {
		report.Grown, err = o.grow(ctx)
	} else {
		err = o.compare(ctx, report)
	}
	report.Claims = claims(report)
	return report, err
}

// compare measures everything beside the bare programs.
func (o Options) compare(ctx context.Context, report *Report) error {
	database, drop, err := makeDatabase(ctx, o.DatabaseURL)
	if err != nil {
		return err
	}
	defer drop()
	o.DatabaseURL = database
	w, err := newWorld(ctx, o)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.seed(ctx); err != nil {
		return err
	}
	if o.Engine {
		if report.Engine, err = o.runEngine(ctx); err != nil {
			return err
		}
	}
	if o.Programs != "" {
		if report.Startups, err = w.measureStartups(ctx); err != nil {
			return err
		}
	}
	if o.Views > 0 {
		if err := w.measurePages(ctx, report); err != nil {
			return err
		}
	}
	report.Rows, err = w.measureAll(ctx)
	return err
}

// measureAll measures the cases that are asked for, the early ones first, and returns rows in the order of the cases.
func (w *world) measureAll(ctx context.Context) ([]Row, error) {
	cases := w.cases()
	rows := make([]Row, len(cases))
	for _, early := range []bool{true, false} {
		for i, c := range cases {
			if c.early() != early || w.o.Only != nil && !w.o.Only.MatchString(c.name) {
				continue
			}
			_, _ = fmt.Fprintf(w.o.Progress, "measuring %s\n", c.name)
			var err error
			if rows[i], err = w.measure(ctx, c); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return slices.DeleteFunc(rows, func(r Row) bool { return r.Name == "" }), nil
}

// makeDatabase makes a database of the run's own and returns its URL and how to drop it.
func makeDatabase(ctx context.Context, base string) (string, func(), error) {
	at, err := url.Parse(base)
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("bench_%d", time.Now().UnixNano()) //nolint:forbidigo // only a name that no other run has
	if err := execute(ctx, base, "CREATE DATABASE "+name); err != nil {
		return "", nil, fmt.Errorf("make a database: %w", err)
	}
	at.Path = "/" + name
	return at.String(), func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_ = execute(ctx, base, "DROP DATABASE "+name+" WITH (FORCE)") // the stores are thrown away after a run
	}, nil
}

func execute(ctx context.Context, databaseURL, statement string) error {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
