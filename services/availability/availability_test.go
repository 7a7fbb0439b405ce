package availability

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	peeravailability "github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// startStub answers every request with the same JSON.
func startStub(t *testing.T, status int, body any) string {
	t.Helper()
	payload, isText := body.([]byte)
	if !isText {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(payload)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// start runs the whole service between a catalog with one business and a booking service that answers with status.
func start(t *testing.T, bookingStatus int) (*server.Server, uuid.UUID) {
	t.Helper()
	testkit.Redis(t) // fails the test where there is none
	sauna := uuid.UUID{1}
	offer := catalog.Snapshot{
		ID: uuid.UUID{9}, Slug: "harbor", Version: 1, Timezone: "UTC", Currency: "EUR",
		Modules: catalog.Modules{Services: true}, Bookings: catalog.Bookings{AdvanceDays: 30},
		Services: []catalog.Service{{ID: sauna, Active: true, DurationMinutes: 60, SlotIntervalMinutes: 60,
			Capacity: 1}},
	}
	for d := range offer.Hours {
		offer.Hours[d] = []timespan.Window{{From: 9 * 60, To: 11 * 60}}
	}
	nothing, err := booking.Occupied{}.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := New(t.Context(), Config{
		Server: server.Config{PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0", PublicBodyLimit: 1 << 10,
			InternalBodyLimit: 1 << 20, RequestTimeout: 2 * time.Minute, DrainTimeout: 2 * time.Minute,
			Peers: peer.Config{Timeout: 2 * time.Minute}},
		Redis: testkit.RedisConfig(t), Limits: limits.Config{Counting: ratelimit.Config{Timeout: testkit.MaxWait}},
		CatalogURL: startStub(t, http.StatusOK, offer),
		BookingURL: startStub(t, bookingStatus, nothing),
		RentalURL: startStub(t, http.StatusOK, map[string]any{"days": map[string]any{}, "computed": true,
			"timezone": "UTC"}),
	}, server.Runtime{
		Open: true,
		Name: "availability", Telemetry: telemetry.Discard(),
		Clock: clock.Fixed(time.Date(2027, time.March, 1, 8, 0, 0, 0, time.UTC)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Errorf("the service did not stop cleanly: %v", err)
		}
	})
	return srv, sauna
}

func getSlots(t *testing.T, srv *server.Server, service uuid.UUID) string {
	t.Helper()
	answer, err := http.Get("http://" + srv.PublicAddr().String() +
		"/api/public/harbor/slots?date=2027-03-01&service_id=" + service.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s: %v", answer.StatusCode, body, err)
	}
	return string(body)
}

func TestServiceListsBookableStarts(t *testing.T) {
	t.Parallel()
	srv, sauna := start(t, http.StatusOK)
	if body := getSlots(t, srv, sauna); strings.Count(body, `"time"`) != 2 || !strings.Contains(body,
		`"computed":true`) {
		t.Errorf("slots: %s", body)
	}
	p := peer.New("availability", "http://"+srv.InternalAddr().String(), telemetry.Discard(),
		peer.Timeout(testkit.MaxWait))
	t.Cleanup(p.Close)
	client := peeravailability.NewClient(p)
	request := peeravailability.BookableRequest{Slug: "harbor", OfferVersion: 1, Question: peeravailability.Question{
		ServiceIDs: []uuid.UUID{sauna}, Date: timespan.NewDate(2027, time.March, 1), Time: 10 * 60,
	}}
	answer, err := client.Bookable(t.Context(), request)
	if err != nil || len(answer.Assignments) != 1 || answer.Assignments[0].Parts[0].Resource.CapacityUnit != 1 {
		t.Errorf("10:00: %+v, %v", answer, err)
	}
	request.Question.ServiceIDs[0] = uuid.UUID{2}
	if _, err := client.Bookable(t.Context(), request); !fault.Is(err, fault.ServiceNotFound) {
		t.Errorf("an unknown service: %v", err)
	}
}

func TestServiceAnswersUncomputedWithoutBooking(t *testing.T) {
	t.Parallel()
	srv, sauna := start(t, http.StatusInternalServerError)
	if body := getSlots(t, srv, sauna); body != `{"slots":[],"computed":false,"timezone":"UTC"}` {
		t.Errorf("slots: %s", body)
	}
}
