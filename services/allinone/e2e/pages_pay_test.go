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

// fakeStripe is a fake of Stripe with payment pages, in front of stripe-mock, which validates requests and stores
// nothing. It stores each Checkout Session and serves its page, on which a visitor pays or gives up.
type fakeStripe struct {
	*httptest.Server
	notices string // address for events about payments
	refunds chan url.Values
	mock    atomic.Pointer[url.URL]
	mu      sync.Mutex
	back    map[string]url.Values // by session: its request and account
}

func startFakeStripe(t testing.TB, mock string) *fakeStripe {
	t.Helper()
	c := &fakeStripe{back: map[string]url.Values{}, refunds: make(chan url.Values, 100)}
	c.connectMock(t, mock)
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(c.mock.Load()) },
		ModifyResponse: c.recordSession,
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
			r.PathValue("id"), c.findSession(r.PathValue("id")).Get("cancel_url"))
	})
	mux.HandleFunc("GET /paid/{id}", c.pay)
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

// connectMock sends requests on to the stripe-mock at this address.
func (c *fakeStripe) connectMock(t testing.TB, address string) {
	t.Helper()
	mock, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	c.mock.Store(mock)
}

func (c *fakeStripe) findSession(id string) url.Values {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.back[id]
}

// recordSession gives each session its own id and page, and stores the request of a new session.
func (c *fakeStripe) recordSession(r *http.Response) error {
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

// pay sends the event of a paid session to Slotmesh and redirects the customer back.
func (c *fakeStripe) pay(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	event := fmt.Sprintf(`{"id": "evt_1", "object": "event", "type": "checkout.session.completed", "account": %q,
		"data": {"object": {"id": %q, "object": "checkout.session", "payment_status": "paid"}}}`, c.findSession(id).Get("account"), id)
	notice, err := http.NewRequestWithContext(r.Context(), http.MethodPost, c.notices, strings.NewReader(event))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	notice.Header.Set("Stripe-Signature", signEvent(event))
	notice.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(notice)
	if err != nil || answer.StatusCode != http.StatusOK {
		http.Error(w, fmt.Sprint("the notice was not taken: ", err), http.StatusBadGateway)
		return
	}
	_ = answer.Body.Close()
	http.Redirect(w, r, c.findSession(id).Get("success_url"), http.StatusSeeOther)
}

// connect configures a platform to use the fake as Stripe, with its payment pages.
func (c *fakeStripe) connect(cfg *allinone.Config) {
	connectStripe(c.URL)(cfg)
	cfg.Settings = maps.Clone(cfg.Settings) // other tests share the map
	cfg.Settings["PAY_ORIGINS"] = c.URL
}

// payOnline leaves the payment page, pays later by the link, and comes back to a confirmed booking.
func (p *pages) payOnline(t *testing.T) {
	t.Parallel()
	p.publish(t, "paying", buildPaidSalon("paying"))
	v := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	v.Go(p.PublicURL + "/b/paying")
	v.Press("Cut")
	v.PressElement(".day[href]")
	v.Press("10:00")
	v.ExpectText("Total €40.00", "Due now €10.00", "Due at the appointment €30.00")
	fillContact(v)
	v.Check()
	v.SaveScreenshot("deposit")
	v.Press("Pay €10.00")
	v.ExpectText("The provider's page")
	v.Press("Give up")
	v.ExpectText("Please pay online to keep your booking")
	v.SaveScreenshot("to-be-paid")
	link, _, _ := strings.Cut(v.Address(), "?")
	other := p.openVisitor(t, visitor.Profile{Locale: "en-GB", NoScript: true})
	other.Go(link)
	other.Check()
	other.Press("Pay €10.00")
	other.ExpectText("The provider's page")
	other.Press("Pay")
	other.ExpectText("Booking confirmed")
	v.Go(link)
	v.ExpectText("Booking confirmed")
	v.ExpectNoText("Due now")
	if n := p.countLiveBookings(t, "paying"); n != 1 {
		t.Errorf("%d bookings, want 1", n)
	}
}
