package availability_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

func TestColumnsAreWrittenAsTheirJSON(t *testing.T) {
	t.Parallel()
	id := rapid.Custom(func(t *rapid.T) uuid.UUID { return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")) })
	member := rapid.Custom(func(t *rapid.T) availability.Member {
		return availability.Member{ID: id.Draw(t, "member"), Name: rapid.String().Draw(t, "name")}
	})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5).Draw(t, "slots")
		column := func(name string) []int32 { return rapid.SliceOfN(rapid.Int32(), n, n).Draw(t, name) }
		s := availability.Slots{
			Computed: rapid.Bool().Draw(t, "computed"), Timezone: rapid.String().Draw(t, "zone"),
			Date: timespan.Date(rapid.IntRange(0, 40_000).Draw(t, "date")), Staff: rapid.SliceOfN(member, 0, 3).Draw(t, "staff"),
			Starts: column("starts"), Ends: column("ends"), Members: column("members"),
		}
		if rapid.Bool().Draw(t, "class") {
			s.Sessions, s.SessionOf, s.Remaining = rapid.SliceOfN(id, 1, 3).Draw(t, "sessions"), column("session of"), column("remaining")
		}
		got, err := s.AppendJSON([]byte("before"))
		want, encoding := json.Marshal(s)
		if err != nil || encoding != nil || string(got) != "before"+string(want) {
			t.Fatalf("%v, %v\ngot  %s\nwant %s", err, encoding, got, want)
		}
		var read availability.Slots
		if err := json.Unmarshal(want, &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, read, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestColumnsThatNoCalendarHasAreRefused(t *testing.T) {
	t.Parallel()
	class := func() availability.Slots {
		return availability.Slots{
			Staff: make([]availability.Member, 1), Sessions: make([]uuid.UUID, 1), Starts: []int32{0, 2879}, Ends: []int32{1440, 0},
			Members: []int32{-1, 0}, SessionOf: []int32{0, 0}, Remaining: []int32{1, 2},
		}
	}
	right, none := class(), availability.Slots{}
	if err := right.Check(); err != nil || none.Check() != nil {
		t.Errorf("columns as they are: %v", err)
	}
	for what, c := range map[string]struct {
		change func(*availability.Slots)
		names  string
	}{
		"an end too few":       {func(s *availability.Slots) { s.Ends = s.Ends[:1] }, "length"},
		"a member too many":    {func(s *availability.Slots) { s.Members = append(s.Members, 0) }, "length"},
		"a session too few":    {func(s *availability.Slots) { s.SessionOf = s.SessionOf[:1] }, "length"},
		"no places":            {func(s *availability.Slots) { s.Remaining = nil }, "length"},
		"sessions of one slot": {func(s *availability.Slots) { s.SessionOf, s.Remaining = s.SessionOf[:1], s.Remaining[:1] }, "length"},
		"two days later":       {func(s *availability.Slots) { s.Starts[0] = 2880 }, "starts has 2880"},
		"before midnight":      {func(s *availability.Slots) { s.Starts[0] = -1 }, "starts has -1"},
		"an end after 24:00":   {func(s *availability.Slots) { s.Ends[1] = 1441 }, "ends has 1441"},
		"an unknown member":    {func(s *availability.Slots) { s.Members[0] = 1 }, "members has 1"},
		"less than nobody":     {func(s *availability.Slots) { s.Members[0] = -2 }, "members has -2"},
		"an unknown session":   {func(s *availability.Slots) { s.SessionOf[1] = 1 }, "session_of has 1"},
	} {
		s := class()
		c.change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
