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

// place is a start to which a booking can be rescheduled.
type place struct {
	date, clock string
	staff       *uuid.UUID // nil: the service chooses the member
	resource    string     // as in operation
}

func (p place) start() string { return p.date + " " + p.clock + ":00" }

// move is a task that reschedules a booking (lifecycle.md §3).
type move struct {
	task
	by actor.Kind // the owner, or the customer with the booking's link
	to place
}

// cancel is a task that cancels a booking, an order or a reservation (lifecycle.md §4).
type cancel struct {
	task
	by     actor.Kind
	refund any // chosen by the owner: policy, full, none or an amount; nil for a customer, to whom the policy applies
}

// afterwards reschedules a booking up to twice and cancels some bookings, sometimes both at the same time.
func (c *client) afterwards(ctx context.Context, op *operation, booked *attempt, elsewhere func() place) {
	if booked.verdict != made || booked.id == "" {
		return
	}
	moves := c.rng.IntN(3)
	for range moves {
		c.move(ctx, op, booked, elsewhere())
	}
	switch c.rng.IntN(8) {
	case 0, 1, 2:
		return
	case 3:
		var beside sync.WaitGroup
		cancel, m := c.newCancel(op, booked, "")
		beside.Go(func() { cancel.note(c.call.send(ctx, m)) })
		c.move(ctx, op, booked, elsewhere())
		beside.Wait()
	case 4:
		c.cancelByLink(ctx, op, booked)
	default:
		cancel, m := c.newCancel(op, booked, c.maybeKeyed())
		c.perform(ctx, &cancel.task, m)
	}
}

// anywhere returns a random start in the mixed business, sometimes with a staff member who may not be qualified.
func (c *client) anywhere() place {
	p := place{date: c.day(), clock: c.clock()}
	if c.rng.IntN(4) == 0 {
		id := c.mixed.sub("staff", c.mixed.staff[c.rng.IntN(3)])
		p.staff = &id
	}
	return p
}

func (c *client) move(ctx context.Context, op *operation, booked *attempt, to place) {
	mv := &move{task: task{key: c.maybeKeyed()}, by: actor.Owner, to: to}
	op.moves = append(op.moves, mv)
	body := object{"date": to.date, "time": to.clock}
	if to.staff != nil {
		body["staff_id"] = to.staff
	}
	path := "businesses/" + op.business.slug + "/bookings/" + booked.id + "/reschedule"
	m := c.adminMessage(http.MethodPost, path, body, mv.key)
	m.read = readMoved
	if booked.answer.token != "" && c.rng.IntN(2) == 0 {
		mv.by = actor.Customer
		m = c.linkMessage(http.MethodPost, booked.answer.token+"/reschedule", body, mv.key)
	}
	c.perform(ctx, &mv.task, m)
}

// newCancel returns a cancellation by the owner.
func (c *client) newCancel(op *operation, booked *attempt, key string) (*cancel, message) {
	refunds := []any{"policy", "full", "none"}
	if op.kind == "paid" {
		refunds = append(refunds, 12.5)
	}
	made := &cancel{task: task{key: key}, by: actor.Owner, refund: refunds[c.rng.IntN(len(refunds))]}
	op.cancels = append(op.cancels, made)
	path := "businesses/" + op.business.slug + "/bookings/" + booked.id + "/cancel"
	return made, c.adminMessage(http.MethodPost, path, object{"refund": made.refund}, key)
}

// cancelByLink cancels as the customer does: it first reads the page of the link, which shows the refund.
func (c *client) cancelByLink(ctx context.Context, op *operation, booked *attempt) {
	token := booked.answer.token
	if token == "" {
		return
	}
	seen := c.call.send(ctx, c.linkMessage(http.MethodGet, token, nil, ""))
	if seen.verdict != made {
		return
	}
	made := &cancel{task: task{key: c.maybeKeyed()}, by: actor.Customer}
	op.cancels = append(op.cancels, made)
	body := object{"refund": seen.answer.Cancellation.Refund.Amount}
	c.perform(ctx, &made.task, c.linkMessage(http.MethodPost, token+"/cancel", body, made.key))
}

// linkMessage returns the request that the customers' pages send for a customer with a link.
func (c *client) linkMessage(method, path string, body any, key string) message {
	header := c.call.cluster.asPages("booking", actor.Customer)
	if method == http.MethodGet {
		delete(header, actor.Header) // a read names no actor
	}
	if key != "" {
		header[idempotency.Header] = key
	}
	return message{service: "booking", inside: true, method: method, path: "/internal/manage/" + path, body: body,
		header: header, read: readManaged}
}

// readMoved reads the booking in the answer of a reschedule. Repeated answers need to agree only on the start: an
// attempt that finds the booking at that start changes nothing and shows the booking's other values as they are now.
func readMoved(a *attempt, body []byte) {
	readThing(a, body)
	a.digest = [32]byte{}
}

// cancelSome cancels some of the created objects, as the owner.
func (c *client) cancelSome(ctx context.Context, op *operation, a *attempt, path string) {
	if a.verdict != made || a.id == "" || c.rng.IntN(5) < 2 {
		return
	}
	cancelled := &cancel{by: actor.Owner}
	op.cancels = append(op.cancels, cancelled)
	cancelled.note(c.call.send(ctx, c.adminMessage(http.MethodPost, "businesses/"+op.business.slug+"/"+path+"/"+a.id+
		"/cancel", nil, "")))
}

// String formats a reschedule as one line of a report.
func (m *move) String() string {
	return fmt.Sprintf("%s moves to %s key %q: %v", m.by, m.to.start(), m.key, m.attempts)
}

// String formats a cancellation as one line of a report.
func (c *cancel) String() string {
	refund, _ := json.Marshal(c.refund)
	return fmt.Sprintf("%s cancels, refund %s, key %q: %v", c.by, refund, c.key, c.attempts)
}
