package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// EngineRow is the result of a Go benchmark: of the slot engine (services/availability/internal/slot) or of booking's
// reports (services/booking/internal/store).
type EngineRow struct {
	Name   string
	Time   time.Duration
	Allocs int64
}

// enginePackage is the package with the benchmarks of the slot engine and, for comparison, of a plain sweep algorithm.
const enginePackage = "./services/availability/internal/slot"

// reportsPackage is the package with the benchmarks of the reports and, for comparison, of plain SQL.
const reportsPackage = "./services/booking/internal/store"

// runEngine runs the Go benchmarks and returns their results. The current folder must be the root of the repository.
// The benchmarks of the reports use a database schema of their own.
func (o Options) runEngine(ctx context.Context) ([]EngineRow, error) {
	_, _ = fmt.Fprintln(o.Progress, "measuring the slot engine")
	rows, err := o.goBenchmarks(ctx, ".", "300ms", enginePackage)
	if err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintln(o.Progress, "measuring reports of a year of 100,000 bookings")
	reports, err := o.goBenchmarks(ctx, "^BenchmarkReports$", "10x", reportsPackage)
	return append(rows, reports...), err
}

func (o Options) goBenchmarks(ctx context.Context, which, duration, pkg string) ([]EngineRow, error) {
	command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", which, "-benchmem", "-benchtime",
		duration, "-timeout", "10m", pkg)
	command.Env = append(os.Environ(), "SLOTMESH_TEST_DATABASE_URL="+o.DatabaseURL)
	out, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the benchmarks of %s: %w: %s", pkg, err, out)
	}
	return parseEngine(out), nil
}

// parseEngine parses benchmark results such as "BenchmarkScenario/members=1/list-2 100 123.4 ns/op 56 B/op 7
// allocs/op".
func parseEngine(out []byte) []EngineRow {
	var rows []EngineRow
	for line := range bytes.Lines(out) {
		fields := strings.Fields(string(line))
		if len(fields) < 8 || !strings.HasPrefix(fields[0], "Benchmark") || fields[3] != "ns/op" {
			continue
		}
		nanoseconds, _ := strconv.ParseFloat(fields[2], 64)
		allocs, _ := strconv.ParseInt(fields[len(fields)-2], 10, 64)
		name := strings.TrimPrefix(fields[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
			name = name[:i] // removes the number of processors from the name
		}
		rows = append(rows, EngineRow{Name: name, Time: time.Duration(nanoseconds), Allocs: allocs})
	}
	return rows
}
