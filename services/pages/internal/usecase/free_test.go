package usecase

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// TestFreeTimesAreCachedAndLeaveOutUnknown shows that the free times of a business are read once in [FreeTimesAge], and
// that a service without an answer is left out.
func TestFreeTimesAreCachedAndLeaveOutUnknown(t *testing.T) {
	t.Parallel()
	cut, sauna, yoga, session := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	requests := 0
	availability := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		service := r.URL.Query().Get("service_id")
		answer := `{"days": {"2027-03-01": 1}, "computed": true}`
		switch {
		case service == sauna.String():
			answer = `{"computed": false}`
		case service == yoga.String() && r.URL.Query().Has("location_id"):
			t.Error("the sessions of only one location are read")
		case service == yoga.String():
			answer = `{"slots": [{"date": "2027-03-01", "time": "18:00", "endTime": "19:00", "remainingCapacity": 3,
				"classScheduleId": "` + session.String() + `"}], "computed": true}`
		case strings.HasSuffix(r.URL.Path, "/slots"):
			answer = `{"slots": [{"date": "2027-03-01", "time": "10:00", "endTime": "11:00"}], "computed": true}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	p := peer.New("availability", availability.URL, telemetry.Discard(), peer.Timeout(time.Minute))
	t.Cleanup(func() { p.Close(); availability.Close() })
	shop := &Shop{Availability: catalogclient.NewAnswers(p, 0), Free: NewFreeTimesCache(),
		Places: Places{Businesses: bulkhead.New(1), MaxWait: time.Minute}}
	day := timespan.NewDate(2027, 3, 1)
	snapshot := &catalog.Snapshot{Slug: "studio", Timezone: "UTC", Currency: "EUR", Services: []catalog.Service{
		{ID: cut, Active: true}, {ID: sauna, Active: true},
		{ID: yoga, Active: true, Classes: []catalog.ClassSession{{ID: session, Date: &day, Time: 18 * 60}}},
	}}
	snapshot.Locations = []catalog.Location{{ID: uuid.New(), Kind: catalog.KindPlace},
		{ID: uuid.New(), Kind: catalog.KindPlace}}
	snapshot.Modules.Services, snapshot.Bookings.AdvanceDays = true, 30
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	b := &Business{Snapshot: snapshot, Now: time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)}
	free, err := shop.FreeTimes(t.Context(), b)
	if err != nil || len(free.First) != 1 || free.First[cut].Time != 10*60 || len(free.Left) != 1 ||
		free.Left[ClassSession{session, day}] != 3 {
		t.Fatalf("%+v, %v", free, err)
	}
	before := requests
	if _, err := shop.FreeTimes(t.Context(), b); err != nil || requests != before {
		t.Errorf("%v: %d requests, want %d", err, requests, before)
	}
	if age := free.RemainingAge(b.Now.Add(20 * time.Second)); age != FreeTimesAge-20*time.Second {
		t.Errorf("the remaining age is %v", age)
	}
	b.Now = b.Now.Add(FreeTimesAge)
	if _, err := shop.FreeTimes(t.Context(), b); err != nil || requests == before {
		t.Errorf("%v: old free times are not read again", err)
	}
}
