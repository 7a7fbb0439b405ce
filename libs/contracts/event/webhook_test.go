package event_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
)

func TestWebhookNamesSequenceAndBusiness(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{"id":"7","total":1250.50,"cancel_reason":"Anna is ill."}`: `{"type":"booking.created","timestamp":"2027-06-10T09:00:00Z","data":{"business_id":"7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11","id":"7","sequence":3,"slug":"harbor","total":1250.50}}`,
		`{"id":"7","sequence":99999}`:                               `{"type":"booking.created","timestamp":"2027-06-10T09:00:00Z","data":{"business_id":"7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11","id":"7","sequence":3,"slug":"harbor"}}`,
		`null`:                                                      `{"type":"booking.created","timestamp":"2027-06-10T09:00:00Z","data":{"business_id":"7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11","sequence":3,"slug":"harbor"}}`,
		``:                                                          `{"type":"booking.created","timestamp":"2027-06-10T09:00:00Z","data":{"business_id":"7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11","sequence":3,"slug":"harbor"}}`,
	} {
		got, err := event.Event{
			Type: event.BookingCreated, BusinessID: uuid.MustParse("7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11"),
			At: time.Date(2027, time.June, 10, 9, 0, 0, 0, time.UTC), Sequence: 3, Data: json.RawMessage(data),
		}.Webhook("harbor")
		if err != nil || string(got) != want {
			t.Errorf("%s:\ngot  %s %v\nwant %s", data, got, err, want)
		}
	}
}
