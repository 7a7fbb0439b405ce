package api

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// columns asks for a date's slots as the MCP server does.
func (s service) columns(t *testing.T, pathAndQuery string) availability.Slots {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.internal+"/internal/api/public/"+pathAndQuery, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", availability.SlotsType)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, answer)
	var columns availability.Slots
	got.decode(t, &columns)
	if err := columns.Check(); err != nil || got.status != http.StatusOK || got.header.Get("Content-Type") != availability.SlotsType {
		t.Fatalf("%s: status %d, %q, %v: %s", pathAndQuery, got.status, got.header.Get("Content-Type"), err, got.body)
	}
	return columns
}

// asListed spells columns out as /slots does, by the words on availability.Slots.
func asListed(c availability.Slots) map[string]any {
	slots := []any{}
	for i, start := range c.Starts {
		offset := start / timespan.MinutesPerDay
		s := map[string]any{
			"time": timespan.TimeOfDay(start % timespan.MinutesPerDay).String(), "endTime": timespan.TimeOfDay(c.Ends[i]).String(),
			"date": (c.Date + timespan.Date(offset)).String(), "dateOffset": float64(offset), "staffId": nil, "staffName": nil,
		}
		if m := c.Members[i]; m >= 0 {
			s["staffId"], s["staffName"] = c.Staff[m].ID.String(), c.Staff[m].Name
		}
		if len(c.SessionOf) > 0 {
			s["classScheduleId"], s["remainingCapacity"] = c.Sessions[c.SessionOf[i]].String(), float64(c.Remaining[i])
		}
		slots = append(slots, s)
	}
	return map[string]any{"slots": slots, "computed": c.Computed, "timezone": c.Timezone}
}

// mustSayTheSame holds the columns against the public answer.
func (s service) mustSayTheSame(t *testing.T, pathAndQuery string) availability.Slots {
	t.Helper()
	answer, err := http.Get(s.internal + "/internal/api/public/" + pathAndQuery)
	if err != nil {
		t.Fatal(err)
	}
	var public map[string]any
	if err := json.Unmarshal([]byte(read(t, answer).body), &public); err != nil {
		t.Fatal(err)
	}
	columns := s.columns(t, pathAndQuery)
	if diff := cmp.Diff(public, asListed(columns)); diff != "" {
		t.Errorf("%s (-public +columns):\n%s", pathAndQuery, diff)
	}
	return columns
}

func TestColumnsSayWhatThePublicAnswerSays(t *testing.T) {
	t.Parallel()
	listed, classes, offsets := 0, 0, 0
	for seed := range uint64(4) {
		s := start(t, randomBusiness(rand.New(rand.NewPCG(seed, 3))))
		for _, query := range combinations() {
			for day := range timespan.Date(3) {
				c := s.mustSayTheSame(t, "harbor/slots?date="+(firstOfWeek+day).String()+"&"+query.Encode())
				listed, classes = listed+len(c.Starts), classes+len(c.SessionOf)
			}
		}
	}
	s := start(t, func(n *neighbours) {
		n.busy = []booking.Busy{busyFrom(sauna, 1, "2027-03-05T08:00", "2027-03-06T00:00")}
	})
	for _, start := range s.mustSayTheSame(t, "harbor/slots?date=2027-03-05&service_id="+sauna.String()).Starts {
		offsets += int(start / timespan.MinutesPerDay)
	}
	if listed == 0 || classes == 0 || offsets == 0 {
		t.Errorf("%d slots, %d of classes, %d after midnight: the comparison means nothing", listed, classes, offsets)
	}
}

func TestColumnsOfWhatCannotBeReadAreEmptyAndNotComputed(t *testing.T) {
	t.Parallel()
	s := start(t, func(n *neighbours) { n.busyErr = fault.New(fault.PeerUnavailable, "away") })
	if c := s.mustSayTheSame(t, "harbor/slots?date="+monday+"&service_id="+cut.String()); c.Computed || len(c.Starts) > 0 {
		t.Errorf("without occupied time: %+v", c)
	}
}

func TestColumnsAreRefusedAsThePublicAnswerIs(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.internal+"/internal/api/public/harbor/slots?date=x&service_id="+cut.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", availability.SlotsType)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	want := s.get(t, "harbor/slots", "date", "x", "service_id", cut.String())
	read(t, answer).mustBe(t, http.StatusBadRequest, want.body)
}
