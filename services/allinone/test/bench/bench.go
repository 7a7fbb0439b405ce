// Package bench measures Slotmesh's speed in comparison with bare programs. A bare program does only
// the unavoidable part of the same work, with the same libraries, in the same run. The package prints
// ratios, because absolute numbers depend much more on the machine.
//
// Three processes take part, so that the CPU time of each can be measured. This process generates the
// load, one child process is all of Slotmesh (allinone), and another child is the bare program. The
// CPU time of PostgreSQL and Redis is read from their processes.
//
// All processes, including the load, run on one machine. A maximum throughput therefore only shows
// what the machine has left for the servers. CPU time per request is the number to compare.
//
//	closed loop   each of a number of clients sends its next request when it has the answer: the maximum throughput
//	open loop     requests begin at fixed times, at half the maximum. A latency counts from the time at which its
//	              request should have begun, so that a stall counts for all requests that it delays
//	              (coordinated omission)
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

// Options select what to measure and for how long.
type Options struct {
	DatabaseURL string        // a PostgreSQL; the run creates databases in it and drops them
	RedisURL    string        // a Redis
	Duration    time.Duration // of each loop
	Clients     int           // in the closed loops
	Seeds       Seeds
	Engine      bool              // also run the slot engine's benchmarks, with the go command in the current folder
	Sizes       []Size            // measure only growth, at these sizes
	Only        *regexp.Regexp    // names of the cases to measure; nil: all
	Views       int               // views of each booking step and of the owner's calendar in Chromium; 0: not measured
	Programs    string            // folder of the services' programs, to measure their start; "": not measured
	ProfileDir  string            // folder for CPU and allocation profiles of each path; "": no profiles
	Settings    map[string]string // settings of Slotmesh's services by variable; they override the bench's own
	Progress    io.Writer         // progress messages
}

// Seeds are the sizes of the data that is created before the run.
type Seeds struct {
	Salons   int // businesses that receive bookings
	Keys     int // API keys of each business; each allows 100 requests a minute
	Bookings int // bookings of the business whose calendars are read, within 62 days
}

// Report is the result of a run.
type Report struct {
	Engine   []EngineRow
	Startups []Startup
	Rows     []Row
	Painted  []PagePaint
	Week     *Week // nil: not measured
	Grown    []GrowthRow
	Claims   []Claim
}

// Run measures once and returns the results. If o.Sizes is set, it measures only growth, otherwise all other cases.
func Run(ctx context.Context, o Options) (*Report, error) {
	report := &Report{}
	var err error
	if len(o.Sizes) > 0 {
		report.Grown, err = o.measureGrowth(ctx)
	} else {
		err = o.compare(ctx, report)
	}
	report.Claims = listClaims(report)
	return report, err
}

// compare measures the cases that have a bare program to compare with, and adds the results to report.
func (o Options) compare(ctx context.Context, report *Report) error {
	database, drop, err := makeDatabase(ctx, o.DatabaseURL)
	if err != nil {
		return err
	}
	defer drop()
	o.DatabaseURL = database
	w, err := newSystem(ctx, o)
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

// measureAll measures the selected cases. It measures those that must come first ([benchCase.isEarly])
// before the others, but returns the rows in the order of the cases.
func (w *system) measureAll(ctx context.Context) ([]Row, error) {
	cases := w.listCases()
	rows := make([]Row, len(cases))
	for _, early := range []bool{true, false} {
		for i, c := range cases {
			if c.isEarly() != early || w.o.Only != nil && !w.o.Only.MatchString(c.name) {
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

// makeDatabase creates a database for the run. It returns its URL and a function that drops it.
func makeDatabase(ctx context.Context, base string) (string, func(), error) {
	at, err := url.Parse(base)
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("bench_%d", time.Now().UnixNano()) //nolint:forbidigo // only a name that no other run has
	if err := runStatement(ctx, base, "CREATE DATABASE "+name); err != nil {
		return "", nil, fmt.Errorf("make a database: %w", err)
	}
	at.Path = "/" + name
	return at.String(), func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_ = runStatement(ctx, base, "DROP DATABASE "+name+" WITH (FORCE)") // a failure does no harm
	}, nil
}

func runStatement(ctx context.Context, databaseURL, statement string) error {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
