package event

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Webhook returns the body of the event's webhook: {type, timestamp, data}. data
// is the event's data together with its sequence, and the business_id and slug
// of the business. If the business was removed, slug is "" and data omits it.
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
