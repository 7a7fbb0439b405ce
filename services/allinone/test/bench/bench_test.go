package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/services/allinone/test/deadlines"
)

// TestMain runs a child process of the benchmark if this binary was started as one.
func TestMain(m *testing.M) {
	if played, err := Child(); played {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// progress writes progress messages to the test's log.
type progress struct{ t *testing.T }

func (p progress) Write(b []byte) (int, error) {
	p.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

// TestRunMeasuresAllCases checks that all cases are measured and that their answers are right. It checks no speed.
func TestRunMeasuresAllCases(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	report, err := Run(ctx, Options{
		DatabaseURL: testkit.Server(t), RedisURL: os.Getenv(testkit.RedisURL), Settings: deadlines.Roomy,
		Duration: 100 * time.Millisecond, Clients: 4, Seeds: Seeds{Salons: 2, Keys: 20, Bookings: 200}, Views: 1,
		Progress: progress{t},
	})
	if err != nil {
		t.Fatal(err)
	}
	checkPaints(t, report.Painted)
	if (report.Week == nil) != (len(report.Painted) == 0) || report.Week != nil &&
		(report.Week.Boxes != weekBookings || report.Week.Loaded <= 0) {
		t.Errorf("the week: %+v", report.Week)
	}
	for _, row := range report.Rows {
		var answers int64
		for _, n := range row.Statuses {
			answers += n
		}
		if answers == 0 || row.PerSecond <= 0 || row.P50 <= 0 || row.P999 < row.P50 {
			t.Errorf("%s: %+v", row.Name, row)
		}
	}
	if len(report.Rows) != 20 || len(report.Claims) < 2 { // CPU time has a resolution of 10 ms, so that no CPU time may be measured
		t.Errorf("%d rows, %d claims", len(report.Rows), len(report.Claims))
	}
	var out bytes.Buffer
	if err := report.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, row := range report.Rows {
		if !strings.Contains(out.String(), strings.TrimSpace(row.Name)) {
			t.Errorf("the table lacks %s", row.Name)
		}
	}
}

// checkPaints checks that every step was measured, with the same script and style. Without Chromium, no step is
// measured.
func checkPaints(t *testing.T, all []PagePaint) {
	t.Helper()
	if _, err := inputs.LookPath("chromium"); err == nil && len(all) != 4 {
		t.Errorf("%d pages were painted", len(all))
	}
	for _, p := range all {
		if p.Largest <= 0 || p.HTML <= 0 || p.Script <= 0 || p.Style <= 0 || p.Script != all[0].Script ||
			p.Style != all[0].Style {
			t.Errorf("painted: %+v", p)
		}
	}
}

func TestRunMeasuresEachSize(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	report, err := Run(ctx, Options{
		DatabaseURL: testkit.Server(t), RedisURL: os.Getenv(testkit.RedisURL), Settings: deadlines.Roomy,
		Duration: 100 * time.Millisecond, Clients: 4, Sizes: []Size{{2, 300}, {5, 1000}}, Progress: progress{t},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Grown) != 6 || len(report.Rows) > 0 {
		t.Errorf("%d rows of growth, %d others", len(report.Grown), len(report.Rows))
	}
	for _, g := range report.Grown {
		if g.PerSecond <= 0 || g.P50 <= 0 || g.Resident < 1<<20 || (g.Pages > 0) != (g.Name == grownSlotsName) {
			t.Errorf("%+v", g)
		}
	}
}

func TestOpenLoopCountsStallForDelayedRequests(t *testing.T) {
	t.Parallel()
	var stalled bool
	f, err := openLoop(t.Context(), 1, 1000, 200*time.Millisecond, new(atomic.Int64), func(int64) (int, error) {
		if !stalled {
			stalled = true
			<-time.After(100 * time.Millisecond)
		}
		return 200, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// One of 200 requests was slow. About a hundred other requests were due during the slow one and count as late.
	if late := f.Latency.ValueAtQuantile(70); f.Sent != 200 || late < 20_000 {
		t.Errorf("%d requests, at 70 %% %d µs", f.Sent, late)
	}
}

func TestParseEngineReadsBenchmarkLines(t *testing.T) {
	t.Parallel()
	got := parseEngine([]byte("goos: linux\nBenchmarkScenario/members=1/list-2   \t 100\t  1234.5 ns/op\t  56 B/op\t  7 allocs/op\nok x\n"))
	if diff := cmp.Diff([]EngineRow{{Name: "Scenario/members=1/list", Time: 1234, Allocs: 7}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadStatReadsOwnProcess(t *testing.T) {
	t.Parallel()
	s, err := readStat(os.Getpid())
	if err != nil || s.parent != os.Getppid() {
		t.Errorf("%+v, %v", s, err)
	}
	if readResident(os.Getpid()) < 1<<20 {
		t.Error("the resident memory of this process is below 1 MiB")
	}
}

func TestParseSizesRefusesInvalidSizes(t *testing.T) {
	t.Parallel()
	got, err := ParseSizes("10:10000,1000:1000000")
	if diff := cmp.Diff([]Size{{10, 10_000}, {1000, 1_000_000}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, text := range []string{"", "10", "0:1", "1:0", "100001:1", "1:10000001", "10:100,5:200", "10:100,20:50",
		"a:b"} {
		if got, err := ParseSizes(text); err == nil {
			t.Errorf("%q gives %v", text, got)
		}
	}
}
