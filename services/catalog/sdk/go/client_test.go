package slotmesh

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// script is a transport that returns prepared answers in order and stores the requests.
type script struct {
	answers []any // each is an error of the connection or an answer
	asked   []*http.Request
	bodies  []string
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	s.asked, s.bodies = append(s.asked, r), append(s.bodies, string(body))
	next := s.answers[0]
	s.answers = s.answers[1:]
	if err, broken := next.(error); broken {
		return nil, err
	}
	a := next.(answer)
	return &http.Response{StatusCode: a.status, Header: a.header.Clone(), Body: io.NopCloser(strings.NewReader(a.body)),
		Request: r}, nil
}

func refused(status int, code Code, retryAfter string) answer {
	return answer{status, http.Header{"Retry-After": {retryAfter}, "Traceparent": {"00-1-2-03"}},
		`{"error": "A sentence.", "messageCode": "` + string(code) + `"}`}
}

func (s *script) client(t *testing.T) *Client {
	t.Helper()
	c, err := New("https://book.example/", "harbor-studio", WithKey("sm_1"), WithHTTPClient(&http.Client{Transport: s}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var made = answer{201, http.Header{"Idempotent-Replayed": {"true"}},
	`{"success": true, "booking": {"id": "b1", "staff_id": null, "total": 36.5}, "paymentRequired": false}`}

func TestBookRetriesWithSameKeyUntilOutcomeIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []any{errors.New("the connection broke"), refused(503, CodeOutcomeUnknown, "7"),
			refused(409, CodeIdempotencyInProgress, "2"), made}}
		from := time.Now()
		booked, err := s.client(t).Book(t.Context(), "",
			BookingRequest{ServiceIDs: []string{"s1"}, Variants: List{"s1:v1"}})
		if err != nil || booked.Booking.ID != "b1" || booked.Booking.Total != 36.5 || booked.Booking.StaffID != "" ||
			!booked.Replayed {
			t.Fatalf("%+v, %v", booked, err)
		}
		if waited := time.Since(from); waited < 9*time.Second || waited > 10*time.Second {
			t.Errorf("the client waited %s; the answers requested 7 and 2 seconds", waited)
		}
		for i, r := range s.asked {
			key := r.Header.Get("Idempotency-Key")
			if key == "" || key != s.asked[0].Header.Get("Idempotency-Key") || s.bodies[i] != s.bodies[0] ||
				r.Header.Get("Authorization") != "Bearer sm_1" {
				t.Errorf("request %d: %v %s", i, r.Header, s.bodies[i])
			}
		}
		if want := `{"customer_email":"","customer_name":"","date":"","service_ids":["s1"],"time":"","variants":["s1:v1"]}`; s.bodies[0] != want {
			t.Errorf("the client sent %s, want %s", s.bodies[0], want)
		}
	})
}

func TestClientDoesNotRetryPermanentFailures(t *testing.T) {
	t.Parallel()
	for code, status := range map[Code]int{
		CodeSlotUnavailable: 409, CodeInvalidAPIKey: 401, CodeInvalidParameter: 400, CodeNotAcceptingBookings: 403,
		CodeIdempotencyMismatch: 422, CodeInternal: 500,
	} {
		s := &script{answers: []any{refused(status, code, "")}}
		_, err := s.client(t).Book(t.Context(), "mine", BookingRequest{})
		var told *Error
		if !errors.Is(err, code) || !errors.As(err, &told) || told.Status != status || told.Message != "A sentence." ||
			told.Trace != "00-1-2-03" {
			t.Errorf("%s: %v", code, err)
		}
		if len(s.asked) != 1 || s.asked[0].Header.Get("Idempotency-Key") != "mine" || OutcomeUnknown(err) {
			t.Errorf("%s: asked %d times, outcome unknown: %t", code, len(s.asked), OutcomeUnknown(err))
		}
	}
}

// TestRetriesStopAtDeadline shows that the client does not wait if the deadline is before the next attempt. A
// wait ends when the context is cancelled.
func TestRetriesStopAtDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		for _, seconds := range []string{"20", "3600"} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			s := &script{answers: []any{refused(503, CodeServiceUnavailable, seconds)}}
			var told *Error
			if _, err := s.client(t).GetInfo(ctx); !errors.As(err, &told) || told.RetryAfter == 0 {
				t.Errorf("%v", err)
			}
			cancel()
		}
		if waited := time.Since(from); waited != 0 {
			t.Errorf("the client waited %s", waited)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second, cancel)
		s := &script{answers: []any{refused(429, CodeRateLimited, "5")}}
		if _, err := s.client(t).GetInfo(ctx); !errors.Is(err, CodeRateLimited) || !errors.Is(err, context.Canceled) ||
			time.Since(from) != 2*time.Second {
			t.Errorf("%v after %s", err, time.Since(from))
		}
	})
}

func TestClientReturnsLastErrorAfterMaxAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad := answer{502, http.Header{}, "<html>Bad gateway</html>"}
		s := &script{answers: []any{bad, bad, bad, bad, made}}
		_, err := s.client(t).Book(t.Context(), "", BookingRequest{})
		var told *Error
		if !errors.As(err, &told) || told.Status != 502 || told.Code != "" || len(s.asked) != 4 ||
			!OutcomeUnknown(err) {
			t.Errorf("%v after %d requests", err, len(s.asked))
		}
	})
}

// TestKeyIsSentToConfiguredAddressOnly shows that the API key is sent to the configured address only, not to the target
// of a redirect. Requests that only read do not send the key.
func TestKeyIsSentToConfiguredAddressOnly(t *testing.T) {
	t.Parallel()
	s := &script{answers: []any{answer{307, http.Header{"Location": {"https://elsewhere.example/"}}, ""},
		answer{200, http.Header{}, "{}"}}}
	c := s.client(t)
	if _, err := c.Book(t.Context(), "", BookingRequest{}); err == nil {
		t.Error("the client accepts a redirect as a booking")
	}
	if _, err := c.ListServices(t.Context(), ListServicesParams{Locale: "pt"}); err != nil {
		t.Error(err)
	}
	if len(s.asked) != 2 || s.asked[1].Header.Get("Authorization") != "" ||
		s.asked[1].URL.String() != "https://book.example/api/public/harbor-studio/services?locale=pt" {
		t.Errorf("the server got %d requests, the last one %s %v", len(s.asked), s.asked[1].URL, s.asked[1].Header)
	}
	for _, wrong := range [][2]string{{"book.example", "salon"}, {"https://book.example?x=1", "salon"},
		{"https://book.example", "../admin"}, {"https://book.example", ""}} {
		if _, err := New(wrong[0], wrong[1]); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
