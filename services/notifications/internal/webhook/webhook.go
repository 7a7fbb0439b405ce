// Package webhook is what a webhook is, without storage: which events an endpoint wants, the bytes it is sent and their signature,
// when it is tried again, which addresses may be called, and the call itself (lifecycle.md §2).
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

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/event/catalogue"
	"github.com/slotmesh/slotmesh/libs/request"
)

// Every wants all types of events, those of later versions among them.
const Every = "*"

// Test is the type of the event that an owner sends to see whether an endpoint works.
const Test = catalogue.Test

// Wants reports whether an endpoint for these events is told of one of type t.
func Wants(events []string, t event.Type) bool {
	return slices.Contains(events, string(t)) || slices.Contains(events, Every)
}

// CheckEvents refuses a list that is not "*" alone or types of events, each once. Fault: invalid_parameter.
func CheckEvents(events []string) error {
	if len(events) == 0 {
		return request.Invalid(`events: name the types of events to send, such as ["booking.created"], or ["*"] for all.`)
	}
	for i, e := range events {
		switch {
		case e == Every && len(events) > 1:
			return request.Invalid(`events: "*" stands for all types; leave the others out.`)
		case e != Every && !slices.Contains(event.Types(), event.Type(e)):
			return request.Invalid("events: there is no type %s; the types are %s.", request.Quoted(e), typesAsText())
		case slices.Contains(events[:i], e):
			return request.Invalid("events: %s stands twice.", e)
		}
	}
	return nil
}

func typesAsText() string {
	var names []string
	for _, t := range event.Types() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

// Customer is the address of the customer whose data an event holds, as the admin API shows it; "" for nobody's.
func Customer(e event.Event) (string, error) {
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

// NewSecret is a random secret.
func NewSecret() []byte {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// ShowSecret is a secret as its owner is shown it once, and as libraries of Standard Webhooks take it.
func ShowSecret(secret []byte) string {
	return secretPrefix + base64.StdEncoding.EncodeToString(secret)
}

// Sign sets the headers by which a receiver knows that body comes from us: the id of the event, which is the same over attempts, the
// time of the attempt, and a signature with each of the secrets (standardwebhooks.com).
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

// delays are the pauses after each attempt that failed; after the last one a delivery has failed.
var delays = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// retryAfterMax bounds what an answer's Retry-After may ask for.
const retryAfterMax = 24 * time.Hour

// jitterPart of a delay is added to it at most, so that what failed together is not tried again together.
const jitterPart = 10

// Next is the pause after so many failed attempts, at least as long as the answer asked for (0: it did not); false where the
// delivery has failed. jitter is a random number from 0 to below 1.
func Next(attempts int, retryAfter time.Duration, jitter float64) (time.Duration, bool) {
	if attempts > len(delays) {
		return 0, false
	}
	delay := delays[attempts-1]
	delay += time.Duration(jitter * float64(delay/jitterPart))
	return max(delay, min(retryAfter, retryAfterMax)), true
}

// RetryAfter reads a Retry-After header, in seconds or as a date; 0 where it says nothing.
func RetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
