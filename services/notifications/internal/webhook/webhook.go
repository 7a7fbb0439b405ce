// Package webhook contains the parts of webhooks that need no database (lifecycle.md §2): subscriptions to events,
// signatures, the retry schedule, the allowed addresses, and the HTTP request itself.
package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/event/catalogue"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// AllEvents in a subscription stands for all types of events, including types that later versions of Slotmesh add.
const AllEvents = "*"

// TestEvent is the type of the event that an owner sends to test an endpoint.
const TestEvent = catalogue.Test

// Wants reports whether an endpoint with the given subscription receives events of type `t`. The argument `events` is
// the list of types in the subscription. No endpoint receives the types that only the audit log shows.
func Wants(events []string, t event.Type) bool {
	return slices.Contains(events, string(t)) ||
		slices.Contains(events, AllEvents) && !slices.Contains(event.AuditTypes(), t)
}

// CheckEvents accepts ["*"] and a list of distinct types of events, and rejects any other list. Fault:
// invalid_parameter.
func CheckEvents(events []string) error {
	if len(events) == 0 {
		return request.Invalid(`events: name the types of events to send, such as ["booking.created"], or ["*"] for all.`)
	}
	for i, e := range events {
		switch {
		case e == AllEvents && len(events) > 1:
			return request.Invalid(`events: "*" stands for all types; leave the others out.`)
		case e != AllEvents && !slices.Contains(event.Types(), event.Type(e)):
			return request.Invalid("events: there is no type %s; the types are %s.", request.Quote(e), formatTypes())
		case slices.Contains(events[:i], e):
			return request.Invalid("events: %s stands twice.", e)
		}
	}
	return nil
}

func formatTypes() string {
	var names []string
	for _, t := range event.Types() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

// ParseCustomer returns the customer's e-mail address from the data of an event, which has the format of the admin API.
// If the event has no customer, it returns "".
func ParseCustomer(e event.Event) (string, error) {
	var data struct {
		Email string `json:"customer_email"`
	}
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return "", fmt.Errorf("the customer of event %s: %w", e.ID, err)
		}
	}
	return data.Email, nil
}

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// NewSecret returns a random secret of 32 bytes.
func NewSecret() []byte {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// ShowSecret formats a secret in the form that libraries of Standard Webhooks accept. The owner sees the secret only
// once.
func ShowSecret(secret []byte) string {
	return secretPrefix + base64.StdEncoding.EncodeToString(secret)
}

// Sign sets the headers that prove to the receiver that the body comes from Slotmesh (standardwebhooks.com). The
// headers contain the event's id, the time of the attempt, and one signature for each secret. The id is the same in all
// attempts.
func Sign(header http.Header, id string, at time.Time, body []byte, secrets ...[]byte) error {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signer, err := standardwebhooks.NewWebhookRaw(secret)
		if err != nil {
			return err
		}
		if signatures[i], err = signer.Sign(id, at, body); err != nil {
			return err
		}
	}
	header.Set(standardwebhooks.HeaderWebhookID, id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return nil
}

// delays are the pauses after failed attempts, in order. If the attempt after the last pause also fails, the delivery
// has failed.
var delays = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

// maxRetryAfter limits the pause that a receiver can request with the header Retry-After.
const maxRetryAfter = 24 * time.Hour

// jitterDivisor limits the random part that is added to a pause to a tenth of the pause. Because of the random part,
// deliveries that failed together are not retried at the same time.
const jitterDivisor = 10

// NextPause returns the pause before the next attempt. The argument `attempts` is the number of failed attempts. If no
// further attempt follows, NextPause returns false. The argument `retryAfter` is the pause that the receiver requested,
// or 0. The returned pause is not shorter than `retryAfter`, unless `retryAfter` exceeds maxRetryAfter. The argument
// `jitter` is a random number in [0, 1).
func NextPause(attempts int, retryAfter time.Duration, jitter float64) (time.Duration, bool) {
	if attempts > len(delays) {
		return 0, false
	}
	delay := delays[attempts-1]
	delay += time.Duration(jitter * float64(delay/jitterDivisor))
	return max(delay, min(retryAfter, maxRetryAfter)), true
}

// ParseRetryAfter parses the value of a Retry-After header, in seconds or as a date. For any other text it returns 0.
func ParseRetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
