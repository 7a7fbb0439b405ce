package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// lines is a buffer for log lines that several goroutines write.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestTelemetryCountsOutcomesWithoutCustomers(t *testing.T) {
	t.Parallel()
	var logs lines
	tel, err := telemetry.New(t.Context(), telemetry.Config{LogLevel: -8}, "booking", &logs)
	if err != nil {
		t.Fatal(err)
	}
	w := openWithTelemetry(t, limits.Config{KeyPerMinute: 7}, tel)
	key := w.key("write")
	staffed := map[string]any{"staff_id": annaID, "customer_phone": "+351 912 345 678"}
	w.expect("booked", w.book(key, newOrder("09:30", staffed), header, "k"), 201, "")
	w.expect("replayed", w.book(key, newOrder("09:30", staffed), header, "k"), 201, "")
	w.expect("taken", w.book(key, newOrder("09:30", staffed)), 409, "slot_unavailable")
	w.expect("bad", w.book(key, newOrder("x", staffed)), 400, "invalid_parameter")
	w.set(func(w *fixture) { w.slotsErr = fault.New(fault.PeerUnavailable, "away") })
	w.expect("away", w.book(key, newOrder("10:30", staffed)), 503, "availability_unverified")
	w.set(func(w *fixture) { w.slotsErr = nil })
	if _, err := w.pool.Exec(t.Context(),
		`ALTER TABLE bookings ADD CHECK (customer_name <> 'Zoë') NOT VALID`); err != nil {
		t.Fatal(err)
	}
	w.expect("broken inside", w.book(key, newOrder("11:30", staffed)), 500, "internal")
	w.set(func(w *fixture) { w.keysErr = fmt.Errorf("look up an API key: %w", &pgconn.PgError{Code: "57P01"}) })
	w.expect("the database away", w.book(key, newOrder("11:30", staffed)), 503, "service_unavailable")
	w.set(func(w *fixture) { w.keysErr = nil })
	w.book(key, "{}")
	w.expect("limited", w.book(key, "{}"), 401, "rate_limited")

	response, err := w.http.Get(w.internal + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var metrics bytes.Buffer
	if _, err := metrics.ReadFrom(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response.StatusCode, err)
	}
	for _, outcome := range []string{"booked", "replayed", "slot_unavailable", "invalid_parameter",
		"availability_unverified", "internal", "service_unavailable", "rate_limited"} {
		if !strings.Contains(metrics.String(), `outcome="`+outcome+`"`) {
			t.Errorf("outcome %s is not counted", outcome)
		}
	}
	if !strings.Contains(metrics.String(), `slotmesh_limits_hit_total{limit="key"`) {
		t.Error("the limit that was hit is not counted")
	}
	if page, err := w.events(t).Events(t.Context(), "", 100, 0); err != nil || len(page.Events) == 0 {
		t.Fatalf("%+v, %v", page, err)
	}
	if booked := strings.Count(logs.String(), `"msg":"booking.created"`); booked != 1 {
		t.Errorf("one booking has %d lines: %s", booked, logs.String())
	}
	if !strings.Contains(logs.String(), `"status":500`) {
		t.Errorf("the failure is not logged: %s", logs.String())
	}
	for name, text := range map[string]string{"log": logs.String(), "metrics": metrics.String()} {
		for _, secret := range []string{"zoe@", "Zoë", "912 345", key, key[3:40]} {
			if strings.Contains(text, secret) {
				t.Errorf("the %s contains %q:\n%s", name, secret, text)
			}
		}
	}
}
