package webhook_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var now = time.Date(2027, time.June, 10, 9, 0, 0, 0, time.UTC)

// The pauses are those of lifecycle.md §2, plus at most a tenth.
func TestNextPauseFollowsSchedule(t *testing.T) {
	t.Parallel()
	want := []string{"5s", "5m", "30m", "2h", "5h", "10h", "14h", "20h", "24h"}
	for i, text := range want {
		pause, _ := time.ParseDuration(text)
		minPause, hasNext := webhook.NextPause(i+1, 0, 0)
		maxPause, _ := webhook.NextPause(i+1, 0, 0.999)
		if !hasNext || minPause != pause || maxPause <= pause || maxPause > pause+pause/10 {
			t.Errorf("after %d attempts: %v to %v, want %v and a little more", i+1, minPause, maxPause, pause)
		}
	}
	if _, hasNext := webhook.NextPause(len(want)+1, 0, 0); hasNext {
		t.Error("NextPause returns true after the last attempt")
	}
}

func TestNextPauseBoundsRetryAfter(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"": 5 * time.Second, "3": 5 * time.Second, "120": 2 * time.Minute, "999999999": 24 * time.Hour,
		"-1": 5 * time.Second, "soon": 5 * time.Second,
		"99999999999999999999":                      5 * time.Second,
		now.Add(time.Hour).Format(http.TimeFormat):  time.Hour,
		now.Add(-time.Hour).Format(http.TimeFormat): 5 * time.Second,
	} {
		if got, _ := webhook.NextPause(1, webhook.ParseRetryAfter(header, now), 0); got != want {
			t.Errorf("%q: after %v, want %v", header, got, want)
		}
	}
}

func TestSignUsesEachSecret(t *testing.T) {
	t.Parallel()
	id, body := uuid.NewString(), []byte(`{"type":"booking.created"}`)
	first, second, other := webhook.NewSecret(), webhook.NewSecret(), webhook.NewSecret()
	header := http.Header{}
	if err := webhook.Sign(header, id, now, body, first, second); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		secret []byte
		body   string
		good   bool
	}{{first, string(body), true}, {second, string(body), true}, {other, string(body), false},
		{first, string(body) + " ", false}} {
		receiver, err := standardwebhooks.NewWebhook(webhook.ShowSecret(c.secret))
		if err != nil {
			t.Fatal(err)
		}
		if err := receiver.VerifyIgnoringTimestamp([]byte(c.body), header); (err == nil) != c.good {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}

func TestCheckEventsAcceptsTypesOrAll(t *testing.T) {
	t.Parallel()
	for _, good := range [][]string{{"*"}, {"booking.created"}, {"booking.created", "payment.refunded"}} {
		if err := webhook.CheckEvents(good); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range [][]string{nil, {}, {""}, {"booking"}, {"booking.*"}, {"*", "booking.created"},
		{"booking.created", "booking.created"}, {"webhook.test"}} {
		if err := webhook.CheckEvents(bad); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
	if !webhook.Wants([]string{"*"}, "of.tomorrow") || webhook.Wants([]string{"booking.created"},
		event.BookingCancelled) {
		t.Error("Wants is wrong for all events or for one type")
	}
}
