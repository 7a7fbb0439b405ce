package booking_test

import (
	"encoding/json"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

func TestRefundAcceptsWordOrNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]booking.RefundAmount{
		`{}`: "", `{"refund": "policy"}`: "policy", `{"refund": "full"}`: "full", `{"refund": "none"}`: "none",
		`{"refund": 12.50}`: "12.50", `{"refund": 0}`: "0", `{"refund": -1e3}`: "-1e3",
	} {
		var got booking.Cancel
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Refund != want {
			t.Errorf("%s is %q, %v; want %q", text, got.Refund, err, want)
		}
		sent, err := json.Marshal(got)
		var again booking.Cancel
		if err == nil {
			err = json.Unmarshal(sent, &again)
		}
		if err != nil || again != got {
			t.Errorf("%q is sent as %s and read as %q, %v", got.Refund, sent, again.Refund, err)
		}
	}
	for _, text := range []string{`{"refund": "half"}`, `{"refund": "12.50"}`, `{"refund": ""}`, `{"refund": true}`,
		`{"refund": {}}`, `{"refund": [1]}`, `{"refund": null}`} {
		var got booking.Cancel
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %q", text, got.Refund)
		}
	}
}
