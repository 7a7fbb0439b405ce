package stripe_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v86/webhook"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// fakeRefunds is a fake of Stripe's refund API. It lists the refunds in `listed` and records the requests to create a
// refund.
type fakeRefunds struct {
	listed    string // JSON objects, separated by commas
	status    int    // HTTP code of the response to a new refund
	answer    string
	creations []url.Values
	key       string
}

func (f *fakeRefunds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	if r.Method == http.MethodGet {
		_, _ = fmt.Fprintf(w, `{"object": "list", "has_more": false, "data": [%s]}`, f.listed)
		return
	}
	f.creations, f.key = append(f.creations, r.PostForm), r.Header.Get("Idempotency-Key")
	w.WriteHeader(f.status)
	_, _ = w.Write([]byte(f.answer))
}

func makeTestRefund(t *testing.T, f *fakeRefunds) (payment.RefundState, error) {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return newAdapter(t, server.URL).Refund(t.Context(), payment.Refund{
		Charge: payment.Charge{
			Subject: payment.Subject{Kind: event.Booking, ID: uuid.MustParse("11111111-1111-4111-8111-111111111111")},
			Account: "acct_1",
			Amount:  1250, Currency: money.Currency{Code: "EUR", Digits: 2},
		},
		Reference: "pi_1", Number: 2,
	})
}

// TestRefundIsMadeOnce shows that Refund first looks for a refund with its number, and creates one only if there is
// none. The idempotency key is not enough, because Stripe forgets it.
func TestRefundIsMadeOnce(t *testing.T) {
	t.Parallel()
	const other = `{"id": "re_1", "object": "refund", "status": "succeeded", "metadata": {"slotmesh_refund": "1"}}, {"id": "re_9", "object": "refund", "status": "succeeded", "metadata": {}}`
	for name, c := range map[string]struct {
		listed string
		status int
		answer string
		count  int
		want   payment.RefundState
	}{
		"made": {other, 200, `{"id": "re_2", "status": "succeeded"}`, 1,
			payment.RefundState{Status: payment.RefundRefunded}},
		"on its way": {"", 200, `{"id": "re_2", "status": "pending"}`, 1,
			payment.RefundState{Status: payment.RefundPending}},
		"to be helped": {"", 200, `{"id": "re_2", "status": "requires_action"}`, 1,
			payment.RefundState{Status: payment.RefundPending}},
		"failed": {"", 200, `{"id": "re_2", "status": "failed", "failure_reason": "lost_or_stolen_card"}`, 1,
			payment.RefundState{Status: payment.RefundRefused, Reason: "lost_or_stolen_card"}},
		"disputed": {"", 400,
			`{"error": {"type": "invalid_request_error", "code": "charge_disputed", "message": "x"}}`, 1,
			payment.RefundState{Status: payment.RefundRefused, Reason: "charge_disputed"}},
		"of no code": {"", 400, `{"error": {"type": "invalid_request_error", "message": "x"}}`, 1,
			payment.RefundState{Status: payment.RefundRefused, Reason: "invalid_request_error"}},
		"there already": {other +
			`, {"id": "re_2", "object": "refund", "status": "succeeded", "metadata": {"slotmesh_refund": "2"}}`, 500,
			``, 0, payment.RefundState{Status: payment.RefundRefunded}},
		"there, failed": {`{"id": "re_2", "object": "refund", "status": "canceled", "metadata": {"slotmesh_refund": "2"}}`, 500, ``, 0, payment.RefundState{Status: payment.RefundRefused, Reason: "canceled"}},
	} {
		f := &fakeRefunds{listed: c.listed, status: c.status, answer: c.answer}
		got, err := makeTestRefund(t, f)
		if err != nil || got != c.want || len(f.creations) != c.count {
			t.Errorf("%s: %+v, %v after %d were made; want %+v after %d", name, got, err, len(f.creations), c.want, c.count)
		}
		if c.count == 0 {
			continue
		}
		want := url.Values{
			"payment_intent": {"pi_1"}, "amount": {"1250"}, "metadata[slotmesh_refund]": {"2"},
			"metadata[slotmesh_business]": {uuid.Nil.String()},
			"metadata[slotmesh_booking]":  {"11111111-1111-4111-8111-111111111111"},
		}
		if diff := cmp.Diff(want, f.creations[0]); diff != "" || f.key != "refund-11111111-1111-4111-8111-111111111111-2" {
			t.Errorf("%s: under %s (-want +got):\n%s", name, f.key, diff)
		}
	}
}

// TestInvalidAnswerLeavesRefundUnknown shows that Refund returns an error if Stripe fails in a way after which
// the refund may exist.
func TestInvalidAnswerLeavesRefundUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []fakeRefunds{
		{status: 500, answer: `{"error": {"type": "api_error"}}`},
		{status: 429, answer: `{"error": {"type": "invalid_request_error", "code": "rate_limit"}}`},
		{status: 409, answer: `{"error": {"type": "idempotency_error"}}`},
		{status: 401, answer: `{"error": {"type": "invalid_request_error"}}`},
		{status: 200, answer: `{"id":`},
	} {
		if got, err := makeTestRefund(t, &c); err == nil {
			t.Errorf("%d %s gives %+v", c.status, c.answer, got)
		}
	}
}

func TestRefundNoticeHasNumber(t *testing.T) {
	t.Parallel()
	s := newAdapter(t, "")
	for event, want := range map[string]payment.Notice{
		`"refund.failed", "data": {"object": {"id": "re_2", "object": "refund", "payment_intent": "pi_1", "status": "failed", "failure_reason": "unknown", "metadata": {"slotmesh_refund": "2"}}}`: {
			Account: "acct_1", Reference: "pi_1",
			Refund: &payment.RefundNotice{Number: 2, RefundState: payment.RefundState{Status: payment.RefundRefused,
				Reason: "unknown"}},
		},
		`"refund.updated", "data": {"object": {"id": "re_2", "object": "refund", "payment_intent": "pi_1", "status": "succeeded", "metadata": {"slotmesh_refund": "1"}}}`: {
			Account: "acct_1", Reference: "pi_1",
			Refund: &payment.RefundNotice{Number: 1, RefundState: payment.RefundState{Status: payment.RefundRefunded}},
		},
		`"refund.updated", "data": {"object": {"id": "re_2", "object": "refund", "payment_intent": "pi_1", "status": "succeeded", "metadata": {}}}`: {Account: "acct_1", Reference: "pi_1", HasChangedRefunds: true},
		`"charge.refunded", "data": {"object": {"id": "ch_1", "object": "charge", "payment_intent": "pi_1", "amount_refunded": 500}}`: {
			Account: "acct_1", Reference: "pi_1", HasChangedRefunds: true,
		},
		`"charge.dispute.created", "data": {"object": {"id": "dp_1", "object": "dispute", "payment_intent": "pi_1", "status": "needs_response", "reason": "fraudulent"}}`: {
			Account: "acct_1", Reference: "pi_1", Dispute: &payment.Dispute{Status: payment.DisputeOpen,
				Reason: "fraudulent"},
		},
		`"charge.dispute.closed", "data": {"object": {"id": "dp_1", "object": "dispute", "payment_intent": "pi_1", "status": "lost", "reason": "fraudulent"}}`: {
			Account: "acct_1", Reference: "pi_1", Dispute: &payment.Dispute{Status: payment.DisputeLost,
				Reason: "fraudulent"},
		},
		`"charge.dispute.created", "data": {"object": {"id": "dp_1", "object": "dispute", "payment_intent": "pi_1", "status": "warning_needs_response"}}`: {},
		`"refund.updated", "data": {"object": {"id": "re_2", "object": "refund", "status": "succeeded", "metadata": {"slotmesh_refund": "1"}}}`:           {},
	} {
		body := []byte(`{"id": "evt_1", "object": "event", "account": "acct_1", "type": ` + event + `}`)
		signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: "whsec_x"})
		got, err := s.ReadNotice(body, func(string) string { return signed.Header })
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", event, err, diff)
		}
	}
}
