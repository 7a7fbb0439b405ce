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

// fakeStripe keeps charges as Stripe does, one for each idempotency key, and fails as it is told to.
type fakeStripe struct {
	*httptest.Server

	mu      sync.Mutex
	manner  manner
	intents map[string]*intent // by id
	byKey   map[string]*intent
	refunds map[string][]*refunded // by the id of the charge

	sessions   map[string]*session // Checkout Sessions, by id
	sessionFor map[string]*session // by idempotency key
	opened     func()              // is called where a session is open, before that is answered; may be nil
}

// refunded is a refund of a charge.
type refunded struct {
	ID       string            `json:"id"`
	Object   string            `json:"object"`
	Amount   int64             `json:"amount"`
	Status   string            `json:"status"`
	Metadata map[string]string `json:"metadata"`
	key      string
}

type intent struct {
	ID           string            `json:"id"`
	ClientSecret string            `json:"client_secret"`
	Status       string            `json:"status"`
	Account      string            `json:"-"`
	Amount       string            `json:"-"`
	Currency     string            `json:"currency"`
	Metadata     map[string]string `json:"metadata,omitempty"`
}

// manner is how a request to create a charge is answered.
type manner int

const (
	answers         manner = iota
	fails                  // 500, nothing is created
	refuses                // 400, nothing is created
	throttles              // 429
	hangs                  // until the caller has gone; the charge is created
	breaks                 // the charge is created, the connection breaks
	answersNonsense        // the charge is created
)

func newFakeStripe(t *testing.T) *fakeStripe {
	t.Helper()
	f := &fakeStripe{intents: map[string]*intent{}, byKey: map[string]*intent{}, refunds: map[string][]*refunded{},
		sessions: map[string]*session{}, sessionFor: map[string]*session{}}
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

func (f *fakeStripe) set(m manner) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.manner = m
}

func (f *fakeStripe) create(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.mu.Lock()
	m := f.manner
	var made intent
	if m == answers || m >= hangs {
		made = *f.made(r)
	}
	f.mu.Unlock()
	switch m {
	case answers:
		_ = json.NewEncoder(w).Encode(made)
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

// made is the charge of the request's idempotency key.
func (f *fakeStripe) made(r *http.Request) *intent {
	key := r.Header.Get("Idempotency-Key")
	if f.byKey[key] == nil {
		id := fmt.Sprintf("pi_%d", len(f.intents)+1)
		f.byKey[key] = &intent{
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
	made := f.intents[r.PathValue("id")]
	switch {
	case made == nil || made.Account != r.Header.Get("Stripe-Account"):
		stripeError(w, http.StatusNotFound, "invalid_request_error", "resource_missing")
	case made.Status != "requires_payment_method":
		stripeError(w, http.StatusBadRequest, "invalid_request_error", "payment_intent_unexpected_state")
	default:
		made.Status = "canceled"
		_ = json.NewEncoder(w).Encode(made)
	}
}

// refund gives back what is asked for of a charge that was paid, once for each idempotency key and never more than was
// paid.
func (f *fakeStripe) refund(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.mu.Lock()
	m := f.manner
	var made *refunded
	refusal := ""
	if m == answers || m >= hangs {
		made, refusal = f.refundOnce(r)
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
		_ = json.NewEncoder(w).Encode(made)
	}
}

func (f *fakeStripe) refundOnce(r *http.Request) (*refunded, string) {
	id, key := r.Form.Get("payment_intent"), r.Header.Get("Idempotency-Key")
	amount, _ := strconv.ParseInt(r.Form.Get("amount"), 10, 64)
	charge := f.intents[id]
	if charge == nil || charge.Account != r.Header.Get("Stripe-Account") || charge.Status != "succeeded" {
		return nil, "resource_missing"
	}
	left, _ := strconv.ParseInt(charge.Amount, 10, 64)
	for _, made := range f.refunds[id] {
		if made.key == key {
			return made, ""
		}
		left -= made.Amount
	}
	if amount <= 0 || amount > left {
		return nil, "charge_already_refunded"
	}
	made := &refunded{
		ID: fmt.Sprintf("re_%s_%d", id, len(f.refunds[id])+1), Object: "refund", Amount: amount, Status: "succeeded",
		key:      key,
		Metadata: map[string]string{"slotmesh_refund": r.Form.Get("metadata[slotmesh_refund]")},
	}
	f.refunds[id] = append(f.refunds[id], made)
	return made, ""
}

func (f *fakeStripe) listRefunds(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := append([]*refunded{}, f.refunds[r.URL.Query().Get("payment_intent")]...)
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "has_more": false, "data": list})
}

// forget loses all idempotency keys of refunds, as Stripe does after a day.
func (f *fakeStripe) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, all := range f.refunds {
		for _, made := range all {
			made.key = ""
		}
	}
}

// given is what went back of a charge, refund by refund.
func (f *fakeStripe) given(id string) []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var amounts []int64
	for _, made := range f.refunds[id] {
		amounts = append(amounts, made.Amount)
	}
	return amounts
}

func stripeError(w http.ResponseWriter, status int, kind, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error": {"type": %q, "code": %q, "message": "as told"}}`, kind, code)
}

// pay is what the customer's browser does.
func (f *fakeStripe) pay(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.intents[id].Status = "succeeded"
}

// decline is what becomes of an attempt to pay that the customer's bank does not allow: the charge waits for another
// one.
func (f *fakeStripe) decline(t *testing.T, id string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if status := f.intents[id].Status; status != "requires_payment_method" {
		t.Errorf("the customer cannot try to pay: the charge is %s", status)
	}
}

// statuses says, in one line, what has become of all charges.
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
