package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// anySlots are of a class or of a service, with members and without.
func anySlots(t *rapid.T, most int) *availability.Slots {
	odd := rapid.StringOf(rapid.SampledFrom([]rune("aZ09 <>&\"\\\n\x00\u007fé長🙂\u2028")))
	id := rapid.Custom(func(t *rapid.T) uuid.UUID { return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")) })
	s := &availability.Slots{
		Computed: rapid.Bool().Draw(t, "computed"), Timezone: odd.Draw(t, "zone"),
		Date: timespan.Date(rapid.IntRange(20_000, 22_000).Draw(t, "date")),
	}
	for range rapid.IntRange(0, 3).Draw(t, "staff") {
		s.Staff = append(s.Staff, availability.Member{ID: id.Draw(t, "member"), Name: odd.Draw(t, "name") + strings.Repeat("x", rapid.IntRange(0, 300).Draw(t, "long"))})
	}
	class := rapid.Bool().Draw(t, "class")
	if class {
		s.Sessions = rapid.SliceOfN(id, 1, 3).Draw(t, "sessions")
	}
	for range rapid.IntRange(0, most).Draw(t, "slots") {
		s.Starts = append(s.Starts, rapid.Int32Range(0, 2*timespan.MinutesPerDay-1).Draw(t, "start"))
		s.Ends = append(s.Ends, rapid.Int32Range(0, timespan.MinutesPerDay).Draw(t, "end"))
		s.Members = append(s.Members, rapid.Int32Range(-1, int32(len(s.Staff))-1).Draw(t, "by"))
		if class {
			s.SessionOf = append(s.SessionOf, rapid.Int32Range(0, int32(len(s.Sessions))-1).Draw(t, "session"))
			s.Remaining = append(s.Remaining, rapid.Int32Range(1, 100).Draw(t, "left"))
		}
	}
	return s
}

// A calendar is put together by hand; it must be what the standard library makes of one.
func TestACalendarIsWrittenAsItsSchemaSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anySlots(t, 5)
		l := show(s)
		want := calendar{Timezone: s.Timezone, Computed: s.Computed, Slots: []slot{}, Days: []day{}, Total: len(s.Starts)}
		for i := range s.Starts {
			want.Slots = append(want.Slots, l.at(i))
		}
		encoded, err := json.Marshal(want)
		if got, next := l.calendar(0); err != nil || string(got) != string(encoded) || next != nil {
			t.Fatalf("%v, next %v\ngot  %s\nwant %s", err, next, got, encoded)
		}
	})
}

func TestASlotNamesItsDateItsTimesAndItsMember(t *testing.T) {
	t.Parallel()
	anna, session := uuid.MustParse("8d1f5a44-7d1c-5b0e-8a10-1f6f2f0b9c22"), uuid.MustParse("3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10")
	date, err := timespan.ParseDate("2027-02-28")
	if err != nil {
		t.Fatal(err)
	}
	l := show(&availability.Slots{
		Computed: true, Timezone: "Europe/Lisbon", Date: date, Staff: []availability.Member{{ID: anna, Name: "Anna"}}, Sessions: []uuid.UUID{session},
		Starts: []int32{9 * 60, 24*60 + 15}, Ends: []int32{24 * 60, 75}, Members: []int32{0, -1}, SessionOf: []int32{0, 0}, Remaining: []int32{3, 1},
	})
	got, _ := l.calendar(0)
	const want = `{"timezone":"Europe/Lisbon","computed":true,"slots":[` +
		`{"date":"2027-02-28","time":"09:00","end_time":"24:00","staff_id":"8d1f5a44-7d1c-5b0e-8a10-1f6f2f0b9c22","staff_name":"Anna",` +
		`"remaining_capacity":3,"class_schedule_id":"3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10"},` +
		`{"date":"2027-03-01","time":"00:15","end_time":"01:15","staff_id":null,"staff_name":null,` +
		`"remaining_capacity":1,"class_schedule_id":"3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10"}],"days":[],"total":2,"next_offset":null}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	const lines = "Free:\n2027-02-28 09:00–24:00 with Anna (staff_id 8d1f5a44-7d1c-5b0e-8a10-1f6f2f0b9c22), 3 places left\n2027-03-01 00:15–01:15, 1 places left"
	if got := l.starts("Free:", 0); got != lines {
		t.Errorf("got  %s\nwant %s", got, lines)
	}
}

func TestOtherStartsComeNearestFirstAlsoPastMidnight(t *testing.T) {
	t.Parallel()
	l := show(&availability.Slots{Computed: true, Starts: []int32{30, 60, 720, 1380, 1410, 1470, 1500}, Ends: make([]int32, 7), Members: make([]int32, 7), Staff: make([]availability.Member, 1)})
	var got []string
	for _, i := range l.nearest("23:50") {
		got = append(got, l.date(i)+" "+l.at(i).Time)
	}
	want := []string{
		"1970-01-01 23:30", "1970-01-02 00:30", "1970-01-01 23:00", "1970-01-02 01:00", "1970-01-01 12:00", "1970-01-01 01:00", "1970-01-01 00:30",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPagesOfACalendarGiveEverySlotOnceAndFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anySlots(t, 300)
		l := show(s)
		got := 0
		for offset := 0; ; {
			page, next := l.calendar(offset)
			var shown calendar
			if err := json.Unmarshal(page, &shown); err != nil || len(page) > maxListBytes+500 {
				t.Fatalf("a page of %d bytes, %v", len(page), err)
			}
			for i, of := range shown.Slots {
				if want := l.at(offset + i); of.Date != want.Date || of.Time != want.Time {
					t.Fatalf("slot %d is %v, want %v", offset+i, of, want)
				}
			}
			if got += len(shown.Slots); next == nil {
				break
			}
			if *next != offset+len(shown.Slots) || *next <= offset {
				t.Fatalf("after %d slots from %d on comes %d", len(shown.Slots), offset, *next)
			}
			offset = *next
		}
		if got != len(s.Starts) {
			t.Fatalf("got %d of %d", got, len(s.Starts))
		}
		if page, next := l.calendar(len(s.Starts) + 7); next != nil || !strings.Contains(string(page), `"slots":[]`) {
			t.Fatalf("after the end: %s", page)
		}
	})
}

func TestTheLinesOfACalendarFitAndAreWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anySlots(t, 60)
		l := show(s)
		var all []byte
		for i := range s.Starts {
			all = l.appendLine(all, i)
		}
		got := l.starts("Free:", 0)
		if n := encodedSize(t, got); n > maxText {
			t.Fatalf("%d bytes of %d", n, maxText)
		}
		begin, cut := strings.CutSuffix(got, rest)
		if !cut && got != "Free:"+string(all) {
			t.Fatalf("%q became %q", all, got)
		}
		if next, begins := strings.CutPrefix("Free:"+string(all), begin); cut && (!begins || !strings.HasPrefix(next, "\n")) {
			t.Fatalf("%q is not cut between lines: %q", all, got)
		}
		if cut && encodedSize(t, begin) < maxText/2 {
			t.Fatalf("cut after %d bytes already", encodedSize(t, begin))
		}
	})
}
