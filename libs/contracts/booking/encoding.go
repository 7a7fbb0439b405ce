package booking

import (
	"encoding"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"
)

// OccupiedType is the media type of the binary form of [Occupied].
const OccupiedType = "application/vnd.slotmesh.occupied"

// The versions of the binary form, which are its first byte. A reader rejects unknown versions.
const (
	occupiedVersion = 1
	locatedVersion  = 2 // with the locations of bookings; written only if at least one resource has them
)

// The minimal sizes of entries in the binary form, in bytes. A reader rejects a
// number of entries if the rest of the data is too short for so many entries of
// this size. Therefore the reader allocates memory only in proportion to the data.
const (
	idBytes    = 16
	leastBusy  = idBytes + 2
	leastPlace = idBytes + 1 // additional bytes of a resource in locatedVersion
	leastSpan  = 2
	leastSeats = idBytes + 2
)

var (
	_ encoding.TextMarshaler   = Occupied{}
	_ encoding.TextUnmarshaler = (*Occupied)(nil)
)

// AppendBinary appends the binary form of `o` to `b`. This form is a
// quarter of the size of JSON and contains no decimal numbers to parse:
//
//	byte      the version: 1, or 2 if a resource has LocationID, ChangeMinutes or Served
//	uvarint   number of resources
//	uvarint   number of spans of all of them
//	for each resource:
//	  16 bytes  id
//	  uvarint   2 × capacity unit, + 1 if the time is shared by guests of classes
//	  in version 2 only: 16 bytes id of the location, uvarint 2 × minutes of change, + 1 if Served is set
//	  uvarint   number of spans
//	  for each span: varint start - end of the span before it (0 before the first), varint end - start, in seconds
//	    if Served is set: uvarint seconds before the services, uvarint seconds after them
//	uvarint   number of sessions with seats taken
//	for each session: 16 bytes id, varint start in seconds since the epoch, uvarint seats taken
//
// Varints are those of encoding/binary. AppendBinary returns an error if a capacity unit, a number of
// seats or a number of minutes is negative. It also returns one if Served does not have one span
// within each span of Edges.
func (o Occupied) AppendBinary(b []byte) ([]byte, error) {
	spans, version := 0, byte(occupiedVersion)
	for i := range o.Busy {
		spans += len(o.Busy[i].Edges) / 2
		if o.Busy[i].isLocated() {
			version = locatedVersion
		}
	}
	const usual = 5 // typical size of a span, in bytes
	b = slices.Grow(b, 16+(leastBusy+2)*len(o.Busy)+usual*spans+(leastSeats+4)*len(o.Seats))
	b = append(b, version)
	b = binary.AppendUvarint(b, uint64(len(o.Busy)))
	b = binary.AppendUvarint(b, uint64(spans))
	for i := range o.Busy {
		if o.Busy[i].CapacityUnit < 0 {
			return nil, fmt.Errorf("capacity unit %d of %s: capacity units are counted from 0", o.Busy[i].CapacityUnit,
				o.Busy[i].ID)
		}
		if err := o.Busy[i].checkPlace(); err != nil {
			return nil, err
		}
		b = appendBusy(b, &o.Busy[i], version)
	}
	b = binary.AppendUvarint(b, uint64(len(o.Seats)))
	for i := range o.Seats {
		s := &o.Seats[i]
		if s.Taken < 0 {
			return nil, fmt.Errorf("%d seats taken of %s: the number cannot be negative", s.Taken, s.SessionID)
		}
		b = binary.AppendVarint(append(b, s.SessionID[:]...), s.StartsAt)
		b = binary.AppendUvarint(b, uint64(s.Taken))
	}
	return b, nil
}

// isLocated reports whether the binary form of the resource needs locatedVersion.
func (b *Busy) isLocated() bool {
	return b.LocationID != uuid.Nil || b.ChangeMinutes != 0 || b.Served != nil
}

// checkPlace returns an error if ChangeMinutes or Served cannot be encoded.
func (b *Busy) checkPlace() error {
	if b.ChangeMinutes < 0 {
		return fmt.Errorf("%d minutes of change of %s: the number cannot be negative", b.ChangeMinutes, b.ID)
	}
	if b.Served == nil {
		return nil
	}
	if len(b.Served) != len(b.Edges)&^1 {
		return fmt.Errorf("time of services of %s: it has %d edges, not %d", b.ID, len(b.Served), len(b.Edges)&^1)
	}
	for i := 0; i < len(b.Served); i += 2 {
		before, after := b.Served[i]-b.Edges[i], b.Edges[i+1]-b.Served[i+1]
		if min(before, after) < 0 || max(before, after) > math.MaxInt32 {
			return fmt.Errorf("time of services of %s: span %d is not within the occupied time", b.ID, i/2)
		}
	}
	return nil
}

func appendBusy(b []byte, busy *Busy, version byte) []byte {
	unit := uint64(busy.CapacityUnit) << 1
	if busy.Class {
		unit |= 1
	}
	b = binary.AppendUvarint(append(b, busy.ID[:]...), unit)
	if version == locatedVersion {
		change := uint64(busy.ChangeMinutes) << 1
		if busy.Served != nil {
			change |= 1
		}
		b = binary.AppendUvarint(append(b, busy.LocationID[:]...), change)
	}
	b = binary.AppendUvarint(b, uint64(len(busy.Edges)/2))
	last := int64(0)
	for i := 0; i+1 < len(busy.Edges); i += 2 {
		from, to := busy.Edges[i], busy.Edges[i+1]
		b = binary.AppendVarint(binary.AppendVarint(b, from-last), to-from)
		if busy.Served != nil {
			b = binary.AppendUvarint(b, uint64(busy.Served[i]-from))
			b = binary.AppendUvarint(b, uint64(to-busy.Served[i+1]))
		}
		last = to
	}
	return b
}

// UnmarshalBinary decodes the argument `data`, which has the form of [Occupied.AppendBinary]. It
// returns an error if bytes follow the end of this form. It allocates memory in proportion to the size
// of `data`, even if `data` contains large invalid counts. The Edges of all resources share one array.
func (o *Occupied) UnmarshalBinary(data []byte) error {
	r := reader{rest: data}
	version := r.byte()
	if r.err == nil && version != occupiedVersion && version != locatedVersion {
		return fmt.Errorf("occupied time: version %d is unknown; this reader knows %d and %d", version,
			occupiedVersion, locatedVersion)
	}
	least := leastBusy
	if version == locatedVersion {
		least += leastPlace
	}
	resources := r.count("resources", least)
	edges := make([]int64, 0, 2*r.count("spans", leastSpan))
	read := Occupied{Busy: make([]Busy, resources)}
	for i := range read.Busy {
		edges = r.readBusy(&read.Busy[i], edges, version == locatedVersion)
	}
	if r.err == nil && len(edges) != cap(edges) {
		r.fail("%d edges of spans are left over", cap(edges)-len(edges))
	}
	if seats := r.count("sessions", leastSeats); seats > 0 {
		read.Seats = make([]SeatsTaken, seats)
	}
	for i := range read.Seats {
		r.id(read.Seats[i].SessionID[:])
		read.Seats[i].StartsAt = r.varint()
		read.Seats[i].Taken = r.number("seats taken")
	}
	if r.err == nil && len(r.rest) > 0 {
		r.fail("%d bytes follow its end", len(r.rest))
	}
	if r.err != nil {
		return fmt.Errorf("occupied time: %w", r.err)
	}
	*o = read
	return nil
}

// MarshalText returns the binary form of `o` in base64.
func (o Occupied) MarshalText() ([]byte, error) {
	b, err := o.AppendBinary(nil)
	return base64.StdEncoding.AppendEncode(nil, b), err
}

// UnmarshalText decodes the text of [Occupied.MarshalText].
func (o *Occupied) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("occupied time: %w", err)
	}
	return o.UnmarshalBinary(b)
}

// reader reads values from the beginning of the field `rest`. After the first
// failure, the field `err` is set, and all further reads return zero values.
type reader struct {
	rest []byte
	err  error
}

var errCutOff = errors.New("it ends too early")

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.rest = nil
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.fail("%w", errCutOff)
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) id(dst []byte) {
	if len(r.rest) < idBytes {
		r.fail("%w", errCutOff)
		return
	}
	r.rest = r.rest[copy(dst, r.rest[:idBytes]):]
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.badVarint(n)
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.badVarint(n)
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) badVarint(n int) {
	if n == 0 {
		r.fail("%w", errCutOff)
		return
	}
	r.fail("a number has more than 64 bits")
}

// number reads a number of at most 31 bits, such as a capacity unit or a number
// of seats. The argument `of` is the noun for the number in an error.
func (r *reader) number(of string) int {
	v := r.uvarint()
	if v > math.MaxInt32 {
		r.fail("%d %s: at most %d are possible", v, of, math.MaxInt32)
		return 0
	}
	return int(v)
}

// count reads the number of entries that follow. The argument `minimum` is the minimal
// size of an entry, in bytes. If the rest of the data is too short for so many
// entries, the read fails. The argument `of` is the noun for the entries in an error.
func (r *reader) count(of string, minimum int) int {
	v := r.uvarint()
	if v > uint64(len(r.rest)/minimum) {
		r.fail("it claims %d %s and has %d bytes left", v, of, len(r.rest))
		return 0
	}
	return int(v)
}

// readBusy reads one resource into the argument `b` and appends the edges of
// the resource's spans to the list `all`. It returns the extended list. The argument
// `isLocated` reports that the resource has the fields of locatedVersion.
func (r *reader) readBusy(b *Busy, all []int64, isLocated bool) []int64 {
	r.id(b.ID[:])
	unit := r.uvarint()
	if unit>>1 > math.MaxInt32 {
		r.fail("capacity unit %d: at most %d is possible", unit>>1, math.MaxInt32)
	}
	b.CapacityUnit, b.Class = int(unit>>1), unit&1 == 1
	hasServed := isLocated && r.place(b)
	edges := 2 * r.count("spans", leastSpan)
	if edges > cap(all)-len(all) {
		r.fail("a resource has more spans than are left of all")
	}
	if r.err != nil {
		return all
	}
	if hasServed {
		return r.servedSpans(b, all, edges)
	}
	from, last, rest := len(all), int64(0), r.rest
	for range edges {
		step, n := binary.Varint(rest)
		if n <= 0 {
			r.badVarint(n)
			return all
		}
		last, rest = last+step, rest[n:]
		all = append(all, last)
	}
	r.rest = rest
	b.Edges = all[from:len(all):len(all)]
	return all
}

// place reads the location and the minutes of change of a resource. It reports whether the field Served follows.
func (r *reader) place(b *Busy) bool {
	r.id(b.LocationID[:])
	change := r.uvarint()
	if change>>1 > math.MaxInt32 {
		r.fail("%d minutes of change: at most %d are possible", change>>1, math.MaxInt32)
		return false
	}
	b.ChangeMinutes = int(change >> 1)
	return change&1 == 1
}

// servedSpans reads the spans of a resource together with the time of the services in each
// span. It appends the spans to the list `all` and returns the extended list.
func (r *reader) servedSpans(b *Busy, all []int64, edges int) []int64 {
	from, last := len(all), int64(0)
	b.Served = make([]int64, 0, edges)
	for range edges / 2 {
		start := last + r.varint()
		last = start + r.varint()
		before, after := r.number("seconds before services"), r.number("seconds after services")
		if r.err != nil {
			return all
		}
		all = append(all, start, last)
		b.Served = append(b.Served, start+int64(before), last-int64(after))
	}
	b.Edges = all[from:len(all):len(all)]
	return all
}
