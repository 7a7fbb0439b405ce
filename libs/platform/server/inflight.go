package server

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/semaphore"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// The sizes, in bytes, from which memory of a request is reserved. Smaller answers need
// few writes, and smaller bodies arrive with the head or soon after. Both are frequent.
const (
	largeAnswer = 64 << 10
	largeBody   = 16 << 10
)

// patienceForRoom is how long a large body or answer waits for memory.
const patienceForRoom = time.Second

// room is a budget of memory, in bytes, for the large bodies or the large
// answers of one port. A slow client can occupy such memory for a long time.
type room struct {
	bytes, waits int64
	free         *semaphore.Weighted // of bytes
	queue        *semaphore.Weighted // of waits: a waiting answer is in memory, too
	patience     time.Duration
	refused      metric.Int64Counter

	mu     sync.Mutex
	shares map[string]*roomShare // by business
}

func newRoom(bytes int, refused metric.Int64Counter) *room {
	size, waits := int64(bytes), int64(bytes/2)
	return &room{
		bytes: size, waits: waits, free: semaphore.NewWeighted(size), queue: semaphore.NewWeighted(waits),
		patience: patienceForRoom, refused: refused, shares: make(map[string]*roomShare),
	}
}

// businessShare is the divisor of the memory budget for one business, which thus gets at most a quarter.
const businessShare = 4

// roomShare is the part of a room that one business may use. users is the
// number of requests of the business that use the part or wait for it.
type roomShare struct {
	free, queue *semaphore.Weighted
	users       int
}

// takeOf is [room.take] for an answer about a business. One business can use at most a quarter of the
// memory, and of the places for waiting requests. If business is "", the answer concerns no business.
func (r *room) takeOf(ctx context.Context, business string, bytes int) (func(), bool) {
	if business == "" {
		return r.take(ctx, bytes)
	}
	own := r.enter(business)
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	weight := min(int64(bytes), max(r.bytes/businessShare, 1))
	if own.free.TryAcquire(weight) || waitFor(ctx, own.free, weight, own.queue,
		min(weight, max(r.waits/businessShare, 1))) {
		if leave, ok := r.take(ctx, bytes); ok {
			return func() { leave(); own.free.Release(weight); r.exit(business) }, true
		}
		own.free.Release(weight)
	} else {
		r.refused.Add(ctx, 1)
	}
	r.exit(business)
	return nil, false
}

// enter returns the share of a business and counts a user.
func (r *room) enter(business string) *roomShare {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.shares[business]
	if own == nil {
		own = &roomShare{
			free:  semaphore.NewWeighted(max(r.bytes/businessShare, 1)),
			queue: semaphore.NewWeighted(max(r.waits/businessShare, 1)),
		}
		r.shares[business] = own
	}
	own.users++
	return own
}

// exit removes a user, and drops the share of a business without users.
func (r *room) exit(business string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if own := r.shares[business]; own != nil {
		if own.users--; own.users == 0 {
			delete(r.shares, business)
		}
	}
}

// take reserves memory and returns a function that releases it. If too little memory is free, take waits
// at most r.patience. It returns false if no memory becomes free, or if too many requests already wait.
func (r *room) take(ctx context.Context, bytes int) (func(), bool) {
	weight := min(int64(bytes), r.bytes)
	if r.free.TryAcquire(weight) || r.wait(ctx, weight) {
		return func() { r.free.Release(weight) }, true
	}
	r.refused.Add(ctx, 1)
	return nil, false
}

func (r *room) wait(ctx context.Context, weight int64) bool {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	return waitFor(ctx, r.free, weight, r.queue, min(weight, r.waits))
}

// waitFor waits until the semaphore free has the weight, and acquires it. It returns
// false if ctx ends first, or if the queue has no place for another waiting request.
func waitFor(ctx context.Context, free *semaphore.Weighted, weight int64, queue *semaphore.Weighted,
	waiting int64) bool {
	if !queue.TryAcquire(waiting) {
		return false
	}
	defer queue.Release(waiting)
	return free.Acquire(ctx, weight) == nil
}

// bodies returns a new budget of memory for the request bodies of a port. nil means that there is no bound.
func (s *Server) bodies() *room {
	if s.cfg.AnswerBytesInFlight <= 0 {
		return nil
	}
	return newRoom(s.cfg.AnswerBytesInFlight,
		s.tel.Counter("slotmesh.bodies.refused",
			"Large request bodies refused because others that are being read fill the memory for them."))
}

// forBody reserves memory for a request body and returns a function that releases it.
// length is the announced length, negative if it is unknown. At most limit bytes of the
// body are read. Fault: service_unavailable if too little memory becomes free in time.
func (r *room) forBody(ctx context.Context, length, limit int) (func(), error) {
	most := length
	if length < 0 || length > limit { // a body that is too long is refused unread
		most = limit
	}
	if r == nil || most < largeBody || length > limit {
		return func() {}, nil
	}
	leave, ok := r.take(ctx, most)
	if !ok {
		return nil, crowded("Too many large requests are being read just now; try again shortly.")
	}
	return leave, nil
}

func crowded(sentence string) *fault.Error {
	full := fault.New(fault.PeerUnavailable, sentence)
	full.RetryAfter = time.Second
	return full
}

// inFlight bounds the memory of the large answers that are being written. An answer
// stays in memory until a slow client has read it, or until the server's write timeout.
type inFlight struct {
	room *room
	slow *slowness
}

func newInFlight(bytes int, slow *slowness, tel *telemetry.Telemetry) *inFlight {
	return &inFlight{newRoom(bytes,
		tel.Counter("slotmesh.answers.refused",
			"Large answers refused because others that are being read fill the memory for them.")), slow}
}

// readerGrace is the time that any reader of a large answer has.
const readerGrace = 5 * time.Second

// slowness is the minimal speed at which a client must read a large answer.
type slowness struct {
	grace          time.Duration
	bytesPerSecond int // 0: no bound
}

// within returns the time that a client may take to read an answer
// of the given size. The result is at most the argument most.
func (s *slowness) within(bytes int, most time.Duration) time.Duration {
	if s.bytesPerSecond <= 0 {
		return most
	}
	return min(most, s.grace+time.Duration(bytes)*time.Second/time.Duration(s.bytesPerSecond))
}

// middleware reserves memory for a large answer before it is sent. If no memory becomes free within a second,
// the answer is 503. The answer to a write is always sent, because a 503 would mean that the write did nothing.
func (f *inFlight) middleware(c *fiber.Ctx) error {
	if err := c.Next(); err != nil {
		return err
	}
	response := c.Response()
	if response.IsBodyStream() || len(response.Body()) < largeAnswer || !isRead(c.Method()) {
		return nil
	}
	body := response.Body()
	if own := response.SwapBody(nil); len(own) > 0 { // takes the memory from fasthttp, which would reuse it
		body = own
	}
	leave, ok := f.room.takeOf(c.UserContext(), c.Params("slug"), len(body))
	if !ok {
		response.ResetBody()
		response.Header.Del(fiber.HeaderETag)
		return crowded("Too many large answers are being read just now; try again shortly.")
	}
	within := f.slow.within(len(body), c.App().Server().WriteTimeout)
	_ = c.Context().SetWriteDeadline(time.Now().Add(within)) //nolint:forbidigo // a deadline of the socket is the machine's time
	response.SetBodyStream(&outgoing{Reader: bytes.NewReader(body), leave: leave}, len(body))
	return nil
}

// outgoing is the body of an answer until it is written or its connection is lost.
type outgoing struct {
	*bytes.Reader
	leave func()
}

// Close releases the reserved memory. fasthttp calls it once.
func (o *outgoing) Close() error {
	o.Reader.Reset(nil)
	o.leave()
	return nil
}
