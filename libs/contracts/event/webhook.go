package event

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Webhook returns the payload of the event for webhooks: {type, timestamp, data}. The member
// data contains the data of the event, its sequence, and the business_id and slug of the
// business. If the business was removed, the caller passes the slug "", and data has no slug.
func (e Event) Webhook(slug string) ([]byte, error) {
	data := map[string]json.RawMessage{}
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return nil, fmt.Errorf("the data of event %s is no object: %w", e.ID, err)
		}
	}
	if data == nil { // the data is the JSON value null
		data = map[string]json.RawMessage{}
	}
	delete(data, "cancel_reason") // only the customer's message has the business's own words
	data["sequence"] = []byte(strconv.Itoa(e.Sequence))
	data["business_id"] = []byte(strconv.Quote(e.BusinessID.String()))
	if slug != "" {
		data["slug"] = []byte(strconv.Quote(slug))
	}
	return json.Marshal(struct {
		Type      Type                       `json:"type"`
		Timestamp time.Time                  `json:"timestamp"`
		Data      map[string]json.RawMessage `json:"data"`
	}{e.Type, e.At.UTC(), data})
}
