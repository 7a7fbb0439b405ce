package booking

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/sandbox"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/stripe"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// maxPaymentTimeout is the maximum of PAYMENT_TIMEOUT. The reconciliation leases a charge
// for one minute, and a call to the provider for the charge must end before the lease ends.
const maxPaymentTimeout = 30 * time.Second

// validatePayments checks the settings of payments. It checks the settings of Stripe only if Stripe is configured.
func (c *Config) validatePayments() error {
	var errs []error
	if c.PaymentExpiresAfter <= 0 || c.PaymentExpiresAfter > usecase.MaxExpiresAfter {
		errs = append(errs, fmt.Errorf("PAYMENT_EXPIRES_AFTER: write a duration above 0 and up to %s, such as 30m",
			usecase.MaxExpiresAfter))
	}
	if c.PaymentTimeout <= 0 || c.PaymentTimeout > maxPaymentTimeout {
		errs = append(errs, fmt.Errorf("PAYMENT_TIMEOUT: write a duration above 0 and up to %s, such as 5s",
			maxPaymentTimeout))
	}
	if c.StripeSecretKey == "" && c.StripeWebhookSecret == "" {
		return errors.Join(errs...)
	}
	if c.StripeSecretKey == "" {
		errs = append(errs, errors.New("STRIPE_SECRET_KEY: write the platform's secret key, as STRIPE_WEBHOOK_SECRET "+
			"is set"))
	}
	if c.StripeWebhookSecret == "" {
		errs = append(errs, errors.New("STRIPE_WEBHOOK_SECRET: write the webhook's signing secret; without it no "+
			"payment would ever confirm a booking"))
	}
	if base, err := url.Parse(c.StripeAPIBase); err != nil || base.Host == "" {
		errs = append(errs, errors.New("STRIPE_API_BASE: write a URL such as https://api.stripe.com"))
	}
	return errors.Join(errs...)
}

// paymentOptions returns the options of payments. The connected
// providers are the sandbox, and Stripe if its secret key is set.
func paymentOptions(cfg Config, srv *server.Server, now clock.Clock) usecase.PaymentOptions {
	providers := payment.Providers{payment.Sandbox: sandbox.New(now)}
	if cfg.StripeSecretKey != "" {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		srv.OnStop("stripe", func(context.Context) error { transport.CloseIdleConnections(); return nil })
		providers[stripe.Name] = stripe.New(cfg.StripeSecretKey, cfg.StripeWebhookSecret, cfg.StripeAPIBase, transport)
	}
	return usecase.PaymentOptions{Providers: providers, CallTimeout: cfg.PaymentTimeout,
		ExpiresAfter: cfg.PaymentExpiresAfter}
}
