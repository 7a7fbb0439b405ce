package api

import (
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/stripe"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Charges is what the webhook needs of the tables; [store.Store] says what its methods do and return.
type Charges interface {
	FindPayment(ctx context.Context, provider, account, reference string) (uuid.UUID, uuid.UUID, error)
	PaymentPaid(ctx context.Context, businessID, bookingID uuid.UUID, now time.Time) error
	PaymentCancelled(ctx context.Context, businessID, bookingID uuid.UUID, now time.Time) error
	PaymentFailed(ctx context.Context, businessID, bookingID uuid.UUID, now time.Time) error
}

var _ Charges = (*store.Store)(nil)

// Webhook takes Stripe's notices of what became of charges.
type Webhook struct {
	charges Charges
	secret  string
	clock   clock.Clock
}

// NewWebhook returns a webhook that believes what is signed with this secret.
func NewWebhook(charges Charges, secret string, c clock.Clock) *Webhook {
	return &Webhook{charges: charges, secret: secret, clock: c}
}

// Mount adds the route. It is no business's: no path of a business called stripe is the same.
func (w *Webhook) Mount(app fiber.Router) { app.Post("/api/public/stripe/webhook", w.take) }

// take answers 200 also to what it has no use for, as Stripe sends again what is answered otherwise. A charge that is
// not known may be another installation's.
func (w *Webhook) take(c *fiber.Ctx) error {
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	notice, err := stripe.ReadNotice(body, c.Get("Stripe-Signature"), w.secret)
	if err != nil {
		return fault.Wrap(fault.InvalidParameter, err, "Stripe-Signature: it does not match the body, or is too old.")
	}
	if err := w.settle(c.UserContext(), notice); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return c.JSON(fiber.Map{"received": true})
}

func (w *Webhook) settle(ctx context.Context, n stripe.Notice) error {
	if n.Outcome == "" {
		return nil
	}
	businessID, bookingID, err := w.charges.FindPayment(ctx, stripe.Name, n.Account, n.Reference)
	switch {
	case err != nil:
		return err
	case n.Outcome == payment.Paid:
		return w.charges.PaymentPaid(ctx, businessID, bookingID, w.clock.Now())
	case n.Failed:
		return w.charges.PaymentFailed(ctx, businessID, bookingID, w.clock.Now())
	}
	return w.charges.PaymentCancelled(ctx, businessID, bookingID, w.clock.Now())
}
