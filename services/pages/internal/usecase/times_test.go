package usecase

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
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

// TestTimesAreUnknownWithoutFreePlace shows that free times of a business are unknown if all its
// places for concurrent requests are occupied. Other businesses are not affected.
func TestTimesAreUnknownWithoutFreePlace(t *testing.T) {
	t.Parallel()
	availability := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"days": {"2027-03-01": 1}, "computed": true}`
		if strings.HasSuffix(r.URL.Path, "/slots") {
			answer = `{"slots": [{"date": "2027-03-01", "time": "10:00", "endTime": "11:00"}], "computed": true}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	p := peer.New("availability", availability.URL, telemetry.Discard(), peer.Timeout(2*time.Minute))
	t.Cleanup(func() { p.Close(); availability.Close() })
	shop := &Shop{Availability: catalogclient.NewAnswers(p, 0), Places: Places{Businesses: bulkhead.New(1), MaxWait: time.Minute}}
	shortWait := *shop
	shortWait.Places.MaxWait = time.Nanosecond
	cut := &Appointment{Selection: Selection{Services: []uuid.UUID{uuid.New()}}}
	newBusiness := func(slug string) *Business {
		snapshot := &catalog.Snapshot{Slug: slug, Timezone: "Europe/Lisbon", Currency: "EUR"}
		snapshot.Bookings.AdvanceDays = 30
		if err := snapshot.Prepare(); err != nil {
			t.Fatal(err)
		}
		return &Business{Snapshot: snapshot, Now: time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)}
	}
	release, err := shop.Places.Businesses.Enter(t.Context(), "busy")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := shortWait.Times(t.Context(), newBusiness("busy"), cut, nil); err != nil || c.IsKnown ||
		len(c.Slots) > 0 {
		t.Errorf("without a place: %+v, %v", c, err)
	}
	if c, err := shop.Times(t.Context(), newBusiness("other"), cut, nil); err != nil || !c.IsKnown ||
		len(c.Slots) != 1 {
		t.Errorf("another business: %+v, %v", c, err)
	}
	release()
	if c, err := shop.Times(t.Context(), newBusiness("busy"), cut, nil); err != nil || !c.IsKnown || len(c.Slots) != 1 {
		t.Errorf("with a place again: %+v, %v", c, err)
	}
}

func TestNearestStartsCountsPastMidnight(t *testing.T) {
	t.Parallel()
	day := timespan.NewDate(2027, 3, 1)
	evening, late, night := Slot{Date: day, Time: 18 * 60}, Slot{Date: day, Time: 23 * 60}, Slot{Date: day + 1, Time: 30}
	got := nearestStarts([]Slot{evening, late, night}, day, 23*60+30, 2)
	if want := []Slot{late, night}; !slices.EqualFunc(got, want, func(x, y Slot) bool {
		return x.Date == y.Date && x.Time == y.Time
	}) {
		t.Errorf("%v, want %v", got, want)
	}
}
