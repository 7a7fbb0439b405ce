package slotmesh

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookEvent is an event that Slotmesh sends to an endpoint of a business. Events may arrive
// twice and in any order. Store the ID of each event to detect repetitions. Of the events of
// one subject, such as a booking, use only the event with the highest sequence number.
type WebhookEvent struct {
	// ID identifies the event. It is the same in every attempt to deliver the event.
	ID string `json:"-"`
	// Type is the type of the event, such as booking.created. Later releases may add types.
	Type string `json:"type"`
	// Timestamp is the time of the event.
	Timestamp time.Time `json:"timestamp"`
	// Data is the subject of the event, such as a booking, after the change. It
	// has the form of the admin API. Decode a booking into a [WebhookBooking].
	Data json.RawMessage `json:"data"`
}

// WebhookBooking holds the most important fields of a booking in [WebhookEvent].Data.
type WebhookBooking struct {
	ID              string          `json:"id"`
	Status          BookingStatus   `json:"status"`
	Date            string          `json:"date"`
	StartTime       string          `json:"start_time"`
	EndTime         string          `json:"end_time"`
	StartsAt        time.Time       `json:"starts_at"`
	EndsAt          time.Time       `json:"ends_at"`
	Services        []BookedService `json:"services"`
	StaffID         string          `json:"staff_id"`
	StaffName       string          `json:"staff_name"`
	ClassScheduleID string          `json:"class_schedule_id"`
	PartySize       int             `json:"party_size"`
	Total           float64         `json:"total"`
	Currency        string          `json:"currency"`
	Source          string          `json:"source"`
	CustomerName    string          `json:"customer_name"`
	CustomerEmail   string          `json:"customer_email"`
	CustomerPhone   string          `json:"customer_phone"`
	// Location is where the booking takes place. It is nil unless the business has several locations.
	Location *BookedLocation `json:"location"`
	// CustomerAddress is the address of the customer if the booking takes place there. Otherwise it is nil.
	CustomerAddress *CustomerAddress `json:"customer_address"`
	FormData        map[string]any   `json:"form_data"`
	CreatedAt       time.Time        `json:"created_at"`
	UpdatedAt       time.Time        `json:"updated_at"`
	// Sequence is the number of the event among the events of this booking. The newest event has the highest number.
	Sequence int `json:"sequence"`
}

// The errors of [ReadWebhook] and [VerifyWebhook] for a webhook that must not be trusted.
var (
	ErrWebhookSignature = errors.New("slotmesh: the webhook is not signed with this secret")
	ErrWebhookAge       = errors.New("slotmesh: the webhook was signed more than five minutes ago, or ahead")
)

const (
	webhookAge  = 5 * time.Minute
	webhookMost = 1 << 20 // maximum size of a body, in bytes
)

// ReadWebhook reads a webhook from the request r and verifies its signature. ReadWebhook returns an
// error unless r was signed with the secret of the endpoint (whsec_…) within five minutes of now.
func ReadWebhook(secret string, r *http.Request, now time.Time) (*WebhookEvent, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, webhookMost+1))
	if err != nil {
		return nil, fmt.Errorf("slotmesh: the webhook broke off: %w", err)
	}
	if len(body) > webhookMost {
		return nil, errors.New("slotmesh: the webhook is larger than 1 MiB")
	}
	if err := VerifyWebhook(secret, r.Header, body, now); err != nil {
		return nil, err
	}
	event := &WebhookEvent{ID: r.Header.Get("webhook-id")}
	if err := json.Unmarshal(body, event); err != nil {
		return nil, fmt.Errorf("slotmesh: the webhook is no event: %w", err)
	}
	return event, nil
}

// VerifyWebhook returns an error unless the body was signed with the secret (whsec_…) within five
// minutes of now, as Standard Webhooks defines. While an owner replaces the secret, Slotmesh
// signs each webhook with the old secret and with the new one. One valid signature is enough.
func VerifyWebhook(secret string, header http.Header, body []byte, now time.Time) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return errors.New("slotmesh: the secret is not one of a webhook, whsec_…")
	}
	id, at := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > webhookAge {
		return ErrWebhookAge
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	for part := range strings.FieldsSeq(header.Get("webhook-signature")) {
		version, text, _ := strings.Cut(part, ",")
		given, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(given, expected) {
			return nil
		}
	}
	return ErrWebhookSignature
}
