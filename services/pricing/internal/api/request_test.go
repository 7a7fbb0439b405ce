package api

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// FuzzReadRequest checks that a body is either refused, or read such that writing and reading the
// request again gives an equal request.
func FuzzReadRequest(f *testing.F) {
	f.Add([]byte(`{"slug":"studio","offer_version":7,"purchase_at":"2026-11-26T12:00:00Z","items":[
		{"kind":"service","id":"00000000-0000-4000-8000-000000000001","date":"2026-12-02","start":"18:00","party_size":4,"first_booking":true},
		{"kind":"rental","id":"00000000-0000-4000-8000-000000000007","date":"2026-12-02","units":4}]}`))
	f.Add([]byte(`{"slug":"studio","purchase_at":"2026-11-26T12:00:00.5+01:00","omit_steps":true,"items":[
		{"kind":"event","id":"00000000-0000-4000-8000-000000000005","tier_id":"00000000-0000-4000-8000-000000000006"}]}`))
	f.Add([]byte("{\"slug\":\"\x00\",\"items\":[null,7,{}]}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var first, second pricing.QuotesRequest
		if err := readRequest(body, &first); err != nil {
			if !fault.Is(err, fault.InvalidParameter) {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		encoded, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		if err := readRequest(encoded, &second); err != nil {
			t.Fatalf("%q is written as %s, which is refused: %v", body, encoded, err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("%q is read differently after it was written (-first +second):\n%s", body, diff)
		}
	})
}
