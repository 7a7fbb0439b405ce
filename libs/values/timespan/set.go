package timespan

import "slices"

// The functions in this file work on sets of instants. A set is a slice of spans that is sorted by Start. To avoid
// allocations in loops, functions with the argument `dst` write the result to the slice `dst`. These functions
// overwrite the contents of `dst` and grow `dst` if necessary. The slice `dst` must not share memory with the other
// arguments.

// Normalize sorts spans, removes empty spans, and merges spans that
// overlap or touch. The result uses the memory of the argument.
func Normalize(spans []Span) []Span {
	if !slices.IsSortedFunc(spans, compareStarts) {
		slices.SortFunc(spans, compareStarts)
	}
	n := 0
	for _, s := range spans {
		switch {
		case s.End <= s.Start:
		case n > 0 && s.Start <= spans[n-1].End:
			spans[n-1].End = max(spans[n-1].End, s.End)
		default:
			spans[n] = s
			n++
		}
	}
	return spans[:n]
}

// Intersect writes the instants that are in both `a` and `b` to `dst`, and returns `dst`. Both `a` and `b` must be
// normalized ([Normalize]).
func Intersect(dst, a, b []Span) []Span {
	dst = dst[:0]
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if s := (Span{max(a[i].Start, b[j].Start), min(a[i].End, b[j].End)}); s.Start < s.End {
			dst = append(dst, s)
		}
		if a[i].End < b[j].End {
			i++
		} else {
			j++
		}
	}
	return dst
}

// Subtract writes the instants that are in `a` but not in `b` to `dst`, and returns `dst`. The argument `a` must be
// normalized ([Normalize]). The argument `b` must be sorted by Start; its spans may overlap or be empty.
func Subtract(dst, a, b []Span) []Span {
	dst = dst[:0]
	i := 0
	for _, s := range a {
		for i < len(b) && b[i].End <= s.Start {
			i++
		}
		from := s.Start
		for j := i; j < len(b) && b[j].Start < s.End && from < s.End; j++ {
			if b[j].End <= b[j].Start {
				continue
			}
			if from < b[j].Start {
				dst = append(dst, Span{from, b[j].Start})
			}
			from = max(from, b[j].End)
		}
		if from < s.End {
			dst = append(dst, Span{from, s.End})
		}
	}
	return dst
}

func compareStarts(a, b Span) int {
	switch {
	case a.Start < b.Start:
		return -1
	case a.Start > b.Start:
		return 1
	}
	return 0
}
