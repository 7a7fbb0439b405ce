package slotmesh

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The constants are the example in the specification of Standard Webhooks.
const (
	knownSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	knownID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	knownBody      = `{"test": 2432232314}`
	knownSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

var knownAt = time.Unix(1614265330, 0)

func told(signature, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/hooks", strings.NewReader(body))
	r.Header.Set("webhook-id", knownID)
	r.Header.Set("webhook-timestamp", "1614265330")
	r.Header.Set("webhook-signature", signature)
	return r
}

func TestReadWebhookRejectsInvalidSignatures(t *testing.T) {
	t.Parallel()
	for _, signature := range []string{knownSignature, "v1,AAAA " + knownSignature, "v2,AAAA  " + knownSignature} {
		event, err := ReadWebhook(knownSecret, told(signature, knownBody), knownAt.Add(4*time.Minute))
		if err != nil || event.ID != knownID {
			t.Errorf("%s: %+v, %v", signature, event, err)
		}
	}
	for name, c := range map[string]struct {
		secret, signature, body string
		at                      time.Time
		want                    error
	}{
		"another body":     {knownSecret, knownSignature, knownBody + " ", knownAt, ErrWebhookSignature},
		"another secret":   {"whsec_AAAA", knownSignature, knownBody, knownAt, ErrWebhookSignature},
		"another version":  {knownSecret, "v2" + knownSignature[2:], knownBody, knownAt, ErrWebhookSignature},
		"no signature":     {knownSecret, "", knownBody, knownAt, ErrWebhookSignature},
		"an old one":       {knownSecret, knownSignature, knownBody, knownAt.Add(6 * time.Minute), ErrWebhookAge},
		"one of tomorrow":  {knownSecret, knownSignature, knownBody, knownAt.Add(-6 * time.Minute), ErrWebhookAge},
		"no secret":        {"", knownSignature, knownBody, knownAt, nil},
		"an empty secret":  {"whsec_", knownSignature, knownBody, knownAt, nil},
		"what is too long": {knownSecret, knownSignature, strings.Repeat(" ", webhookMost+1), knownAt, nil},
	} {
		if _, err := ReadWebhook(c.secret, told(c.signature, c.body), c.at); err == nil || c.want != nil &&
			!errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
