package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fakeStripe is a fake of Stripe. It has one charge for each idempotency key, and can fail in the ways that the type
// `manner` lists.
type fakeStripe struct {
	*httptest.Server

	mu       sync.Mutex
	behavior behavior
	intents  map[string]*fakeIntent // by charge id
	byKey    map[string]*fakeIntent
	refunds  map[string][]*fakeRefund // by charge id

	sessions   map[string]*fakeSession // Checkout Sessions by id
	sessionFor map[string]*fakeSession // by idempotency key
	opened     func()                  // called after a session is created and before the response; may be nil
}

type fakeRefund struct {
	ID       string            `json:"id"`
	Object   string            `json:"object"`
	Amount   int64             `json:"amount"`
	Status   string            `json:"status"`
	Metadata map[string]string `json:"metadata"`
	key      string
}

type fakeIntent struct {
	ID           string            `json:"id"`
	ClientSecret string            `json:"client_secret"`
	Status       string            `json:"status"`
	Account      string            `json:"-"`
	Amount       string            `json:"-"`
	Currency     string            `json:"currency"`
	Metadata     map[string]string `json:"metadata,omitempty"`
}

// behavior selects how fakeStripe answers requests that create a charge or a refund.
type behavior int

const (
	answers         behavior = iota
	fails                    // 500, creates nothing
	refuses                  // 400, creates nothing
	throttles                // 429, creates nothing
	hangs                    // creates the object, sends no response
	breaks                   // creates the object, closes the connection
	answersNonsense          // creates the object, sends invalid JSON
)

func newFakeStripe(t *testing.T) *fakeStripe {
	t.Helper()
	f := &fakeStripe{intents: map[string]*fakeIntent{}, byKey: map[string]*fakeIntent{},
		refunds:  map[string][]*fakeRefund{},
		sessions: map[string]*fakeSession{}, sessionFor: map[string]*fakeSession{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/payment_intents", f.create)
	mux.HandleFunc("GET /v1/payment_intents/{id}", f.read)
	mux.HandleFunc("POST /v1/payment_intents/{id}/cancel", f.cancel)
	mux.HandleFunc("POST /v1/refunds", f.refund)
	mux.HandleFunc("GET /v1/refunds", f.listRefunds)
	f.handleSessions(mux)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeStripe) set(m behavior) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behavior = m
}

func (f *fakeStripe) create(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.mu.Lock()
	m := f.behavior
	var intent fakeIntent
	if m == answers || m >= hangs {
		intent = *f.findRefunds(r)
	}
	f.mu.Unlock()
	switch m {
	case answers:
		_ = json.NewEncoder(w).Encode(intent)
	case fails:
		stripeError(w, http.StatusInternalServerError, "api_error", "")
	case refuses:
		stripeError(w, http.StatusBadRequest, "invalid_request_error", "amount_too_small")
	case throttles:
		stripeError(w, http.StatusTooManyRequests, "invalid_request_error", "rate_limit")
	case hangs:
		<-r.Context().Done()
	case breaks:
		panic(http.ErrAbortHandler)
	case answersNonsense:
		_, _ = w.Write([]byte(`{"id":`))
	}
}

// refund returns the charge of the request's idempotency key, and creates it if there is none.
func (f *fakeStripe) findRefunds(r *http.Request) *fakeIntent {
	key := r.Header.Get("Idempotency-Key")
	if f.byKey[key] == nil {
		id := fmt.Sprintf("pi_%d", len(f.intents)+1)
		f.byKey[key] = &fakeIntent{
			ID: id, ClientSecret: id + "_secret_x", Status: "requires_payment_method",
			Account: r.Header.Get("Stripe-Account"), Amount: r.Form.Get("amount"), Currency: r.Form.Get("currency"),
		}
		f.intents[id] = f.byKey[key]
	}
	return f.byKey[key]
}

func (f *fakeStripe) read(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = json.NewEncoder(w).Encode(f.intents[r.PathValue("id")])
}

func (f *fakeStripe) cancel(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	intent := f.intents[r.PathValue("id")]
	switch {
	case intent == nil || intent.Account != r.Header.Get("Stripe-Account"):
		stripeError(w, http.StatusNotFound, "invalid_request_error", "resource_missing")
	case intent.Status != "requires_payment_method":
		stripeError(w, http.StatusBadRequest, "invalid_request_error", "payment_intent_unexpected_state")
	default:
		intent.Status = "canceled"
		_ = json.NewEncoder(w).Encode(intent)
	}
}

// refund makes one refund of a paid charge for each idempotency key, and never refunds more than was paid.
func (f *fakeStripe) refund(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.mu.Lock()
	m := f.behavior
	var refund *fakeRefund
	refusal := ""
	if m == answers || m >= hangs {
		refund, refusal = f.refundOnce(r)
	}
	f.mu.Unlock()
	switch {
	case m == fails:
		stripeError(w, http.StatusInternalServerError, "api_error", "")
	case m == refuses:
		stripeError(w, http.StatusBadRequest, "invalid_request_error", "charge_disputed")
	case m == throttles:
		stripeError(w, http.StatusTooManyRequests, "invalid_request_error", "rate_limit")
	case m == hangs:
		<-r.Context().Done()
	case m == breaks:
		panic(http.ErrAbortHandler)
	case m == answersNonsense:
		_, _ = w.Write([]byte(`{"id":`))
	case refusal != "":
		stripeError(w, http.StatusBadRequest, "invalid_request_error", refusal)
	default:
		_ = json.NewEncoder(w).Encode(refund)
	}
}

func (f *fakeStripe) refundOnce(r *http.Request) (*fakeRefund, string) {
	id, key := r.Form.Get("payment_intent"), r.Header.Get("Idempotency-Key")
	amount, _ := strconv.ParseInt(r.Form.Get("amount"), 10, 64)
	charge := f.intents[id]
	if charge == nil || charge.Account != r.Header.Get("Stripe-Account") || charge.Status != "succeeded" {
		return nil, "resource_missing"
	}
	left, _ := strconv.ParseInt(charge.Amount, 10, 64)
	for _, refund := range f.refunds[id] {
		if refund.key == key {
			return refund, ""
		}
		left -= refund.Amount
	}
	if amount <= 0 || amount > left {
		return nil, "charge_already_refunded"
	}
	refund := &fakeRefund{
		ID: fmt.Sprintf("re_%s_%d", id, len(f.refunds[id])+1), Object: "refund", Amount: amount, Status: "succeeded",
		key:      key,
		Metadata: map[string]string{"slotmesh_refund": r.Form.Get("metadata[slotmesh_refund]")},
	}
	f.refunds[id] = append(f.refunds[id], refund)
	return refund, ""
}

func (f *fakeStripe) listRefunds(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := append([]*fakeRefund{}, f.refunds[r.URL.Query().Get("payment_intent")]...)
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "has_more": false, "data": list})
}

// forgetKeys removes the idempotency keys of all refunds, as Stripe does after a day.
func (f *fakeStripe) forgetKeys() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, all := range f.refunds {
		for _, refund := range all {
			refund.key = ""
		}
	}
}

// sumRefunds returns the amounts of the refunds of a charge, in their order.
func (f *fakeStripe) sumRefunds(id string) []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var amounts []int64
	for _, refund := range f.refunds[id] {
		amounts = append(amounts, refund.Amount)
	}
	return amounts
}

func stripeError(w http.ResponseWriter, status int, kind, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error": {"type": %q, "code": %q, "message": "as told"}}`, kind, code)
}

// pay marks the charge as paid, as if the customer had paid it in the browser.
func (f *fakeStripe) pay(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.intents[id].Status = "succeeded"
}

// decline simulates a payment that the customer's bank declines. The charge does not change, so that the customer can
// try again.
func (f *fakeStripe) decline(t *testing.T, id string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if status := f.intents[id].Status; status != "requires_payment_method" {
		t.Errorf("the customer cannot try to pay: the charge is %s", status)
	}
}

// statuses returns the statuses of all charges, separated by spaces.
func (f *fakeStripe) statuses() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for i := range len(f.intents) {
		id := fmt.Sprintf("pi_%d", i+1)
		all = append(all, f.intents[id].Status)
	}
	return strings.Join(all, " ")
}
