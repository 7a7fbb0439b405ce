package event

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Webhook is the body of the webhook of an event: {type, timestamp, data}, where data is the event's, with its sequence, the business_id
// and the slug of the business; without a slug for a business that is removed.
func (e Event) Webhook(slug string) ([]byte, error) {
	data := map[string]json.RawMessage{}
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return nil, fmt.Errorf("the data of event %s is no object: %w", e.ID, err)
		}
	}
	if data == nil { // null
		data = map[string]json.RawMessage{}
	}
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
