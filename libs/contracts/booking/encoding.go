package booking

import (
	"encoding"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// OccupiedType is the media type of the binary form of [Occupied].
const OccupiedType = "application/vnd.slotmesh.occupied"

// occupiedVersion is the version of the binary form, which is its first byte. A reader rejects unknown versions.
const occupiedVersion = 1

// The minimal sizes of entries in the binary form, in bytes. A reader rejects a
// number of entries if the rest of the data is too short for so many entries of
// this size. Therefore the reader allocates memory only in proportion to the data.
const (
	idBytes    = 16
	leastBusy  = idBytes + 2
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
//	byte      1, the version
//	uvarint   number of resources
//	uvarint   number of spans of all of them
//	for each resource:
//	  16 bytes  id
//	  uvarint   2 × capacity unit, + 1 if the time is shared by guests of classes
//	  uvarint   number of spans
//	  for each span: varint start - end of the span before it (0 before the first), varint end - start, in seconds
//	uvarint   number of sessions with seats taken
//	for each session: 16 bytes id, varint start in seconds since the epoch, uvarint seats taken
//
// Varints are those of encoding/binary. AppendBinary returns an error if a capacity unit or a number of seats is
// negative.
func (o Occupied) AppendBinary(b []byte) ([]byte, error) {
	spans := 0
	for i := range o.Busy {
		spans += len(o.Busy[i].Edges) / 2
	}
	const usual = 5 // typical size of a span, in bytes
	b = slices.Grow(b, 16+(leastBusy+2)*len(o.Busy)+usual*spans+(leastSeats+4)*len(o.Seats))
	b = append(b, occupiedVersion)
	b = binary.AppendUvarint(b, uint64(len(o.Busy)))
	b = binary.AppendUvarint(b, uint64(spans))
	for i := range o.Busy {
		if o.Busy[i].CapacityUnit < 0 {
			return nil, fmt.Errorf("capacity unit %d of %s: capacity units are counted from 0", o.Busy[i].CapacityUnit,
				o.Busy[i].ID)
		}
		b = appendBusy(b, &o.Busy[i])
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

func appendBusy(b []byte, busy *Busy) []byte {
	unit := uint64(busy.CapacityUnit) << 1
	if busy.Class {
		unit |= 1
	}
	b = binary.AppendUvarint(append(b, busy.ID[:]...), unit)
	b = binary.AppendUvarint(b, uint64(len(busy.Edges)/2))
	last := int64(0)
	for _, edge := range busy.Edges[:len(busy.Edges)&^1] {
		b = binary.AppendVarint(b, edge-last)
		last = edge
	}
	return b
}

// UnmarshalBinary decodes the argument `data`, which has the form of [Occupied.AppendBinary]. It
// returns an error if bytes follow the end of this form. It allocates memory in proportion to the size
// of `data`, even if `data` contains large invalid counts. The Edges of all resources share one array.
func (o *Occupied) UnmarshalBinary(data []byte) error {
	r := reader{rest: data}
	if v := r.byte(); r.err == nil && v != occupiedVersion {
		return fmt.Errorf("occupied time: version %d is unknown; this reader knows %d", v, occupiedVersion)
	}
	resources := r.count("resources", leastBusy)
	edges := make([]int64, 0, 2*r.count("spans", leastSpan))
	read := Occupied{Busy: make([]Busy, resources)}
	for i := range read.Busy {
		edges = r.readBusy(&read.Busy[i], edges)
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
// the resource's spans to the list `all`. It returns the extended list.
func (r *reader) readBusy(b *Busy, all []int64) []int64 {
	r.id(b.ID[:])
	unit := r.uvarint()
	if unit>>1 > math.MaxInt32 {
		r.fail("capacity unit %d: at most %d is possible", unit>>1, math.MaxInt32)
	}
	b.CapacityUnit, b.Class = int(unit>>1), unit&1 == 1
	edges := 2 * r.count("spans", leastSpan)
	if edges > cap(all)-len(all) {
		r.fail("a resource has more spans than are left of all")
	}
	if r.err != nil {
		return all
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
