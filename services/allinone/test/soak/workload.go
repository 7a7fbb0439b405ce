package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// workload contains the operations of all clients, and the data that the clients share.
type workload struct {
	o            Options
	call         *caller
	exact, mixed *business
	provider     *provider
	today        time.Time
	hasAdminKeys bool
	editions     map[string]map[int64]edition // by slug and version; read at the end of the soak

	number     atomic.Int64
	mu         sync.Mutex
	operations []*operation
	keys       map[*business][]*apiKey
}

// client executes random actions. Each client draws the actions from its own stream of random numbers.
type client struct {
	*workload
	rng *rand.Rand
}

// action is an action of clients, with its relative frequency.
type action struct {
	weight int
	do     func(*client, context.Context)
}

var actions = []action{
	{25, (*client).bookExact},
	{10, (*client).bookSeats},
	{20, (*client).bookMixed},
	{8, (*client).bookPackage},
	{8, (*client).bookPaid},
	{6, (*client).buyTickets},
	{6, (*client).rentPaid},
	{8, (*client).sellTickets},
	{8, (*client).reserve},
	{8, (*client).bookByAgent},
	{5, (*client).browse},
}

// run executes actions until ctx ends. An action that has begun is finished.
func (c *client) run(ctx context.Context) {
	total := 0
	for _, a := range actions {
		total += a.weight
	}
	finishing := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		n := c.rng.IntN(total)
		for _, a := range actions {
			if n -= a.weight; n < 0 {
				a.do(c, finishing)
				break
			}
		}
		sleep(ctx, c.o.Think)
	}
}

// hotPeriod is the time in which all clients request the same days, so that they compete for slots. Afterwards all
// clients request the next days, so that there are always free slots.
const hotPeriod = 4 * time.Second

func (c *client) epoch() int { return int(c.call.elapsed() / hotPeriod) }

func (c *client) chooseDay() string { return c.formatDay(c.epoch() + c.rng.IntN(3)) }

func (w *workload) formatDay(epoch int) string {
	return w.today.AddDate(0, 0, firstDay+epoch%(advanceDays-2*firstDay)).Format(time.DateOnly)
}

// begin records an operation before its first attempt. Half of the operations get an Idempotency-Key.
func (c *client) begin(op *operation) *operation {
	op.tag = fmt.Sprintf("c%d@example.com", c.number.Add(1))
	if op.business != nil && op.apiKey == nil {
		op.apiKey = c.chooseKey(op.business)
	}
	op.key = c.drawKey()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.operations = append(c.operations, op)
	return op
}

// drawKey returns an Idempotency-Key for half of the tasks, and "" for the other half.
func (c *client) drawKey() string {
	if c.rng.IntN(2) == 0 {
		return ""
	}
	return fmt.Sprintf("key-%016x%016x", c.rng.Uint64(), c.rng.Uint64())
}

func (c *client) chooseKey(b *business) *apiKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := c.keys[b]
	return keys[c.rng.IntN(len(keys))]
}

// newOrder returns the body of a request to POST /book.
func (c *client) newOrder(op *operation, clock string, services ...*service) object {
	var ids []uuid.UUID
	for _, s := range services {
		ids = append(ids, s.id)
	}
	return object{
		"service_ids": ids, "date": op.date, "time": clock, "customer_name": "Ada", "customer_email": op.tag,
		"form_data": object{"n": c.rng.IntN(1000)},
	}
}

func (op *operation) newBookMessage(order object) message {
	header := map[string]string{"Authorization": "Bearer " + op.apiKey.secret}
	if op.key != "" {
		header["Idempotency-Key"] = op.key
	}
	return message{
		service: "booking", method: http.MethodPost, path: "/api/public/" + op.business.slug + "/book", body: order,
		header: header, read: readBooking,
	}
}

// maxAttempts is the maximum number of times that a client sends the request of a task, one after the other.
const maxAttempts = 4

// perform executes a task. Without an Idempotency-Key, it makes one attempt. With a key, it makes attempts until the
// outcome is known, at most maxAttempts. It sometimes sends two requests at the same time. It sometimes repeats a
// successful request; the answer must then be the same.
func (c *client) perform(ctx context.Context, t *task, m message) *attempt {
	var last *attempt
	for try := range maxAttempts {
		last = c.attemptOnce(ctx, t, m, t.key != "" && c.rng.IntN(6) == 0)
		repeat := t.key != "" && (last.outcome == unknown || last.status == http.StatusServiceUnavailable ||
			last.code == "idempotency_in_progress" || last.outcome == succeeded && c.rng.IntN(6) == 0)
		if !repeat {
			break
		}
		sleep(ctx, time.Duration(try+1)*100*time.Millisecond)
	}
	return t.chooseAttempt(last)
}

// chooseAttempt returns a successful attempt. If no attempt succeeded, it returns the argument `last`.
func (t *task) chooseAttempt(last *attempt) *attempt {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.attempts {
		if a.outcome == succeeded {
			return a
		}
	}
	return last
}

func (c *client) attemptOnce(ctx context.Context, t *task, m message, twice bool) *attempt {
	var beside sync.WaitGroup
	if twice {
		after := time.Duration(c.rng.IntN(300)) * time.Millisecond
		beside.Go(func() {
			sleep(ctx, after)
			t.addAttempt(c.call.send(ctx, m))
		})
	}
	a := c.call.send(ctx, m)
	t.addAttempt(a)
	beside.Wait()
	return a
}

func (t *task) addAttempt(a *attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.attempts = append(t.attempts, a)
}

func (w *workload) newAdminMessage(method, path string, body any, key string) message {
	header := map[string]string{"Authorization": "Bearer " + adminToken}
	if key != "" {
		header["Idempotency-Key"] = key
	}
	return message{service: "console", method: method, path: "/admin/" + path, body: body, header: header,
		read: readObject}
}

// bookExact books half an hour with a named staff member. The possible bookings do not overlap each other.
func (c *client) bookExact(ctx context.Context) {
	p := c.chooseHalfHour()
	op := c.begin(&operation{kind: "service", business: c.exact, date: p.date, resource: p.resource, takes: [3]int{1},
		caps: [3]int{1}})
	order := c.newOrder(op, p.clock, c.exact.findService("half"))
	order["staff_id"] = p.staff
	c.changeLater(ctx, op, c.perform(ctx, &op.task, op.newBookMessage(order)), c.chooseHalfHour)
}

func (c *client) chooseHalfHour() rescheduleTarget {
	member := c.exact.staff[c.rng.IntN(2)]
	id := c.exact.deriveID("staff", member)
	p := rescheduleTarget{date: c.chooseDay(), clock: fmt.Sprintf("%02d:%02d", opensAt+c.rng.IntN(6), 30*c.rng.IntN(2)),
		staff: &id}
	p.resource = member + " " + p.date + " " + p.clock
	return p
}

// bookSeats books seats of a class session.
func (c *client) bookSeats(ctx context.Context) {
	b, key := c.exact, "ring"
	if c.rng.IntN(3) == 0 {
		b, key = c.mixed, "yoga"
	}
	s, party := b.findService(key), 1+c.rng.IntN(3)
	session := func() rescheduleTarget {
		p := rescheduleTarget{date: c.chooseDay(), clock: sessionTime}
		if b.isExact {
			p.resource = key + " " + p.date
		}
		return p
	}
	p := session()
	op := c.begin(&operation{kind: "class", business: b, date: p.date, resource: p.resource, takes: [3]int{party},
		caps: [3]int{s.capacity}})
	order := c.newOrder(op, sessionTime, s)
	order["party_size"] = party
	c.changeLater(ctx, op, c.perform(ctx, &op.task, op.newBookMessage(order)), session)
}

// chooseTime returns a start on the grid that leaves enough time before closing for every kind of booking.
func (c *client) chooseTime() string {
	return fmt.Sprintf("%02d:%02d", opensAt+c.rng.IntN(8), intervalMinutes*c.rng.IntN(60/intervalMinutes))
}

// bookMixed books an appointment with any staff member, with a certain staff member, or for a service without staff.
func (c *client) bookMixed(ctx context.Context) {
	s := c.mixed.findService([]string{"cut", "wash", "sauna"}[c.rng.IntN(3)])
	op := c.begin(&operation{kind: "service", business: c.mixed, date: c.chooseDay()})
	order := c.newOrder(op, c.chooseTime(), s)
	if len(s.staff) == 0 {
		op.kind = "lane"
	} else if c.rng.IntN(2) == 0 {
		order["staff_id"] = c.mixed.deriveID("staff", s.staff[c.rng.IntN(len(s.staff))])
	}
	c.changeLater(ctx, op, c.perform(ctx, &op.task, op.newBookMessage(order)), c.choosePlace)
}

// bookPackage books two consecutive services, with one staff member or with two.
func (c *client) bookPackage(ctx context.Context) {
	op := c.begin(&operation{kind: "package", business: c.mixed, date: c.chooseDay()})
	order := c.newOrder(op, c.chooseTime(), c.mixed.findService("cut"), c.mixed.findService("wash"))
	order["is_package"] = true
	if c.rng.IntN(2) == 0 {
		order["staffing_mode"] = "per_service"
	}
	c.changeLater(ctx, op, c.perform(ctx, &op.task, op.newBookMessage(order)), c.choosePlace)
}

// bookPaid books an appointment that is paid online, and pays for most of the bookings.
func (c *client) bookPaid(ctx context.Context) {
	op := c.begin(&operation{kind: "paid", business: c.mixed, date: c.chooseDay()})
	order := c.newOrder(op, c.chooseTime(), c.mixed.findService("paid"))
	order["payment_choice"] = "online"
	a := c.perform(ctx, &op.task, op.newBookMessage(order))
	if a.outcome == succeeded && c.rng.IntN(4) > 0 {
		c.pay(ctx, a.answer.reference, c.rng.IntN(3) > 0)
	}
	c.changeLater(ctx, op, a, c.choosePlace)
}

// bookByAgent books an appointment like bookMixed, but through an MCP tool.
func (c *client) bookByAgent(ctx context.Context) {
	op := c.begin(&operation{kind: "agent", business: c.mixed, date: c.chooseDay()})
	arguments := c.newOrder(op, c.chooseTime(), c.mixed.findService("cut"))
	if op.key != "" {
		arguments["idempotency_key"] = op.key
	}
	c.changeLater(ctx, op, c.perform(ctx, &op.task, message{
		service: "mcp", method: http.MethodPost, path: "/mcp", read: readTool,
		header: map[string]string{"Authorization": "Bearer " + op.apiKey.secret,
			"Accept": "application/json, text/event-stream"},
		body: object{
			"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": "book_appointment",
				"arguments": arguments},
		},
	}), c.choosePlace)
}

// sellTickets sells tickets at the door, in the role of the owner.
func (c *client) sellTickets(ctx context.Context) {
	n := (c.epoch()/4 + c.rng.IntN(2)) % events
	e, tier, quantity := c.mixed.events[n], c.rng.IntN(2), 1+c.rng.IntN(4)
	op := c.begin(&operation{
		kind: "ticket", business: c.mixed, resource: fmt.Sprintf("event %d", n),
		caps: [3]int{tierCapacity, tierCapacity, eventCapacity},
	})
	op.takes[tier], op.takes[2] = quantity, quantity
	c.dropKeys(op)
	body := object{"event_id": e.id, "tier_id": e.tiers[tier], "quantity": quantity, "customer_name": op.tag}
	m := c.newAdminMessage(http.MethodPost, "businesses/"+c.mixed.slug+"/tickets", body, op.key)
	c.cancelSome(ctx, op, c.perform(ctx, &op.task, m), "tickets")
}

// reserve reserves rentals, in the role of the owner.
func (c *client) reserve(ctx context.Context) {
	r := c.mixed.rentals[c.rng.IntN(2)] // the rentals without online payment
	quantity := 1 + c.rng.IntN(2)
	op := c.begin(&operation{kind: "reservation", business: c.mixed, date: c.chooseDay()})
	c.dropKeys(op)
	body := object{"rental_id": r.id, "start_date": op.date, "end_date": op.date, "quantity": quantity,
		"customer_name": op.tag}
	if r.isHourly {
		hour := opensAt + c.rng.IntN(8)
		body["start_time"], body["end_time"] = fmt.Sprintf("%02d:00", hour),
			fmt.Sprintf("%02d:00", hour+1+c.rng.IntN(3))
	} else {
		op.resource, op.takes, op.caps = r.key+" "+op.date, [3]int{quantity}, [3]int{r.quantity}
	}
	m := c.newAdminMessage(http.MethodPost, "businesses/"+c.mixed.slug+"/reservations", body, op.key)
	c.cancelSome(ctx, op, c.perform(ctx, &op.task, m), "reservations")
}

// dropKeys removes the API key of an operation. If the admin API does not accept idempotency keys, it also removes the
// Idempotency-Key.
func (c *client) dropKeys(op *operation) {
	op.apiKey = nil
	if !c.hasAdminKeys {
		op.key = ""
	}
}

// browse sends the requests of a visitor who only looks at the booking page.
func (c *client) browse(ctx context.Context) {
	date, s := c.chooseDay(), c.mixed.findService("cut")
	m := message{service: "availability", method: http.MethodGet,
		path: fmt.Sprintf("/api/public/%s/slots?date=%s&service_id=%s", c.mixed.slug, date, s.id)}
	switch c.rng.IntN(4) {
	case 0:
		m = message{service: "catalog", method: http.MethodGet, path: "/api/public/" + c.mixed.slug +
			"/services?date=" + date}
	case 1:
		m = message{service: "catalog", method: http.MethodGet, path: "/api/public/" + c.mixed.slug + "/events"}
	case 2:
		r := c.mixed.rentals[0]
		m = message{service: "rental", method: http.MethodGet,
			path: fmt.Sprintf("/api/public/%s/rental-availability?rentalId=%s&startDate=%s&endDate=%s", c.mixed.slug,
				r.id, date, date)}
	}
	c.call.send(ctx, m)
}
