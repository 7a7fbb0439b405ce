package manifest

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/libs/values/zone"
)

// maxWarningComparisons is the maximal number of comparisons between
// spans. It limits the cost of warnings for a large document.
const maxWarningComparisons = 1_000_000

// Warnings returns the values in a valid manifest that are probably mistakes at the instant `now`, ordered by line:
//
//   - spans that overlap; each span is listed once, with one other span
//   - windows longer than [maxWindow]
//   - overrides of past dates
//   - packages that save nothing, and packages that are not shown
//   - staff members who work at no location of a service that they perform
//
// Overlapping spans are two windows of the same day, blocked time within other
// blocked time, or two class sessions of the same staff member. Two seasons or flash
// sales of equal priority that change the same prices are overlapping spans, too.
//
// A manifest with warnings can be published. Warnings returns nothing for a manifest that [Parse] rejects.
func Warnings(src []byte, now time.Time) []Problem {
	warnings, _ := WarningsUntil(src, now, func() bool { return false })
	return warnings
}

// WarningsUntil is [Warnings] with a function `stop`. Soon after `stop`
// returns true, WarningsUntil returns [ErrStopped]. It returns no other error.
func WarningsUntil(src []byte, now time.Time, stop func() bool) ([]Problem, error) {
	root, problem, err := parseSource(src, stop)
	if err != nil || problem != nil {
		return nil, err
	}
	m, r := &Manifest{}, &report{}
	d := decoder{report: r}
	d.decodeObject(root, nil, reflect.ValueOf(m).Elem())
	if stop() {
		return nil, ErrStopped
	}
	if newValidator(m, r, root).checkManifest(); len(r.problems) > 0 {
		return nil, nil
	}
	w := warner{report: r, root: root, remaining: maxWarningComparisons}
	if location, err := zone.Load(string(m.Timezone)); err == nil {
		w.today = timespan.DateOf(now, location)
	}
	w.checkManifest(m)
	return r.sortProblems(), nil
}

// warner searches a valid manifest for probable mistakes.
type warner struct {
	report    *report
	today     timespan.Date // in the time zone of the business
	root      *yaml.Node
	remaining int // number of comparisons that are still permitted
}

func (w *warner) warn(at *path, format string, args ...any) {
	w.report.add(at, findLine(w.root, at), format, args...)
}

// countComparison counts one comparison. It reports whether the comparison is within [maxWarningComparisons].
func (w *warner) countComparison() bool {
	w.remaining--
	return w.remaining >= 0
}

func (w *warner) checkManifest(m *Manifest) {
	root := (*path)(nil)
	w.checkWeek(root.field("hours"), &m.Hours)
	w.checkOverrides(root.field("overrides"), m.Overrides)
	for i := range m.Locations {
		l, here := &m.Locations[i], root.field("locations").item(i)
		if l.Hours != nil {
			w.checkWeek(here.field("hours"), l.Hours)
		}
		w.checkOverrides(here.field("overrides"), l.Overrides)
	}
	for i := range m.Staff {
		s, here := &m.Staff[i], root.field("staff").item(i)
		if s.Hours != nil {
			w.checkWeek(here.field("hours"), s.Hours)
		}
		for _, key := range slices.Sorted(maps.Keys(s.At)) {
			w.checkWeek(here.field("at").field(string(key)), new(s.At[key]))
		}
		w.checkOverrides(here.field("overrides"), s.Overrides)
	}
	w.checkStaffLocations(m)
	w.checkBlocks(root.field("blocks"), m)
	w.checkSessions(m)
	w.checkPackages(root.field("packages"), m)
	w.checkSeasons(root.field("pricing_rules"), m.PricingRules)
}

func (w *warner) checkWeek(at *path, week *WeekHours) {
	for _, day := range []struct {
		name    string
		windows []timespan.Window
	}{{"mon", week.Mon}, {"tue", week.Tue}, {"wed", week.Wed}, {"thu", week.Thu}, {"fri", week.Fri}, {"sat", week.Sat},
		{"sun", week.Sun}} {
		w.checkWindows(at.field(day.name), day.windows)
	}
}

func (w *warner) checkOverrides(at *path, list []DayOverride) {
	for i := range list {
		if list[i].Date < w.today {
			w.warn(at.item(i).field("date"), "is %s, which is over; remove it, or write the date that is meant",
				list[i].Date)
		}
		w.checkWindows(at.item(i).field("hours"), list[i].Hours)
	}
}

// checkWindows warns of windows of one day that overlap, because overlapping windows count as
// one window (semantics.md §2). checkWindows does not warn of two windows if one begins when
// the other ends. Such windows also count as one window, but the owner probably intended them.
func (w *warner) checkWindows(at *path, list []timespan.Window) {
	w.checkLength(at, list)
	order := sortWindows(list, func(a, b timespan.Window) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To))
	})
	latest := 0 // index in order; among the previous windows, this one ends last
	for i := 1; i < len(order); i++ {
		window, before := list[order[i]], list[order[latest]]
		switch {
		case window.To <= before.To:
			w.warn(at.item(order[i]), "is %s, which lies within %s of the same day; remove it", window, before)
			continue
		case window.From < before.To:
			w.warn(at.item(order[i]), "is %s, which overlaps %s of the same day: the two count as one; write them as "+
				"one, or begin where the other ends",
				window, before)
		}
		latest = i
	}
}

// maxWindow is the length of the longest window without a warning.
// The times of a longer window are probably swapped or mistyped.
const maxWindow = 14 * 60 // minutes

// checkLength warns of windows that are longer than [maxWindow], unless they last the whole day.
func (w *warner) checkLength(at *path, list []timespan.Window) {
	for i, window := range list {
		isWholeDay := window.From == 0 && window.To == timespan.MinutesPerDay
		if minutes := int(window.To - window.From); minutes > maxWindow && !isWholeDay {
			w.warn(at.item(i), "is %s, which is %d:%02d hours long; check that its times are meant", window, minutes/60,
				minutes%60)
		}
	}
}

// sortWindows returns the indexes of the list's elements, sorted
// by the function `compare`. Equal elements keep their order.
func sortWindows[T any](list []T, compare func(a, b T) int) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(list[i], list[j]) })
	return order
}

func compareMoments(a, b timespan.LocalDateTime) int {
	return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Time, b.Time))
}

// checkBlocks warns of each redundant block. A block is redundant if, for each of its staff members, another block
// contains it. checkBlocks does not warn of blocks that overlap only in part, because then both blocks are needed.
func (w *warner) checkBlocks(at *path, m *Manifest) {
	order := sortWindows(m.Blocks, func(a, b Block) int {
		return cmp.Or(compareMoments(a.From, b.From), compareMoments(b.To, a.To))
	})
	// Both variables hold indexes of blocks that begin no later than the current block. The
	// variable `everybody` is the index of the block of the whole business that ends last. The
	// map `of` holds, for each staff member, the index of the member's block that ends last.
	everybody, of := -1, map[Key]int{}
	covers := func(other int, b *Block) bool { return other >= 0 && compareMoments(m.Blocks[other].To, b.To) >= 0 }
	coveredBy := func(b *Block) int {
		if covers(everybody, b) {
			return everybody
		}
		by := -1
		for _, key := range b.Staff {
			other, known := of[key]
			if !known || !covers(other, b) {
				return -1
			}
			by = other
		}
		return by
	}
	for _, i := range order {
		b := &m.Blocks[i]
		if by := coveredBy(b); by >= 0 {
			other := &m.Blocks[by]
			w.warn(at.item(i), "lies within blocks[%d], from %s to %s, which blocks the same; remove it", by,
				other.From, other.To)
			continue
		}
		if len(b.Staff) == 0 {
			everybody = i // this block ends after the previous one
		}
		for _, key := range b.Staff {
			if other, known := of[key]; !known || compareMoments(m.Blocks[other].To, b.To) < 0 {
				of[key] = i
			}
		}
	}
}
