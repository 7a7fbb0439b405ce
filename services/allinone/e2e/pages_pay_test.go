package e2e

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone"
	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// cashier stands in for Stripe's pages, before stripe-mock, which judges what is asked and keeps nothing: it remembers
// each Checkout Session and shows its page, on which a visitor pays or gives up.
type cashier struct {
	*httptest.Server
	notices string // where it tells of what was paid
	refunds chan url.Values
	mock    atomic.Pointer[url.URL]
	mu      sync.Mutex
	back    map[string]url.Values // by session: what it was made with, and its account
}

func openCashier(t testing.TB, mock string) *cashier {
	t.Helper()
	c := &cashier{back: map[string]url.Values{}, refunds: make(chan url.Values, 100)}
	c.connectMock(t, mock)
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(c.mock.Load()) },
		ModifyResponse: c.remember,
		Transport:      &http.Transport{DisableKeepAlives: true},
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err == nil {
			r.Form, err = url.ParseQuery(string(text))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if r.Method == http.MethodPost && r.URL.Path == "/v1/refunds" {
			select {
			case c.refunds <- r.Form:
			default: // no test reads that many
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		proxy.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /pay/{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, `<!doctype html><html lang=en><title>Pay</title><link rel=icon href="data:,"><main><h1>The provider's page</h1><a href="/paid/%s">Pay</a> <a href="%s">Give up</a></main>`,
			r.PathValue("id"), c.made(r.PathValue("id")).Get("cancel_url"))
	})
	mux.HandleFunc("GET /paid/{id}", c.pay)
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

// connectMock passes what is asked on to the stripe-mock at this address.
func (c *cashier) connectMock(t testing.TB, address string) {
	t.Helper()
	mock, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	c.mock.Store(mock)
}

func (c *cashier) made(id string) url.Values {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.back[id]
}

// remember gives each session an id and a page of its own, and finds it again by them.
func (c *cashier) remember(r *http.Response) error {
	if !strings.HasPrefix(r.Request.URL.Path, "/v1/checkout/sessions") || r.StatusCode != http.StatusOK {
		return nil
	}
	var session map[string]any
	if err := json.NewDecoder(r.Body).Decode(&session); err != nil {
		return err
	}
	_, id, found := strings.Cut(r.Request.URL.Path, "/v1/checkout/sessions/")
	if !found {
		id = "cs_test_" + rand.Text()
		c.mu.Lock()
		c.back[id] = r.Request.Form
		c.back[id].Set("account", r.Request.Header.Get("Stripe-Account"))
		c.mu.Unlock()
	}
	session["id"], session["status"], session["payment_status"], session["url"] = id, "open", "unpaid", c.URL+"/pay/"+id
	session["payment_intent"] = "pi_" + id
	text, err := json.Marshal(session)
	if err != nil {
		return err
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	r.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return nil
}

// pay tells Slotmesh that a session was paid, and leads the customer back.
func (c *cashier) pay(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	event := fmt.Sprintf(`{"id": "evt_1", "object": "event", "type": "checkout.session.completed", "account": %q,
		"data": {"object": {"id": %q, "object": "checkout.session", "payment_status": "paid"}}}`, c.made(id).Get("account"), id)
	notice, err := http.NewRequestWithContext(r.Context(), http.MethodPost, c.notices, strings.NewReader(event))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	notice.Header.Set("Stripe-Signature", signed(event))
	notice.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(notice)
	if err != nil || answer.StatusCode != http.StatusOK {
		http.Error(w, fmt.Sprint("the notice was not taken: ", err), http.StatusBadGateway)
		return
	}
	_ = answer.Body.Close()
	http.Redirect(w, r, c.made(id).Get("success_url"), http.StatusSeeOther)
}

// connect makes the cashier Stripe and its page the provider's.
func (c *cashier) connect(cfg *allinone.Config) {
	connected(c.URL)(cfg)
	cfg.Settings = maps.Clone(cfg.Settings) // which other tests share
	cfg.Settings["PAY_ORIGINS"] = c.URL
}

// payOnline gives up paying, pays again by the link, and comes back to a booking that is confirmed.
func (p *pages) payOnline(t *testing.T) {
	t.Parallel()
	p.publish(t, "paying", paidSalon("paying"))
	v := p.visit(t, visitor.As{Locale: "en-GB"})
	v.Go(p.PublicURL + "/b/paying")
	v.Press("Cut")
	v.PressThe(".day[href]")
	v.Press("10:00")
	v.Sees("Total €40.00", "To pay now €10.00", "To pay on site €30.00")
	fill(v)
	v.Check()
	v.Keep("deposit")
	v.Press("Pay €10.00 now")
	v.Sees("The provider's page")
	v.Press("Give up")
	v.Sees("Please pay online to keep your booking")
	v.Keep("to-be-paid")
	link, _, _ := strings.Cut(v.Address(), "?")
	other := p.visit(t, visitor.As{Locale: "en-GB", NoScript: true})
	other.Go(link)
	other.Check()
	other.Press("Pay €10.00 now")
	other.Sees("The provider's page")
	other.Press("Pay")
	other.Sees("Booking confirmed")
	v.Go(link)
	v.Sees("Booking confirmed")
	v.SeesNot("To pay now")
	if n := p.live(t, "paying"); n != 1 {
		t.Errorf("%d bookings, want 1", n)
	}
}
