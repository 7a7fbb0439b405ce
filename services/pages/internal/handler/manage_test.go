package handler

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// newReschedulePages returns the pages of a business with a booking at the location `at`. The booking service refuses
// each reschedule with the fault in `refusal`. The location whose starts a page lists is written to `listed`.
func newReschedulePages(t *testing.T, at, other uuid.UUID, refusal *fault.Kind,
	listed *string) *fiber.App {
	t.Helper()
	day := time.Date(2027, 3, 5, 10, 0, 0, 0, time.UTC)
	shown := newOwnBooking(day, booking.StatusConfirmed, ownToken).CustomerView
	shown.Kind, shown.Business.Slug, shown.Booking.Location = event.Booking, "theatre", &booking.BookedLocation{ID: at}
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPost:
			w.WriteHeader(refusal.Status)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": "refused", "messageCode": refusal.Code})
		case r.URL.Query().Has("service_id"):
			*listed = r.URL.Query().Get("location_id")
			_, _ = w.Write([]byte(`{"days": {}, "slots": [], "computed": true}`))
		default:
			_ = json.NewEncoder(w).Encode(shown)
		}
	}))
	p := peer.New("booking", fake.URL, telemetry.Discard(), peer.Timeout(time.Minute))
	t.Cleanup(func() { p.Close(); fake.Close() })
	snapshot := &catalog.Snapshot{ID: uuid.New(), Slug: "theatre", Name: "Theatre", Currency: "EUR",
		Timezone: "Europe/Lisbon", DefaultLanguage: "en", Languages: []string{"en"},
		Services:  []catalog.Service{{ID: uuid.MustParse(cutID), Active: true}},
		Locations: []catalog.Location{{ID: at, Kind: catalog.KindPlace}, {ID: other, Kind: catalog.KindPlace}},
		Account:   catalog.Account{SubscriptionActive: true}}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	shop := &usecase.Shop{Snapshots: staleBusiness{cached: snapshot, fresh: snapshot}, Catalog: catalogclient.NewAnswers(p, 0),
		Availability: catalogclient.NewAnswers(p, 0), Clock: clock.Fixed(day.AddDate(0, 0, -2)),
		Places: usecase.Places{Businesses: bulkhead.New(1), MaxWait: time.Minute}}
	pages, err := New(shop, usecase.NewLinks(p, p, shop), Config{Secrets: []string{"a secret of thirty-two characters."}})
	if err != nil {
		t.Fatal(err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, StreamRequestBody: true,
		ErrorHandler: func(c *fiber.Ctx, err error) error { return pages.ShowFault(c, fault.Of(err)) }})
	pages.Mount(app)
	return app
}

// TestRefusedRescheduleStatesReason shows which sentence the page has if the booking service refuses a new start, and
// that the page then lists the starts at the location of the booking if the chosen location is the reason.
func TestRefusedRescheduleStatesReason(t *testing.T) {
	t.Parallel()
	quay, station := uuid.New(), uuid.New()
	var refusal fault.Kind
	var listed string
	app := newReschedulePages(t, quay, station, &refusal, &listed)
	for kind, want := range map[fault.Kind]struct {
		sentence string
		at       uuid.UUID
	}{
		fault.OutsideArea:      {"We do not come to this address.", quay},
		fault.LocationNotFound: {"This is no longer available. Please choose again.", quay},
		fault.SlotUnavailable:  {"Someone just took this time.", station},
	} {
		refusal = kind
		page := requestForm(t, app, "/m/"+ownToken+"/move", url.Values{
			"to": {"at=" + station.String() + "&date=2027-03-06&time=10:00"}})
		if page.status != http.StatusConflict || !strings.Contains(page.text, want.sentence) ||
			listed != want.at.String() {
			t.Errorf("%v: %d, starts at %s, not %s: %s", kind, page.status, listed, want.at, page.text)
		}
	}
}
