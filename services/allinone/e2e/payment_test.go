package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// paidSalon is a salon that takes 25 percent of Cut online, when booking.
func paidSalon(slug string) string {
	manifest := salon(slug, 1)
	manifest = strings.Replace(manifest, "hours:\n", "payments:\n  providers: [stripe]\n  accounts: {stripe: acct_salon}\n  modes: {services: online}\nhours:\n", 1)
	return strings.Replace(manifest, "price: 40.00,", "price: 40.00, payment_requirement: deposit_percent, deposit_value: 25,", 1)
}

func TestABookingIsPaidOnline(t *testing.T) {
	t.Parallel()
	mock := testkit.StartStripeMock(t)
	w := start(t, func(cfg *allinone.Config) {
		cfg.StripeSecretKey, cfg.StripeWebhookSecret, cfg.StripeAPIBase = "sk_test_123", "whsec_test", mock.URL
	})
	w.publish(t, "paid", paidSalon("paid"))
	key, cut := w.key(t, "paid", "write"), w.named(t, "paid", "services")["Cut"]

	var booked struct {
		PaymentRequired bool
		Payment         struct {
			Provider, Currency, Reference string
			Amount                        float64
			ClientSecret                  string `json:"client_secret"`
		}
	}
	w.book(t, "paid", key, appointment(cut, "2027-03-01", "10:00")).into(t, http.StatusCreated, &booked)
	p := booked.Payment
	if !booked.PaymentRequired || p.Provider != "stripe" || p.Amount != 10 || p.Currency != "EUR" || p.Reference == "" || p.ClientSecret == "" {
		t.Errorf("got %+v", booked)
	}
	refused, err := http.Post(w.PublicURL+"/api/public/stripe/webhook", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = refused.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if refused.StatusCode != http.StatusBadRequest {
		t.Errorf("a notice without a signature: %d, want 400", refused.StatusCode)
	}

	mock.Stop()
	w.book(t, "paid", key, appointment(cut, "2027-03-01", "12:00")).want(t, http.StatusServiceUnavailable, "payment_unavailable")
	free := make(map[string]bool)
	for _, s := range w.slots(t, "paid", "2027-03-01", "service_id="+cut).Slots {
		free[s.Time] = true
	}
	if free["10:00"] || !free["12:00"] {
		t.Errorf("10:00 was booked and 12:00 was not; free are %v", free)
	}
}
