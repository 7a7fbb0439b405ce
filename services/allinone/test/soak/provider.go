package soak

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const webhookSecret = "whsec_soak"

// provider is a fake of Stripe's API that stores its charges, unlike stripe-mock. It finds a charge by its idempotency
// key. While a fault disturbs the provider, the fake executes some calls and then hangs, answers 500 or breaks off the
// answer. It refuses other calls with 429. Unlike Stripe, this fake does not answer 500 again to a retry with the same
// key.
type provider struct {
	server  *http.Server
	address string

	mu      sync.Mutex
	rng     *rand.Rand
	isIll   bool
	charges map[string]*charge // all charges, by reference
	byKey   map[string]*charge // the same charges, by idempotency key
	notices []string           // references of the payments whose notification is not delivered yet
	ended   chan struct{}
}

// checkoutURL is the prefix of the URLs of the provider's payment pages.
const checkoutURL = "https://checkout.soak/"

// charge is a PaymentIntent of Stripe, or a Checkout Session with its PaymentIntent.
type charge struct {
	reference string
	subject   string // ID of the booking, ticket order or reservation
	amount    int64
	status    string // requires_payment_method, succeeded or canceled
	refunded  int64
	refunds   []object
}

func startProvider(rng *rand.Rand) (*provider, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &provider{
		address: "http://" + listener.Addr().String(), rng: rng, charges: map[string]*charge{},
		byKey: map[string]*charge{}, ended: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/payment_intents", p.newHandler(p.create))
	mux.HandleFunc("GET /v1/payment_intents/{reference}", p.newHandler(p.read))
	mux.HandleFunc("POST /v1/payment_intents/{reference}/cancel", p.newHandler(p.cancel))
	mux.HandleFunc("POST /v1/checkout/sessions", p.newHandler(p.create))
	mux.HandleFunc("GET /v1/checkout/sessions/{reference}", p.newHandler(p.read))
	mux.HandleFunc("POST /v1/checkout/sessions/{reference}/expire", p.newHandler(p.cancel))
	mux.HandleFunc("POST /v1/refunds", p.newHandler(p.refund))
	mux.HandleFunc("GET /v1/refunds", p.newHandler(p.listRefunds))
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

func (p *provider) close() {
	close(p.ended)
	_ = p.server.Close()
}

func (p *provider) setIll(ill bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isIll = ill
}

// newHandler returns a handler that sends the result of the function `call`. While a fault disturbs the provider, the
// handler sometimes simulates a fault, which it chooses randomly.
func (p *provider) newHandler(call func(r *http.Request) (int, object)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm() // a form that cannot be read has no values
		p.mu.Lock()
		way := 100
		if p.isIll {
			way = p.rng.IntN(8)
		}
		if way == 0 {
			p.mu.Unlock()
			writeAnswer(w, http.StatusTooManyRequests, newErrorObject("rate_limit_error", "rate_limit"))
			return
		}
		status, body := call(r)
		p.mu.Unlock()
		switch way {
		case 1, 2: // the provider executes the call, but then hangs instead of answering
			select {
			case <-r.Context().Done():
			case <-p.ended:
			}
		case 3:
			writeAnswer(w, http.StatusInternalServerError, newErrorObject("api_error", ""))
		case 4: // the provider executes the call, but then breaks off the answer
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"id": "pi_`)
			panic(http.ErrAbortHandler)
		default:
			writeAnswer(w, status, body)
		}
	}
}

func writeAnswer(w http.ResponseWriter, status int, body object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func newErrorObject(kind, code string) object {
	return object{"error": object{"type": kind, "code": code, "message": "no"}}
}

// isSession reports whether the charge is a Checkout Session, which is paid on the provider's page.
func (c *charge) isSession() bool { return strings.HasPrefix(c.reference, "cs_") }

// intentReference returns the reference of the charge's PaymentIntent, which refunds of the charge use.
func (c *charge) intentReference() string {
	if c.isSession() {
		return "pi_of_" + c.reference
	}
	return c.reference
}

func (c *charge) toObject() object {
	if !c.isSession() {
		return object{
			"id": c.reference, "object": "payment_intent", "amount": c.amount, "currency": "eur", "status": c.status,
			"client_secret": c.reference + "_secret",
		}
	}
	session := object{"id": c.reference, "object": "checkout.session", "status": "open", "payment_status": "unpaid",
		"url": checkoutURL + c.reference}
	switch c.status {
	case "canceled":
		session["status"], session["url"] = "expired", nil
	case "succeeded":
		session["status"], session["payment_status"], session["url"], session["payment_intent"] = "complete", "paid",
			nil, c.intentReference()
	}
	return session
}

func (p *provider) create(r *http.Request) (int, object) {
	key := r.Header.Get("Idempotency-Key")
	if c := p.byKey[key]; c != nil {
		return http.StatusOK, c.toObject()
	}
	c := &charge{reference: fmt.Sprintf("pi_%d", len(p.charges)), status: "requires_payment_method"}
	amount := r.Form.Get("amount")
	if strings.HasSuffix(r.URL.Path, "/sessions") {
		c.reference, amount = fmt.Sprintf("cs_%d", len(p.charges)), r.Form.Get("line_items[0][price_data][unit_amount]")
	}
	c.subject = cmp.Or(r.Form.Get("metadata[slotmesh_booking]"), r.Form.Get("metadata[slotmesh_ticket]"),
		r.Form.Get("metadata[slotmesh_reservation]"))
	_, _ = fmt.Sscan(amount, &c.amount)
	p.charges[c.reference], p.byKey[key] = c, c
	return http.StatusOK, c.toObject()
}

// findByIntent returns the charge with the given reference of a PaymentIntent, or nil.
func (p *provider) findByIntent(intent string) *charge {
	return p.charges[strings.TrimPrefix(intent, "pi_of_")]
}

func (p *provider) read(r *http.Request) (int, object) {
	c := p.charges[r.PathValue("reference")]
	if c == nil {
		return http.StatusNotFound, newErrorObject("invalid_request_error", "resource_missing")
	}
	return http.StatusOK, c.toObject()
}

func (p *provider) cancel(r *http.Request) (int, object) {
	c := p.charges[r.PathValue("reference")]
	switch {
	case c == nil:
		return http.StatusNotFound, newErrorObject("invalid_request_error", "resource_missing")
	case c.status != "requires_payment_method":
		return http.StatusBadRequest, newErrorObject("invalid_request_error", "payment_intent_unexpected_state")
	}
	c.status = "canceled"
	return http.StatusOK, c.toObject()
}

func (p *provider) refund(r *http.Request) (int, object) {
	c, key := p.findByIntent(r.Form.Get("payment_intent")), r.Header.Get("Idempotency-Key")
	var amount int64
	_, _ = fmt.Sscan(r.Form.Get("amount"), &amount)
	switch {
	case c == nil || c.status != "succeeded":
		return http.StatusBadRequest, newErrorObject("invalid_request_error", "resource_missing")
	case p.byKey[key] != nil: // a repeated request; its refund is the newest, because there is one request at a time
		return http.StatusOK, c.refunds[len(c.refunds)-1]
	case amount <= 0 || amount > c.amount-c.refunded:
		return http.StatusBadRequest, newErrorObject("invalid_request_error", "charge_already_refunded")
	}
	p.byKey[key] = c
	c.refunded += amount
	c.refunds = append(c.refunds, object{
		"id": fmt.Sprintf("re_%s_%d", c.reference, len(c.refunds)), "object": "refund", "status": "succeeded",
		"amount":   amount,
		"metadata": object{"slotmesh_refund": r.Form.Get("metadata[slotmesh_refund]")},
	})
	return http.StatusOK, c.refunds[len(c.refunds)-1]
}

func (p *provider) listRefunds(r *http.Request) (int, object) {
	list := []object{}
	if c := p.findByIntent(r.Form.Get("payment_intent")); c != nil {
		list = append(list, c.refunds...)
	}
	return http.StatusOK, object{"object": "list", "has_more": false, "data": list}
}

// pay pays a charge in the role of the customer. If the charge is closed, pay returns false.
func (p *provider) pay(reference string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.charges[reference]
	if c == nil || c.status != "requires_payment_method" {
		return false
	}
	c.status = "succeeded"
	p.notices = append(p.notices, reference)
	return true
}

// sendNotices sends the waiting notifications to a URL, each twice. sendNotices keeps the notifications that the
// receiver refused, because Stripe would send them again for days.
func (p *provider) sendNotices(ctx context.Context, client *http.Client, url string) error {
	p.mu.Lock()
	waiting := p.notices
	p.notices = nil
	p.mu.Unlock()
	var failed error
	for _, reference := range waiting {
		err := errors.Join(notify(ctx, client, url, reference), notify(ctx, client, url, reference))
		if err != nil {
			failed = err
			p.mu.Lock()
			p.notices = append(p.notices, reference)
			p.mu.Unlock()
		}
	}
	return failed
}

func notify(ctx context.Context, client *http.Client, url, reference string) error {
	event := fmt.Sprintf(`{"id": "evt_%s", "object": "event", "type": "payment_intent.succeeded", "account": %q,
		"data": {"object": {"id": %q, "object": "payment_intent"}}}`, reference, stripeAccount, reference)
	if strings.HasPrefix(reference, "cs_") {
		event = fmt.Sprintf(`{"id": "evt_%s", "object": "event", "type": "checkout.session.completed", "account": %q,
			"data": {"object": {"id": %q, "object": "checkout.session", "payment_status": "paid"}}}`, reference, stripeAccount, reference)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(event)))
	if err != nil {
		return err
	}
	at := now().Unix()
	mac := hmac.New(sha256.New, []byte(webhookSecret))
	_, _ = fmt.Fprintf(mac, "%d.%s", at, event)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%x", at, mac.Sum(nil)))
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		output, _ := io.ReadAll(io.LimitReader(answer.Body, 300))
		return fmt.Errorf("a notice was answered %d: %s", answer.StatusCode, strings.TrimSpace(string(output)))
	}
	return nil
}
