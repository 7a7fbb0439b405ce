package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// A calendar of two months needs thousands of instants. This file decodes the instants from PostgreSQL's
// binary row format. To scan each instant into a time.Time would take more time than the query.

// inBinary requests every column of a query result in PostgreSQL's
// binary format. The functions in this file decode only this format.
var inBinary = pgx.QueryResultFormats{pgx.BinaryFormatCode}

var errNotBinary = errors.New("the database sends occupied time in text; leave " +
	"default_query_exec_mode=simple_protocol out of DATABASE_URL")

// The sizes of values in the binary format, in bytes.
const (
	uuidSize    = 16
	integerSize = 4
	boolSize    = 1
	instantSize = 8               // microseconds since 2000
	arrayHead   = 5 * integerSize // dimensions, flags, type of the elements, length, lower bound
	elementSize = integerSize + instantSize
)

// collectBusy decodes the rows of singleSQL or groupedSQL. It returns
// the resources and the spans of each resource in ascending order.
func collectBusy(rows pgx.Rows) ([]booking.Busy, error) {
	defer rows.Close()
	all := collectors.Get().(*collector)
	defer all.release()
	for rows.Next() {
		if err := all.add(rows.RawValues()); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return all.sort(), nil
}

// resourceKey is the key by which spans are grouped: a resource, and whether a class occupies it.
type resourceKey struct {
	booking.Resource
	isClass bool
}

// collectors is a pool of collectors, so that each decoding reuses the memory
// of an earlier one. The results of decoding do not refer to this memory.
var collectors = sync.Pool{New: func() any { return &collector{index: make(map[resourceKey]int32)} }}

// collector collects decoded spans and groups them by [resourceKey].
type collector struct {
	keys  []resourceKey
	count []int                 // for each element of `keys`: the number of spans
	index map[resourceKey]int32 // for each element of `keys`: its index in `keys`
	spans []indexedSpan
	parts []timespan.Span // the spans, grouped by key
}

// maxKeptSpans is the maximum number of spans for which the pool keeps memory.
// A collector with more spans, which is rare, is left to the garbage collector.
const maxKeptSpans = 1 << 16

// release returns the collector to the pool, unless the collector has memory for
// more than maxKeptSpans spans. It reports whether the pool keeps the collector.
func (g *collector) release() bool {
	if cap(g.spans) > maxKeptSpans || cap(g.parts) > maxKeptSpans {
		return false
	}
	clear(g.index)
	g.keys, g.count, g.spans = g.keys[:0], g.count[:0], g.spans[:0]
	collectors.Put(g)
	return true
}

type indexedSpan struct {
	timespan.Span
	key int32
}

// add decodes a row: resource, capacity unit, class, starts and ends. Starts and
// ends are one instant each, or arrays of the same length. Errors: errNotBinary.
func (g *collector) add(row [][]byte) error {
	if len(row[0]) != uuidSize || len(row[1]) != integerSize || len(row[2]) != boolSize {
		return errNotBinary
	}
	h := resourceKey{isClass: row[2][0] != 0}
	h.CapacityUnit = int(int32(binary.BigEndian.Uint32(row[1])))
	copy(h.ID[:], row[0])
	of, isKnown := g.index[h]
	if !isKnown {
		of = int32(len(g.keys))
		g.index[h] = of
		g.keys, g.count = append(g.keys, h), append(g.count, 0)
	}
	before := len(g.spans)
	err := g.addSpans(of, row[3], row[4])
	g.count[of] += len(g.spans) - before
	return err
}

func (g *collector) addSpans(key int32, starts, ends []byte) error {
	if len(starts) != len(ends) {
		return errNotBinary
	}
	if len(starts) == instantSize {
		g.addSpan(key, starts, ends)
		return nil
	}
	if len(starts) < arrayHead || (len(starts)-arrayHead)%elementSize != 0 {
		return errNotBinary
	}
	g.spans = slices.Grow(g.spans, (len(starts)-arrayHead)/elementSize)
	for at := arrayHead + integerSize; at < len(starts); at += elementSize {
		g.addSpan(key, starts[at:], ends[at:])
	}
	return nil
}

func (g *collector) addSpan(key int32, start, end []byte) {
	g.spans = append(g.spans, indexedSpan{timespan.Span{Start: toUnixSeconds(start), End: toUnixSeconds(end)}, key})
}

// toUnixSeconds converts an instant into Unix seconds, rounded down.
// PostgreSQL sends an instant as the number of microseconds since 2000.
func toUnixSeconds(instant []byte) int64 {
	const second, epoch = 1_000_000, 946_684_800
	micros := int64(binary.BigEndian.Uint64(instant))
	s := micros / second
	if micros%second < 0 {
		s--
	}
	return s + epoch
}

// sort returns the resources and the spans of each resource in ascending order,
// without duplicate spans. The Edges of all resources are slices of one array.
func (g *collector) sort() []booking.Busy {
	busy, edges := make([]booking.Busy, len(g.keys)), make([]int64, 0, 2*len(g.spans))
	for i, spans := range g.split() {
		slices.SortFunc(spans, compareSpans)
		from := len(edges)
		for j, s := range spans {
			if j == 0 || s != spans[j-1] { // the guests of one session occupy the same time
				edges = append(edges, s.Start, s.End)
			}
		}
		busy[i] = booking.Busy{Resource: g.keys[i].Resource, Class: g.keys[i].isClass,
			Edges: edges[from:len(edges):len(edges)]}
	}
	slices.SortFunc(busy, func(a, b booking.Busy) int {
		return cmp.Or(slices.Compare(a.ID[:], b.ID[:]), cmp.Compare(a.CapacityUnit, b.CapacityUnit),
			compareBool(a.Class, b.Class))
	})
	return busy
}

// split returns one slice of spans for each element of `keys`.
func (g *collector) split() [][]timespan.Span {
	g.parts = slices.Grow(g.parts[:0], len(g.spans))
	parts, from := make([][]timespan.Span, len(g.keys)), 0
	for i, n := range g.count {
		parts[i], from = g.parts[from:from:from+n], from+n
	}
	for i := range g.spans {
		s := &g.spans[i]
		parts[s.key] = append(parts[s.key], s.Span)
	}
	return parts
}

func compareSpans(a, b timespan.Span) int {
	if a.Start != b.Start {
		return cmp.Compare(a.Start, b.Start)
	}
	return cmp.Compare(a.End, b.End)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
