package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
)

// rescheduleTarget is a start, with a staff member, to which a booking can be rescheduled.
type rescheduleTarget struct {
	date, clock string
	staff       *uuid.UUID // nil: the service chooses the staff member
	resource    string     // the same kind of name as operation.resource
}

func (p rescheduleTarget) formatStart() string { return p.date + " " + p.clock + ":00" }

// reschedule is a task that reschedules a booking (lifecycle.md §3).
type reschedule struct {
	task
	actor  actor.Kind // the owner, or the customer through the customer view
	target rescheduleTarget
}

// cancellation is a task that cancels a booking, a ticket order or a reservation (lifecycle.md §4).
type cancellation struct {
	task
	actor  actor.Kind
	refund any // the owner's choice: "policy", "full", "none" or an amount; nil for a customer: the policy applies
}

// changeLater reschedules a booking up to twice, and then often cancels the booking. The function `elsewhere` returns
// the new start. Sometimes changeLater sends the cancellation and another reschedule at the same time.
func (c *client) changeLater(ctx context.Context, op *operation, booked *attempt, elsewhere func() rescheduleTarget) {
	if booked.outcome != succeeded || booked.id == "" {
		return
	}
	count := c.rng.IntN(3)
	for range count {
		c.rescheduleBooking(ctx, op, booked, elsewhere())
	}
	switch c.rng.IntN(8) {
	case 0, 1, 2:
		return
	case 3:
		var beside sync.WaitGroup
		cancel, m := c.newCancellation(op, booked, "")
		beside.Go(func() { cancel.addAttempt(c.call.send(ctx, m)) })
		c.rescheduleBooking(ctx, op, booked, elsewhere())
		beside.Wait()
	case 4:
		c.cancelByLink(ctx, op, booked)
	default:
		cancel, m := c.newCancellation(op, booked, c.drawKey())
		c.perform(ctx, &cancel.task, m)
	}
}

// choosePlace returns a random start in the mixed business. Sometimes it names a staff member who may not be qualified.
func (c *client) choosePlace() rescheduleTarget {
	p := rescheduleTarget{date: c.chooseDay(), clock: c.chooseTime()}
	if c.rng.IntN(4) == 0 {
		id := c.mixed.deriveID("staff", c.mixed.staff[c.rng.IntN(3)])
		p.staff = &id
	}
	return p
}

func (c *client) rescheduleBooking(ctx context.Context, op *operation, booked *attempt, to rescheduleTarget) {
	mv := &reschedule{task: task{key: c.drawKey()}, actor: actor.Owner, target: to}
	op.reschedules = append(op.reschedules, mv)
	body := object{"date": to.date, "time": to.clock}
	if to.staff != nil {
		body["staff_id"] = to.staff
	}
	path := "businesses/" + op.business.slug + "/bookings/" + booked.id + "/reschedule"
	m := c.newAdminMessage(http.MethodPost, path, body, mv.key)
	m.read = readReschedule
	if booked.answer.token != "" && c.rng.IntN(2) == 0 {
		mv.actor = actor.Customer
		m = c.newLinkMessage(http.MethodPost, booked.answer.token+"/reschedule", body, mv.key)
	}
	c.perform(ctx, &mv.task, m)
}

// newCancellation adds a cancellation by the owner to the operation, and returns the cancellation and the request for
// it.
func (c *client) newCancellation(op *operation, booked *attempt, key string) (*cancellation, message) {
	refunds := []any{"policy", "full", "none"}
	if op.kind == "paid" {
		refunds = append(refunds, 12.5)
	}
	made := &cancellation{task: task{key: key}, actor: actor.Owner, refund: refunds[c.rng.IntN(len(refunds))]}
	op.cancellations = append(op.cancellations, made)
	path := "businesses/" + op.business.slug + "/bookings/" + booked.id + "/cancel"
	return made, c.newAdminMessage(http.MethodPost, path, object{"refund": made.refund}, key)
}

// cancelByLink cancels a booking as a customer does. It first reads the customer view, which shows the refund.
func (c *client) cancelByLink(ctx context.Context, op *operation, booked *attempt) {
	token := booked.answer.token
	if token == "" {
		return
	}
	seen := c.call.send(ctx, c.newLinkMessage(http.MethodGet, token, nil, ""))
	if seen.outcome != succeeded {
		return
	}
	made := &cancellation{task: task{key: c.drawKey()}, actor: actor.Customer}
	op.cancellations = append(op.cancellations, made)
	body := object{"refund": seen.answer.Cancellation.Refund.Amount}
	c.perform(ctx, &made.task, c.newLinkMessage(http.MethodPost, token+"/cancel", body, made.key))
}

// newLinkMessage returns a request that the customers' pages send when a customer uses the customer view.
func (c *client) newLinkMessage(method, path string, body any, key string) message {
	header := c.call.cluster.newPagesHeaders("booking", actor.Customer)
	if method == http.MethodGet {
		delete(header, actor.Header) // a request that only reads names no actor
	}
	if key != "" {
		header[idempotency.Header] = key
	}
	return message{service: "booking", isInternal: true, method: method, path: "/internal/manage/" + path, body: body,
		header: header, read: readCustomerView}
}

// readReschedule reads the booking in the answer to a reschedule. Only the starts in repeated answers must be equal. If
// the booking already has the requested start, an attempt changes nothing, and the answer shows the current values of
// the booking.
func readReschedule(a *attempt, body []byte) {
	readObject(a, body)
	a.digest = [32]byte{}
}

// cancelSome cancels some of the objects that clients created, in the role of the owner.
func (c *client) cancelSome(ctx context.Context, op *operation, a *attempt, path string) {
	if a.outcome != succeeded || a.id == "" || c.rng.IntN(5) < 2 {
		return
	}
	cancelled := &cancellation{actor: actor.Owner}
	op.cancellations = append(op.cancellations, cancelled)
	cancelled.addAttempt(c.call.send(ctx, c.newAdminMessage(http.MethodPost, "businesses/"+op.business.slug+"/"+path+
		"/"+a.id+
		"/cancel", nil, "")))
}

// String formats a reschedule as one line of a report.
func (m *reschedule) String() string {
	return fmt.Sprintf("%s reschedules to %s key %q: %v", m.actor, m.target.formatStart(), m.key, m.attempts)
}

// String formats a cancellation as one line of a report.
func (c *cancellation) String() string {
	refund, _ := json.Marshal(c.refund)
	return fmt.Sprintf("%s cancels, refund %s, key %q: %v", c.actor, refund, c.key, c.attempts)
}
