package manifest

import (
	"encoding/json"
	"runtime/metrics"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzParse parses any source. The JSON of a valid manifest is parsed to an equal manifest. The problems of an invalid
// one are sorted and printable. The memory for parsing is bounded by the size of the source, even if aliases repeat
// parts of it.
func FuzzParse(f *testing.F) {
	f.Add(readExample(f))
	asJSON, err := json.Marshal(mustParse(f, readExample(f)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(asJSON)
	for _, c := range faults {
		f.Add([]byte(minimal + c.add))
	}
	for _, b := range newBombs() {
		if len(b.src) <= 10_000 { // large seeds slow down each mutation
			f.Add([]byte(b.src))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		before := measureAllocation()
		m, problems := Parse(src)
		if cost := measureAllocation() - before; cost > 256<<20+600*uint64(len(src)) {
			t.Errorf("a source of %d bytes cost %d bytes of memory", len(src), cost)
		}
		if (m == nil) != (len(problems) > 0) {
			t.Fatalf("manifest %v with %d problems", m, len(problems))
		}
		checkProblems(t, problems)
		if m != nil {
			checkRoundTrip(t, m)
		}
	})
}

// measureAllocation returns the number of bytes that the process has allocated so far. No other code runs during a fuzz
// target.
func measureAllocation() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func checkProblems(t *testing.T, problems []Problem) {
	t.Helper()
	if len(problems) > MaxProblems+1 {
		t.Errorf("%d problems are listed", len(problems))
	}
	line := 1
	for _, p := range problems {
		if p.Line < line || p.Message == "" || !utf8.ValidString(p.String()) {
			t.Errorf("after line %d: %q", line, p)
		}
		line = p.Line
	}
}

func checkRoundTrip(t *testing.T, m *Manifest) {
	t.Helper()
	asJSON, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(asJSON) > 4*MaxBytes {
		t.Errorf("the manifest takes %d bytes as JSON", len(asJSON))
	}
	if len(asJSON) > MaxBytes {
		return // aliases can expand a small source, and JSON is longer than YAML
	}
	again, problems := Parse(asJSON)
	if diff := cmp.Diff(m, again); diff != "" || len(problems) > 0 {
		t.Errorf("%s: %v\n%s", asJSON, problems, diff)
	}
}
