package stripe_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/stripe"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

func newAdapter(t *testing.T, url string) *stripe.Stripe {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return stripe.New("sk_test_123", "whsec_x", url, transport)
}

func newCharge(t *testing.T, amount int64, code string) payment.Charge {
	t.Helper()
	currency, err := money.ParseCurrency(code)
	if err != nil {
		t.Fatal(err)
	}
	return payment.Charge{Subject: payment.Subject{BusinessID: uuid.New(), Kind: event.Booking, ID: uuid.New()},
		Account: "acct_1", Amount: amount, Currency: currency}
}

// TestRequestsMatchStripeSpecification sends each request about a charge to stripe-mock, which checks it by
// Stripe's OpenAPI description.
func TestRequestsMatchStripeSpecification(t *testing.T) {
	t.Parallel()
	s := newAdapter(t, testkit.StartStripeMock(t).URL)
	c := newCharge(t, 4000, "EUR")
	intent, err := s.Create(t.Context(), c)
	if err != nil || !strings.HasPrefix(intent.Reference, "pi_") || intent.ClientSecret == "" {
		t.Fatalf("got %+v, %v", intent, err)
	}
	if second, err := s.Open(t.Context(), c.Account, intent.Reference); err != nil ||
		second.Reference != intent.Reference || second.ClientSecret == "" {
		t.Errorf("opened once more: %+v, %v", second, err)
	}
	if outcome, err := s.Supersede(t.Context(), c.Account, intent.Reference); err != nil ||
		outcome != payment.Cancelled {
		t.Errorf("superseding gave %q, %v", outcome, err)
	}
	if outcome, err := s.Cancel(t.Context(), c.Account, intent.Reference); err != nil || outcome != payment.Cancelled {
		t.Errorf("cancelling gave %q, %v", outcome, err)
	}
	refund := payment.Refund{Charge: c, Reference: intent.Reference, Number: 1}
	refund.Amount = 1250
	if got, err := s.Refund(t.Context(), refund); err != nil || got.Status != payment.RefundRefunded {
		t.Errorf("the refund is %+v, %v", got, err)
	}
}

// TestCheckoutMatchesStripeSpecification sends each request about a Checkout Session to stripe-mock, which checks it
// by Stripe's OpenAPI description.
func TestCheckoutMatchesStripeSpecification(t *testing.T) {
	t.Parallel()
	s := newAdapter(t, testkit.StartStripeMock(t).URL)
	c := newCharge(t, 4000, "EUR")
	c.Checkout = &payment.Checkout{Name: "Haircut", SuccessURL: "https://book.example/m/x?payment=done",
		CancelURL: "https://book.example/m/x?payment=open", ExpiresAt: time.Now().Add(time.Hour)}
	page, err := s.Create(t.Context(), c)
	if err != nil || !strings.HasPrefix(page.Reference, "cs_") || !strings.HasPrefix(page.URL, "https://") ||
		page.ClientSecret != "" {
		t.Fatalf("got %+v, %v", page, err)
	}
	if second, err := s.Open(t.Context(), c.Account, page.Reference); err != nil || second != page {
		t.Errorf("opened once more: %+v, %v", second, err)
	}
	if outcome, err := s.Cancel(t.Context(), c.Account, page.Reference); err != nil || outcome != payment.Cancelled {
		t.Errorf("expiring gave %q, %v", outcome, err)
	}
}

// TestAmountsUseStripeUnits checks the special currencies of docs.stripe.com/currencies.
func TestAmountsUseStripeUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code       string
		due        int64 // in the minor unit of ISO 4217
		chargeable int64 // in the same unit; 0: refused
		sent       string
	}{
		{"EUR", 4050, 4050, "4050"},
		{"JPY", 1500, 1500, "1500"},
		{"KRW", 1, 1, "1"},
		{"HUF", 12345, 12345, "12345"},
		{"ISK", 500, 500, "50000"}, // no decimals in ISO 4217, two decimals at Stripe, always 0
		{"UGX", 5, 5, "500"},
		{"MGA", 1250, 1200, "12"}, // two decimals in ISO 4217, none at Stripe
		{"MGA", 99, 0, ""},
		{"KWD", 5124, 5120, "5120"}, // the last digit must be 0
		{"BHD", 9, 0, ""},
		{"IQD", 5000, 0, ""}, // Stripe does not support it
		{"CLF", 5000, 0, ""},
	} {
		var sent string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent = r.FormValue("amount")
			_, _ = w.Write([]byte(`{"id": "pi_1", "client_secret": "x"}`))
		}))
		s := newAdapter(t, server.URL)
		req := newCharge(t, c.due, c.code)
		got, err := s.RoundChargeable(c.due, req.Currency)
		if got != c.chargeable || errors.Is(err, payment.ErrRefused) != (c.chargeable == 0) {
			t.Errorf("%s %d: %d can be charged (%v), want %d", c.code, c.due, got, err, c.chargeable)
		}
		if c.chargeable != 0 {
			req.Amount = got
			if _, err := s.Create(t.Context(), req); err != nil || sent != c.sent {
				t.Errorf("%s %d is sent as %s (%v), want %s", c.code, c.due, sent, err, c.sent)
			}
		}
		server.Close()
	}
}

func TestBookingIDIsIdempotencyKey(t *testing.T) {
	t.Parallel()
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		_, _ = w.Write([]byte(`{"id": "pi_1", "client_secret": "x"}`))
	}))
	t.Cleanup(server.Close)
	c := newCharge(t, 4000, "EUR")
	if _, err := newAdapter(t, server.URL).Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if header.Get("Idempotency-Key") != c.ID.String() || header.Get("Stripe-Account") != "acct_1" ||
		header.Get("Authorization") != "Bearer sk_test_123" {
		t.Errorf("sent %v", header)
	}
}

// TestOnlyFinalRefusalIsErrRefused shows which responses of Stripe mean that certainly no charge was created.
func TestOnlyFinalRefusalIsErrRefused(t *testing.T) {
	t.Parallel()
	for answer, wasRefused := range map[string]bool{
		"400 invalid_request_error": true, "402 card_error": true, "404 invalid_request_error": true,
		"400 idempotency_error": false, "401 invalid_request_error": false, "403 invalid_request_error": false,
		"409 idempotency_error": false, "429 invalid_request_error": false, "500 api_error": false,
	} {
		status, kind, _ := strings.Cut(answer, " ")
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			code := map[string]int{"400": 400, "401": 401, "402": 402, "403": 403, "404": 404, "409": 409, "429": 429,
				"500": 500}[status]
			w.WriteHeader(code)
			_, _ = w.Write([]byte(`{"error": {"type": "` + kind + `", "message": "said of ada@example.com"}}`))
		}))
		_, err := newAdapter(t, server.URL).Create(t.Context(), newCharge(t, 4000, "EUR"))
		if err == nil || errors.Is(err, payment.ErrRefused) != wasRefused {
			t.Errorf("%s: refused is %t, want %t: %v", answer, errors.Is(err, payment.ErrRefused), wasRefused, err)
		}
		if err != nil && strings.Contains(err.Error(), "ada@example.com") {
			t.Errorf("%s: the error repeats Stripe's message", answer)
		}
		server.Close()
	}
}

func TestReadNoticeRequiresSignature(t *testing.T) {
	t.Parallel()
	unsigned := func(string) string { return "t=1,v1=00" }
	if _, err := newAdapter(t, "").ReadNotice([]byte(`{}`), unsigned); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("got %v", err)
	}
}
