// Package bench compares the speed of Slotmesh with that of bare programs. A bare program does only the unavoidable
// part of the same work, with the same libraries, in the same run. The package prints ratios, because absolute numbers
// depend much more on the machine.
//
// Three processes take part, so that the CPU time of each can be measured. This process generates the load, one child
// process runs all of Slotmesh (allinone), and another child process is the bare program. The CPU time of PostgreSQL
// and Redis is read from their processes.
//
// All processes, including the load, run on one machine. A maximum throughput therefore depends on the CPU time that
// the load leaves to the servers. The number to compare is the CPU time per request.
//
//	closed loop   each client sends its next request when it has the last answer: this measures the maximum throughput
//	open loop     requests begin at fixed times, at half the maximum throughput. A latency counts from the time at which
//	              the request should have begun, so that a stall counts for all requests that it delays
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

// Options select the cases to measure and the duration of the measurement.
type Options struct {
	DatabaseURL string        // URL of a PostgreSQL; the run creates databases in it and drops them
	RedisURL    string        // URL of a Redis
	Duration    time.Duration // duration of each loop
	Clients     int           // number of clients in the closed loops
	Seeds       Seeds
	Engine      bool           // also runs the slot engine's benchmarks, with the go command in the current folder
	Sizes       []Size         // if set, only the growth is measured, at these sizes
	Only        *regexp.Regexp // names of the cases to measure; nil: all
	Views       int            // how often Chromium opens each booking step and the owner's calendar; 0: never
	Programs    string         // folder of the services' programs, whose starts are measured; "": not measured
	ProfileDir  string         // folder for CPU and allocation profiles of each case; "": no profiles
	// settings of the services, by environment variable; override the defaults of the benchmark
	Settings map[string]string
	Progress io.Writer // receives the progress messages
}

// Seeds are the amounts of data that are created before the run.
type Seeds struct {
	Salons   int // businesses that receive bookings
	Keys     int // number of API keys of each business; each key allows 100 requests a minute
	Bookings int // bookings of the business whose calendars are read, spread over 62 days
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

// Run measures once and returns the results. If o.Sizes is set, Run measures only the growth; otherwise it measures all
// other cases.
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

// compare measures Slotmesh, the bare program and the other cases that `o` selects, and adds the results to `report`.
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

// measureAll measures the selected cases and returns the rows in the order of the cases. measureAll measures the early
// cases ([benchCase.isEarly]) before the other cases.
func (w *system) measureAll(ctx context.Context) ([]Row, error) {
	cases := w.listCases()
	rows := make([]Row, len(cases))
	for _, isEarly := range []bool{true, false} {
		for i, c := range cases {
			if c.isEarly() != isEarly || w.o.Only != nil && !w.o.Only.MatchString(c.name) {
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

// makeDatabase creates a database for the run. makeDatabase returns the database's URL and a function that drops the
// database.
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
		_ = runStatement(ctx, base, "DROP DATABASE "+name+" WITH (FORCE)") // a failure is harmless
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
