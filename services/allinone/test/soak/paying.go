package soak

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
)

// isPaidOnline reports whether the created object is paid online. If the payment fails, the service itself cancels the
// object.
func (op *operation) isPaidOnline() bool { return strings.HasPrefix(op.kind, "paid") }

// pay pays a charge in the role of the customer. If the argument `notifies` is true, the provider sends its
// notification to Slotmesh at once.
func (w *workload) pay(ctx context.Context, reference string, notifies bool) {
	w.provider.pay(reference)
	if notifies {
		r := w.call.chooseReplica("booking")
		// An error is ignored, because the provider sends the notification again later.
		_ = w.provider.sendNotices(ctx, w.call.client, "http://"+r.ingress.address()+"/api/public/stripe/webhook")
	}
}

// buyTickets orders tickets of two tiers as a customer of the booking page, and pays for most of the orders.
func (c *client) buyTickets(ctx context.Context) {
	e := c.mixed.paid[(c.epoch()/4+c.rng.IntN(2))%paidEvents]
	op := c.begin(&operation{kind: "paid tickets", business: c.mixed})
	op.apiKey = nil
	c.buyOnPage(ctx, op, "tickets", "booking", c.mixed.id.String(), object{
		"slug": c.mixed.slug, "event_id": e.id, "customer_name": op.tag, "customer_email": op.tag, "locale": "en",
		"tiers": []object{{"tier_id": e.tiers[0], "quantity": 1 + c.rng.IntN(2)},
			{"tier_id": e.tiers[1], "quantity": 1}},
	})
}

// rentPaid reserves a canoe as a customer of the booking page, and pays for most of the reservations.
func (c *client) rentPaid(ctx context.Context) {
	op := c.begin(&operation{kind: "paid reservation", business: c.mixed})
	op.apiKey = nil
	day := c.chooseDay()
	c.buyOnPage(ctx, op, "reservations", "rental", c.mixed.slug, object{
		"rental_id": c.mixed.rentals[2].id, "start_date": day, "end_date": day, "quantity": 1, "customer_name": op.tag,
		"customer_email": op.tag, "locale": "en",
	})
}

// buyOnPage creates a booking, a ticket order or a reservation as the booking page does. If the object needs an online
// payment, the client then pays on the provider's page, cancels the object, or does both. Sometimes it does both at the
// same time.
func (c *client) buyOnPage(ctx context.Context, op *operation, label, service, of string, body object) {
	header := c.call.cluster.newPagesHeaders(service, actor.Page)
	if op.key != "" {
		header[idempotency.Header] = op.key
	}
	a := c.perform(ctx, &op.task, message{
		service: service, isInternal: true, method: http.MethodPost, path: "/internal/businesses/" + of + "/" + label,
		body: body, header: header, read: readSale,
	})
	if a.outcome != succeeded || a.answer.reference == "" {
		return
	}
	pays, notifies, isConcurrent := c.rng.IntN(4) > 0, c.rng.IntN(3) > 0, c.rng.IntN(6) == 0
	var paying sync.WaitGroup
	if pays && isConcurrent {
		paying.Go(func() { c.pay(ctx, a.answer.reference, notifies) })
	} else if pays {
		c.pay(ctx, a.answer.reference, notifies)
	}
	c.cancelSome(ctx, op, a, label)
	paying.Wait()
}

// readSale reads from an answer the object that was sold on the booking page. It computes the digest from the ID only:
// the answers to retries must have the same ID, but they show the current values of the object.
func readSale(a *attempt, body []byte) {
	readObject(a, body)
	a.digest = sha256.Sum256([]byte(a.id))
	var answer struct {
		CheckoutURL string `json:"checkout_url"`
		Payment     *struct{ Amount float64 }
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Payment == nil {
		a.problem = "the payment in the answer cannot be read: " + string(body)
		return
	}
	a.answer.reference, a.answer.amount = strings.TrimPrefix(answer.CheckoutURL, checkoutURL), answer.Payment.Amount
}
