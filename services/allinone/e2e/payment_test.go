package e2e

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
)

const (
	webhookSecret = "whsec_test"
	noStripe      = "http://127.0.0.1:1" // no server listens here
)

// connectStripe sets the API keys of Stripe and the URL of its API.
func connectStripe(stripe string) func(*allinone.Config) {
	return func(cfg *allinone.Config) {
		cfg.StripeSecretKey, cfg.StripeWebhookSecret, cfg.StripeAPIBase = "sk_test_123", webhookSecret, stripe
	}
}

// newPaymentEvent returns Stripe's event about a successful payment to the account of a [buildPaidSalon]. The argument
// `reference` is the id of the payment.
func newPaymentEvent(slug, reference string) string {
	return fmt.Sprintf(`{"id": "evt_1", "object": "event", "type": "payment_intent.succeeded", "account": "acct_%s",
		"data": {"object": {"id": %q, "object": "payment_intent"}}}`, slug, reference)
}

// signEvent returns Stripe's signature of an event at the present time.
func signEvent(event string) string {
	now := time.Now().Unix()
	mac := hmac.New(sha256.New, []byte(webhookSecret))
	fmt.Fprintf(mac, "%d.%s", now, event)
	return fmt.Sprintf("t=%d,v1=%x", now, mac.Sum(nil))
}

// notifyStripe sends an event as Stripe does.
func (w *platform) notifyStripe(t *testing.T, event, signature string) reply {
	t.Helper()
	return w.do(t, http.MethodPost, w.PublicURL+"/api/public/stripe/webhook", []byte(event),
		http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Stripe-Signature": {signature}})
}

// listBookingStatuses returns the statuses of all bookings of a business.
func (w *platform) listBookingStatuses(t *testing.T, slug string) []string {
	t.Helper()
	var list struct {
		Bookings []struct{ Status string }
	}
	w.callAdmin(t, http.MethodGet, "businesses/"+slug+"/bookings", nil).decode(t, http.StatusOK, &list)
	var all []string
	for _, b := range list.Bookings {
		all = append(all, b.Status)
	}
	return all
}

// buildPaidSalon returns the manifest of a salon that requires an online deposit of 25 percent for Cut.
func buildPaidSalon(slug string) string {
	manifest := strings.Replace(buildSalon(slug, 1), "bookings: {", "bookings: {confirm: auto, ", 1)
	manifest = strings.Replace(manifest, "hours:\n", "payments:\n  providers: [stripe]\n  accounts: {stripe: acct_"+
		slug+"}\n  modes: {services: online}\nhours:\n", 1)
	return strings.Replace(manifest, "price: 40.00,",
		"price: 40.00, payment_requirement: deposit_percent, deposit_value: 25,", 1)
}

func TestBookPaysOnline(t *testing.T) {
	t.Parallel()
	mock := testkit.StartStripeMock(t)
	w := startPlatform(t, checkRouting(t), connectStripe(mock.URL))
	w.publish(t, "paid", buildPaidSalon("paid"))
	key, cut := w.createKey(t, "paid", "write"), w.idsByName(t, "paid", "services")["Cut"]

	var booked struct {
		PaymentRequired bool
		Payment         struct {
			Provider, Currency, Reference string
			Amount                        float64
			ClientSecret                  string `json:"client_secret"`
		}
	}
	w.book(t, "paid", key, newOrder(cut, "2027-03-01", "10:00")).decode(t, http.StatusCreated, &booked)
	p := booked.Payment
	if !booked.PaymentRequired || p.Provider != "stripe" || p.Amount != 10 || p.Currency != "EUR" ||
		p.Reference == "" || p.ClientSecret == "" {
		t.Errorf("got %+v", booked)
	}
	event := newPaymentEvent("paid", p.Reference)
	for name, signature := range map[string]string{"no signature": "", "another event's": signEvent("{}"),
		"a made-up one": "t=1,v1=00"} {
		if a := w.notifyStripe(t, event, signature); a.status != http.StatusBadRequest ||
			!slices.Equal(w.listBookingStatuses(t, "paid"),
				[]string{"pending"}) {
			t.Errorf("%s: an event was answered %d, the bookings are %v", name, a.status,
				w.listBookingStatuses(t, "paid"))
		}
	}
	w.notifyStripe(t, event, signEvent(event)).checkStatus(t, http.StatusOK, "")
	if got := w.listBookingStatuses(t, "paid"); !slices.Equal(got, []string{"confirmed"}) {
		t.Errorf("after it was paid the bookings are %v", got)
	}
	unknown := newPaymentEvent("paid", "pi_unknown")
	w.notifyStripe(t, unknown, signEvent(unknown)).checkStatus(t, http.StatusOK, "")

	mock.Stop()
	w.book(t, "paid", key, newOrder(cut, "2027-03-01", "12:00")).checkStatus(t, http.StatusServiceUnavailable,
		"payment_unavailable")
	// The platform frees the time of the unpaid booking at once, or by the reconciliation if the database is slow.
	testkit.WaitUntil(t, "what was not paid is free again", func(context.Context) error {
		free := make(map[string]bool)
		for _, s := range w.listSlots(t, "paid", "2027-03-01", "service_id="+cut).Slots {
			free[s.Time] = true
		}
		if free["10:00"] {
			t.Fatalf("10:00 was booked; free are %v", free)
		}
		if !free["12:00"] {
			return fmt.Errorf("free are %v", free)
		}
		return nil
	})
	w.cancelPaidBooking(t)
}

// cancelPaidBooking cancels a paid booking while Stripe is stopped. The refund stays pending until Stripe runs
// again.
func (w *platform) cancelPaidBooking(t *testing.T) {
	t.Helper()
	var list struct{ Bookings []struct{ ID, Status string } }
	w.callAdmin(t, http.MethodGet, "businesses/paid/bookings?status=confirmed", nil).decode(t, http.StatusOK, &list)
	at := "businesses/paid/bookings/" + list.Bookings[0].ID
	type refund struct {
		Amount  float64
		Percent int
		Status  string
	}
	var preview struct {
		Allowed bool
		Refund  refund
	}
	w.callAdmin(t, http.MethodGet, at+"/cancellation", nil).decode(t, http.StatusOK, &preview)
	if !preview.Allowed || preview.Refund != (refund{Amount: 10, Percent: 100}) {
		t.Errorf("the preview is %+v", preview)
	}
	w.callAdmin(t, http.MethodPost, at+"/cancel", []byte(`{"refund": 10.01}`)).checkStatus(t, http.StatusConflict,
		"conflict")
	var cancelled struct {
		Status  string
		Payment struct{ Refund refund }
	}
	w.callAdmin(t, http.MethodPost, at+"/cancel", []byte(`{"refund": 2.5}`)).decode(t, http.StatusOK, &cancelled)
	if cancelled.Status != "cancelled" || cancelled.Payment.Refund != (refund{Amount: 2.5, Percent: 25,
		Status: "pending"}) {
		t.Errorf("cancelled, it is %+v", cancelled)
	}
	w.callAdmin(t, http.MethodPost, at+"/refund", nil).checkStatus(t, http.StatusConflict, "conflict")
}
