package booking_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

func encode(t testing.TB, o booking.Occupied) []byte {
	t.Helper()
	b, err := o.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func anyID(t *rapid.T) uuid.UUID {
	return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
}

// drawOccupied returns occupied time with random values of each type: the instants may lie anywhere and in any order.
func drawOccupied(t *rapid.T) booking.Occupied {
	o := booking.Occupied{Busy: []booking.Busy{}}
	for range rapid.IntRange(0, 8).Draw(t, "resources") {
		b := booking.Busy{
			Resource: booking.Resource{ID: anyID(t), CapacityUnit: rapid.IntRange(0, 1<<31-1).Draw(t, "capacity unit")},
			Class:    rapid.Bool().Draw(t, "class"),
			Edges:    []int64{},
		}
		for range rapid.IntRange(0, 6).Draw(t, "spans") {
			b.Edges = append(b.Edges, rapid.Int64().Draw(t, "start"), rapid.Int64().Draw(t, "end"))
		}
		if rapid.Bool().Draw(t, "located") {
			drawLocation(t, &b)
		}
		o.Busy = append(o.Busy, b)
	}
	for range rapid.IntRange(0, 4).Draw(t, "sessions") {
		o.Seats = append(o.Seats, booking.SeatsTaken{
			SessionID: anyID(t), StartsAt: rapid.Int64().Draw(t, "starts at"),
			Taken: rapid.IntRange(0, 1<<31-1).Draw(t, "taken"),
		})
	}
	return o
}

// drawLocation adds a location to the resource and, in some cases, spans with the time of the services.
func drawLocation(t *rapid.T, b *booking.Busy) {
	b.LocationID, b.ChangeMinutes = anyID(t), rapid.IntRange(0, 1<<31-1).Draw(t, "change")
	if !rapid.Bool().Draw(t, "served") {
		return
	}
	b.Served = []int64{}
	for i := 0; i < len(b.Edges); i += 2 {
		from := rapid.Int64Range(-1<<40, 1<<40).Draw(t, "services from")
		to := from + rapid.Int64Range(0, 1<<20).Draw(t, "services take")
		b.Served = append(b.Served, from, to)
		b.Edges[i] = from - rapid.Int64Range(0, 1<<20).Draw(t, "buffer before")
		b.Edges[i+1] = to + rapid.Int64Range(0, 1<<20).Draw(t, "buffer after")
	}
}

func TestOccupiedBinaryRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawOccupied(t)
		b, err := want.AppendBinary([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		after, ok := bytes.CutPrefix(b, []byte("before"))
		if !ok {
			t.Fatal("what stood before it is gone")
		}
		var got booking.Occupied
		if err := got.UnmarshalBinary(after); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestUnmarshalRejectsTruncatedOrExtendedBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, err := drawOccupied(t).AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		kept := booking.Occupied{Seats: []booking.SeatsTaken{{Taken: 1}}}
		got := kept
		if cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut"); got.UnmarshalBinary(b[:cut]) == nil {
			t.Errorf("%d of %d bytes are taken for the whole", cut, len(b))
		}
		if got.UnmarshalBinary(append(b, 0)) == nil {
			t.Error("a byte too many is not noticed")
		}
		if diff := cmp.Diff(kept, got); diff != "" {
			t.Errorf("a refused form leaves something behind:\n%s", diff)
		}
	})
}

func TestUnmarshalExplainsInvalidBytes(t *testing.T) {
	t.Parallel()
	id := make([]byte, 16)
	form := func(parts ...any) []byte {
		b := []byte{}
		for _, p := range parts {
			switch p := p.(type) {
			case int:
				b = binary.AppendUvarint(b, uint64(p))
			case []byte:
				b = append(b, p...)
			}
		}
		return b
	}
	endless := bytes.Repeat([]byte{0xff}, 11)
	for name, c := range map[string]struct {
		form []byte
		want string
	}{
		"nothing":               {nil, "ends too early"},
		"JSON":                  {[]byte(`{"busy":[]}`), "version 123 is unknown"},
		"another version":       {form(3, 0, 0, 0), "version 3 is unknown"},
		"an absurd change":      {form(2, 1, 0, id, 0, id, 1<<40, 0, 0), "minutes of change: at most 2147483647"},
		"absurd buffers":        {form(2, 1, 1, id, 0, id, 1, 1, 0, 0, 1<<40, 0, 0), "at most 2147483647 are possible"},
		"no location":           {form(2, 1, 0, id, 0, 0), "claims 1 resources"},
		"resources made up":     {form(1, 1<<40, 0, 0), "claims 1099511627776 resources"},
		"spans made up":         {form(1, 0, 1<<40, 0), "claims 1099511627776 spans"},
		"sessions made up":      {form(1, 0, 0, 1<<40), "claims 1099511627776 sessions"},
		"spans left over":       {form(1, 0, 1, 0, 0, 0), "2 edges of spans are left over"},
		"more spans than all":   {form(1, 1, 1, id, 0, 2, 0, 0, 0, 0, 0), "more spans than are left"},
		"an endless number":     {form(1, endless), "more than 64 bits"},
		"a large capacity unit": {form(1, 1, 0, id, 1<<40, 0, 0), "at most 2147483647 is possible"},
		"absurd seats":          {form(1, 0, 0, 1, id, 0, 1<<40), "at most 2147483647 are possible"},
		"an endless instant":    {form(1, 0, 0, 1, id, endless, 0), "more than 64 bits"},
	} {
		var got booking.Occupied
		if err := got.UnmarshalBinary(c.form); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want …%s…", name, err, c.want)
		}
	}
}

func TestMarshalRejectsNegativeNumbers(t *testing.T) {
	t.Parallel()
	for _, o := range []booking.Occupied{
		{Busy: []booking.Busy{{Resource: booking.Resource{CapacityUnit: -1}}}},
		{Seats: []booking.SeatsTaken{{Taken: -1}}},
		{Busy: []booking.Busy{{ChangeMinutes: -1}}},
		{Busy: []booking.Busy{{Edges: []int64{0, 9}, Served: []int64{}}}},
		{Busy: []booking.Busy{{Edges: []int64{5, 9}, Served: []int64{4, 9}}}},
		{Busy: []booking.Busy{{Edges: []int64{5, 9}, Served: []int64{5, 10}}}},
	} {
		if b, err := o.AppendBinary(nil); err == nil {
			t.Errorf("%+v becomes %x", o, b)
		}
	}
}

func FuzzOccupiedUnmarshalBinary(f *testing.F) {
	f.Add(encode(f, booking.Occupied{}))
	f.Add(encode(f, calendar(2, 3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var once, twice booking.Occupied
		if once.UnmarshalBinary(data) != nil {
			return
		}
		if err := twice.UnmarshalBinary(encode(t, once)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Errorf("read again it is another:\n%s", diff)
		}
	})
}

// calendar returns the occupied time of the given number of members. Each member has `each` bookings of half an hour.
func calendar(members, each int) booking.Occupied {
	var o booking.Occupied
	for m := range members {
		b := booking.Busy{Resource: booking.Resource{ID: uuid.UUID{byte(m)}}}
		for i := range each {
			start := 1803862800 + int64(i)*7200
			b.Edges = append(b.Edges, start, start+1800)
		}
		o.Busy = append(o.Busy, b)
	}
	return o
}

// BenchmarkOccupied encodes and decodes 62 days of 10 members with 2,000 bookings, in binary form and in JSON.
func BenchmarkOccupied(b *testing.B) {
	o := calendar(10, 200)
	asBytes := encode(b, o)
	asJSON, err := json.Marshal(o)
	if err != nil {
		b.Fatal(err)
	}
	run := func(name string, size int, do func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
	room := make([]byte, 0, 2*len(asBytes))
	run("encode", len(asBytes), func() error { _, err := o.AppendBinary(room); return err })
	run("encode-json", len(asJSON), func() error { _, err := json.Marshal(o); return err })
	var into booking.Occupied
	run("decode", len(asBytes), func() error { return into.UnmarshalBinary(asBytes) })
	run("decode-json", len(asJSON), func() error { return json.Unmarshal(asJSON, &into) })
}
