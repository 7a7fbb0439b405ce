package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// EngineRow is a result of the slot engine's own benchmarks (services/availability/internal/slot).
type EngineRow struct {
	Name   string
	Time   time.Duration
	Allocs int64
}

// enginePackage is where the engine and the plain sweep stand beside each other.
const enginePackage = "./services/availability/internal/slot"

// runEngine runs the benchmarks with the go command, from the root of the repository.
func runEngine(ctx context.Context, progress io.Writer) ([]EngineRow, error) {
	_, _ = fmt.Fprintln(progress, "measuring the slot engine")
	command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", ".", "-benchmem", "-benchtime", "300ms", "-timeout", "5m", enginePackage)
	out, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the engine's benchmarks: %w: %s", err, out)
	}
	return parseEngine(out), nil
}

// parseEngine reads lines such as "BenchmarkScenario/members=1/list-2  100  123.4 ns/op  56 B/op  7 allocs/op".
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
			name = name[:i] // the number of processors
		}
		rows = append(rows, EngineRow{Name: name, Time: time.Duration(nanoseconds), Allocs: allocs})
	}
	return rows
}
