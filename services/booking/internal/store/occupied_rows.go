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

// A calendar of two months reads thousands of instants. This file decodes them from PostgreSQL's
// binary row format. Scanning each instant into a time.Time would cost more than the query.

// inBinary requests every column in PostgreSQL's binary format. The functions below decode no other format.
var inBinary = pgx.QueryResultFormats{pgx.BinaryFormatCode}

var errNotBinary = errors.New("the database sends occupied time in text; leave " +
	"default_query_exec_mode=simple_protocol out of DATABASE_URL")

// Sizes, in bytes, in the binary format of the columns.
const (
	uuidSize    = 16
	integerSize = 4
	boolSize    = 1
	instantSize = 8               // microseconds since 2000
	arrayHead   = 5 * integerSize // dimensions, flags, type of elements, length, lower bound
	elementSize = integerSize + instantSize
)

// collectBusy returns the resources in order, each with its spans in order. It reads the rows of
// eachSQL or gatheredSQL.
func collectBusy(rows pgx.Rows) ([]booking.Busy, error) {
	defer rows.Close()
	all := gatherings.Get().(*gathering)
	defer all.free()
	for rows.Next() {
		if err := all.add(rows.RawValues()); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return all.inOrder(), nil
}

// holding is the key by which spans are grouped: the resource of a row, and whether a class occupies it.
type holding struct {
	booking.Resource
	class bool
}

// gatherings pools the memory that decoding uses. Results do not refer to this memory.
var gatherings = sync.Pool{New: func() any { return &gathering{at: make(map[holding]int32)} }}

// gathering collects the decoded rows, grouped by resource.
type gathering struct {
	of    []holding
	count []int             // number of spans of each holding
	at    map[holding]int32 // index in of
	spans []heldSpan
	parts []timespan.Span // buffer for the spans in order of their holding
}

// maxKeptSpans is the largest number of spans for which the pool
// keeps the memory. The memory of a rare larger result is released.
const maxKeptSpans = 1 << 16

// free returns the memory to the pool, unless it holds more than
// maxKeptSpans spans. It reports whether the pool keeps the memory.
func (g *gathering) free() bool {
	if cap(g.spans) > maxKeptSpans || cap(g.parts) > maxKeptSpans {
		return false
	}
	clear(g.at)
	g.of, g.count, g.spans = g.of[:0], g.count[:0], g.spans[:0]
	gatherings.Put(g)
	return true
}

type heldSpan struct {
	timespan.Span
	of int32
}

// add decodes a row: resource, lane, class, starts and ends. Starts and ends are either one
// instant each or arrays of the same length. Error: errNotBinary.
func (g *gathering) add(row [][]byte) error {
	if len(row[0]) != uuidSize || len(row[1]) != integerSize || len(row[2]) != boolSize {
		return errNotBinary
	}
	h := holding{class: row[2][0] != 0}
	h.Lane = int(int32(binary.BigEndian.Uint32(row[1])))
	copy(h.ID[:], row[0])
	of, known := g.at[h]
	if !known {
		of = int32(len(g.of))
		g.at[h] = of
		g.of, g.count = append(g.of, h), append(g.count, 0)
	}
	before := len(g.spans)
	err := g.addSpans(of, row[3], row[4])
	g.count[of] += len(g.spans) - before
	return err
}

func (g *gathering) addSpans(of int32, starts, ends []byte) error {
	if len(starts) != len(ends) {
		return errNotBinary
	}
	if len(starts) == instantSize {
		g.addSpan(of, starts, ends)
		return nil
	}
	if len(starts) < arrayHead || (len(starts)-arrayHead)%elementSize != 0 {
		return errNotBinary
	}
	g.spans = slices.Grow(g.spans, (len(starts)-arrayHead)/elementSize)
	for at := arrayHead + integerSize; at < len(starts); at += elementSize {
		g.addSpan(of, starts[at:], ends[at:])
	}
	return nil
}

func (g *gathering) addSpan(of int32, start, end []byte) {
	g.spans = append(g.spans, heldSpan{timespan.Span{Start: seconds(start), End: seconds(end)}, of})
}

// seconds returns the Unix seconds of an instant, rounded down. PostgreSQL sends an instant as microseconds since 2000.
func seconds(instant []byte) int64 {
	const second, epoch = 1_000_000, 946_684_800
	micros := int64(binary.BigEndian.Uint64(instant))
	s := micros / second
	if micros%second < 0 {
		s--
	}
	return s + epoch
}

// inOrder returns the resources and their spans in order, without
// duplicate spans. The slices of all Edges share one array.
func (g *gathering) inOrder() []booking.Busy {
	busy, edges := make([]booking.Busy, len(g.of)), make([]int64, 0, 2*len(g.spans))
	for i, spans := range g.apart() {
		slices.SortFunc(spans, bySpan)
		from := len(edges)
		for j, s := range spans {
			if j == 0 || s != spans[j-1] { // guests of one session occupy the same time
				edges = append(edges, s.Start, s.End)
			}
		}
		busy[i] = booking.Busy{Resource: g.of[i].Resource, Class: g.of[i].class,
			Edges: edges[from:len(edges):len(edges)]}
	}
	slices.SortFunc(busy, func(a, b booking.Busy) int {
		return cmp.Or(slices.Compare(a.ID[:], b.ID[:]), cmp.Compare(a.Lane, b.Lane), compareBool(a.Class, b.Class))
	})
	return busy
}

// apart returns the spans of each holding in a slice of its own.
func (g *gathering) apart() [][]timespan.Span {
	g.parts = slices.Grow(g.parts[:0], len(g.spans))
	parts, from := make([][]timespan.Span, len(g.of)), 0
	for i, n := range g.count {
		parts[i], from = g.parts[from:from:from+n], from+n
	}
	for i := range g.spans {
		s := &g.spans[i]
		parts[s.of] = append(parts[s.of], s.Span)
	}
	return parts
}

func bySpan(a, b timespan.Span) int {
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
