package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeSession is a Checkout Session of fakeStripe.
type fakeSession struct {
	ID            string `json:"id"`
	URL           string `json:"url"`
	Status        string `json:"status"`
	PaymentStatus string `json:"payment_status"`
	PaymentIntent string `json:"payment_intent,omitempty"`
	Account       string `json:"-"`
	params        map[string]string
}

func (f *fakeStripe) handleSessions(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/checkout/sessions", f.createSession)
	mux.HandleFunc("GET /v1/checkout/sessions/{id}", f.readSession)
	mux.HandleFunc("POST /v1/checkout/sessions/{id}/expire", f.expireSession)
}

// createSession creates one session for each idempotency key. It returns an error if a key is used again with other
// parameters.
func (f *fakeStripe) createSession(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.mu.Lock()
	defer f.mu.Unlock()
	req := map[string]string{}
	for name := range r.Form {
		req[name] = r.Form.Get(name)
	}
	key := r.Header.Get("Idempotency-Key")
	session := f.sessionFor[key]
	switch {
	case f.behavior == fails:
		stripeError(w, http.StatusInternalServerError, "api_error", "")
		return
	case session != nil && !cmp.Equal(session.params, req):
		stripeError(w, http.StatusBadRequest, "idempotency_error", "")
		return
	case session == nil:
		id := fmt.Sprintf("cs_%d", len(f.sessions)+1)
		session = &fakeSession{ID: id, URL: "https://checkout.stripe.example/" + id, Status: "open", PaymentStatus: "unpaid",
			Account: r.Header.Get("Stripe-Account"), params: req}
		f.sessionFor[key], f.sessions[id] = session, session
	}
	if f.behavior == breaks {
		panic(http.ErrAbortHandler)
	}
	if f.opened != nil {
		f.opened()
	}
	_ = json.NewEncoder(w).Encode(session)
}

func (f *fakeStripe) readSession(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = json.NewEncoder(w).Encode(f.sessions[r.PathValue("id")])
}

func (f *fakeStripe) expireSession(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[r.PathValue("id")]
	switch {
	case s == nil || s.Account != r.Header.Get("Stripe-Account"):
		stripeError(w, http.StatusNotFound, "invalid_request_error", "resource_missing")
	case s.Status != "open":
		stripeError(w, http.StatusBadRequest, "invalid_request_error", "")
	default:
		s.Status = "expired"
		_ = json.NewEncoder(w).Encode(s)
	}
}

// checkOut pays the session, as the customer does on Stripe's page.
func (f *fakeStripe) checkOut(t *testing.T, id string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[id]
	if s.Status != "open" {
		t.Errorf("the customer cannot pay: the page is %s", s.Status)
		return
	}
	amount, _ := strconv.Atoi(s.params["line_items[0][price_data][unit_amount]"])
	intentID := "pi_of_" + id
	metadata := map[string]string{}
	for name, value := range s.params {
		if of, ok := strings.CutPrefix(name, "payment_intent_data[metadata]["); ok {
			metadata[strings.TrimSuffix(of, "]")] = value
		}
	}
	f.intents[intentID] = &fakeIntent{
		ID: intentID, Status: "succeeded", Account: s.Account, Amount: strconv.Itoa(amount),
		Currency: s.params["line_items[0][price_data][currency]"], Metadata: metadata,
	}
	s.Status, s.PaymentStatus, s.PaymentIntent = "complete", "paid", intentID
}

func (f *fakeStripe) page(id string) fakeSession {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[id]; s != nil {
		return *s
	}
	return fakeSession{}
}
