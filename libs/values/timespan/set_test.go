package timespan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// instants marks the instants of a set on a line of 64 instants, which is the obvious meaning of a slice of spans.
func instants(spans []Span) [64]bool {
	var line [64]bool
	for _, s := range spans {
		for i := s.Start; i < s.End; i++ {
			line[i] = true
		}
	}
	return line
}

func anySpans(t *rapid.T, label string) []Span {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Span {
		start := rapid.Int64Range(0, 60).Draw(t, "start")
		return Span{start, rapid.Int64Range(max(0, start-2), 63).Draw(t, "end")}
	}), 0, 8).Draw(t, label)
}

func TestSetOperationsMatchInstants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rawA, rawB := anySpans(t, "a"), anySpans(t, "b")
		paintedA, paintedB := instants(rawA), instants(rawB)
		a, b := Normalize(append([]Span(nil), rawA...)), Normalize(append([]Span(nil), rawB...))
		var both, only [64]bool
		for i := range paintedA {
			both[i] = paintedA[i] && paintedB[i]
			only[i] = paintedA[i] && !paintedB[i]
		}
		mustPaint(t, "Normalize", a, paintedA)
		mustPaint(t, "Intersect", Intersect(nil, a, b), both)
		mustPaint(t, "Subtract", Subtract(nil, a, b), only)
	})
}

func mustPaint(t *rapid.T, name string, got []Span, want [64]bool) {
	t.Helper()
	if diff := cmp.Diff(want, instants(got)); diff != "" {
		t.Errorf("%s = %v (-want +got):\n%s", name, got, diff)
	}
	for i, s := range got {
		if s.End <= s.Start || (i > 0 && s.Start <= got[i-1].End) {
			t.Errorf("%s = %v is not normalized", name, got)
		}
	}
}

func TestSubtractTakesOverlappingSpans(t *testing.T) {
	t.Parallel()
	got := Subtract(nil, []Span{{0, 30}, {40, 60}}, []Span{{5, 25}, {6, 8}, {7, 7}, {10, 45}, {59, 63}})
	if diff := cmp.Diff([]Span{{0, 5}, {45, 59}}, got); diff != "" {
		t.Error(diff)
	}
}
