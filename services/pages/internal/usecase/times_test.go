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
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// TestTimesOfABusinessWithoutPlacesAreUnknownAndOthersAreNot shows that free times of a business are unknown if all its
// places for concurrent requests are occupied. Other businesses are not affected.
func TestTimesOfABusinessWithoutPlacesAreUnknownAndOthersAreNot(t *testing.T) {
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
	shop := &Shop{Availability: NewReader(p), Places: Places{Each: bulkhead.New(1), Within: time.Minute}}
	hurried := *shop
	hurried.Places.Within = time.Nanosecond
	cut := &Appointment{Selection: Selection{Services: []uuid.UUID{uuid.New()}}}
	of := func(slug string) *Business {
		offer := &catalog.Snapshot{Slug: slug, Timezone: "Europe/Lisbon", Currency: "EUR"}
		offer.Bookings.AdvanceDays = 30
		if err := offer.Prepare(); err != nil {
			t.Fatal(err)
		}
		return &Business{Offer: offer, Now: time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)}
	}
	leave, err := shop.Places.Each.Enter(t.Context(), "busy")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := hurried.Times(t.Context(), of("busy"), cut, nil); err != nil || c.Known || len(c.Slots) > 0 {
		t.Errorf("without a place: %+v, %v", c, err)
	}
	if c, err := shop.Times(t.Context(), of("other"), cut, nil); err != nil || !c.Known || len(c.Slots) != 1 {
		t.Errorf("another business: %+v, %v", c, err)
	}
	leave()
	if c, err := shop.Times(t.Context(), of("busy"), cut, nil); err != nil || !c.Known || len(c.Slots) != 1 {
		t.Errorf("with a place again: %+v, %v", c, err)
	}
}
