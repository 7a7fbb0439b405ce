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

// memoryWait is how long a large body or answer waits for memory.
const memoryWait = time.Second

// memoryBudget is a budget of memory, in bytes, for the large bodies or the large
// answers of one port. A slow client can occupy such memory for a long time.
type memoryBudget struct {
	bytes, waits int64
	free         *semaphore.Weighted // of bytes
	queue        *semaphore.Weighted // of waits, because a waiting answer is in memory, too
	maxWait      time.Duration
	refused      metric.Int64Counter

	mu     sync.Mutex
	shares map[string]*businessBudget // by business
}

func newMemoryBudget(bytes int, refused metric.Int64Counter) *memoryBudget {
	size, waits := int64(bytes), int64(bytes/2)
	return &memoryBudget{
		bytes: size, waits: waits, free: semaphore.NewWeighted(size), queue: semaphore.NewWeighted(waits),
		maxWait: memoryWait, refused: refused, shares: make(map[string]*businessBudget),
	}
}

// businessDivisor is the divisor of the memory budget for one business, which thus gets at most a quarter.
const businessDivisor = 4

// businessBudget is the part of a memoryBudget that one business may use. users is the
// number of requests of the business that use the part or wait for it.
type businessBudget struct {
	free, queue *semaphore.Weighted
	users       int
}

// reserveFor is [memoryBudget.reserve] for an answer about a business. One business can use at most a quarter of the
// memory, and of the places for waiting requests. If business is "", the answer concerns no business.
func (r *memoryBudget) reserveFor(ctx context.Context, business string, bytes int) (func(), bool) {
	if business == "" {
		return r.reserve(ctx, bytes)
	}
	own := r.acquireShare(business)
	ctx, cancel := context.WithTimeout(ctx, r.maxWait)
	defer cancel()
	weight := min(int64(bytes), max(r.bytes/businessDivisor, 1))
	if own.free.TryAcquire(weight) || waitFor(ctx, own.free, weight, own.queue,
		min(weight, max(r.waits/businessDivisor, 1))) {
		if leave, ok := r.reserve(ctx, bytes); ok {
			return func() { leave(); own.free.Release(weight); r.releaseShare(business) }, true
		}
		own.free.Release(weight)
	} else {
		r.refused.Add(ctx, 1)
	}
	r.releaseShare(business)
	return nil, false
}

// acquireShare returns the share of a business and counts a user.
func (r *memoryBudget) acquireShare(business string) *businessBudget {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.shares[business]
	if own == nil {
		own = &businessBudget{
			free:  semaphore.NewWeighted(max(r.bytes/businessDivisor, 1)),
			queue: semaphore.NewWeighted(max(r.waits/businessDivisor, 1)),
		}
		r.shares[business] = own
	}
	own.users++
	return own
}

// releaseShare removes a user, and drops the share of a business without users.
func (r *memoryBudget) releaseShare(business string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if own := r.shares[business]; own != nil {
		if own.users--; own.users == 0 {
			delete(r.shares, business)
		}
	}
}

// reserve reserves memory and returns a function that releases it. If too little memory is free, reserve waits
// at most r.maxWait. It returns false if no memory becomes free, or if too many requests already wait.
func (r *memoryBudget) reserve(ctx context.Context, bytes int) (func(), bool) {
	weight := min(int64(bytes), r.bytes)
	if r.free.TryAcquire(weight) || r.waitForMemory(ctx, weight) {
		return func() { r.free.Release(weight) }, true
	}
	r.refused.Add(ctx, 1)
	return nil, false
}

func (r *memoryBudget) waitForMemory(ctx context.Context, weight int64) bool {
	ctx, cancel := context.WithTimeout(ctx, r.maxWait)
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

// newBodyBudget returns a new budget of memory for the request bodies of a port. nil means that there is no bound.
func (s *Server) newBodyBudget() *memoryBudget {
	if s.cfg.AnswerBytesInFlight <= 0 {
		return nil
	}
	return newMemoryBudget(s.cfg.AnswerBytesInFlight,
		s.tel.Counter("slotmesh.bodies.refused",
			"Large request bodies refused because others that are being read fill the memory for them."))
}

// reserveBody reserves memory for a request body and returns a function that releases it.
// length is the announced length, negative if it is unknown. At most limit bytes of the
// body are read. Fault: service_unavailable if too little memory becomes free in time.
func (r *memoryBudget) reserveBody(ctx context.Context, length, limit int) (func(), error) {
	most := length
	if length < 0 || length > limit { // a body that is too long is refused unread
		most = limit
	}
	if r == nil || most < largeBody || length > limit {
		return func() {}, nil
	}
	leave, ok := r.reserve(ctx, most)
	if !ok {
		return nil, newMemoryFault("Too many large requests are being read just now; try again shortly.")
	}
	return leave, nil
}

func newMemoryFault(sentence string) *fault.Error {
	full := fault.New(fault.PeerUnavailable, sentence)
	full.RetryAfter = time.Second
	return full
}

// answerBudget bounds the memory of the large answers that are being written. An answer
// stays in memory until a slow client has read it, or until the server's write timeout.
type answerBudget struct {
	budget    *memoryBudget
	readSpeed *minReadSpeed
}

func newAnswerBudget(bytes int, slow *minReadSpeed, tel *telemetry.Telemetry) *answerBudget {
	return &answerBudget{newMemoryBudget(bytes,
		tel.Counter("slotmesh.answers.refused",
			"Large answers refused because others that are being read fill the memory for them.")), slow}
}

// readerGrace is the time that any reader of a large answer has.
const readerGrace = 5 * time.Second

// minReadSpeed is the minimal speed at which a client must read a large answer.
type minReadSpeed struct {
	grace          time.Duration
	bytesPerSecond int // 0: no bound
}

// maxWriteTime returns the time that a client may take to read an answer
// of the given size. The result is at most the argument most.
func (s *minReadSpeed) maxWriteTime(bytes int, most time.Duration) time.Duration {
	if s.bytesPerSecond <= 0 {
		return most
	}
	return min(most, s.grace+time.Duration(bytes)*time.Second/time.Duration(s.bytesPerSecond))
}

// middleware reserves memory for a large answer before it is sent. If no memory becomes free within a second,
// the answer is 503. The answer to a write is always sent, because a 503 would mean that the write did nothing.
func (f *answerBudget) middleware(c *fiber.Ctx) error {
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
	leave, ok := f.budget.reserveFor(c.UserContext(), c.Params("slug"), len(body))
	if !ok {
		response.ResetBody()
		response.Header.Del(fiber.HeaderETag)
		return newMemoryFault("Too many large answers are being read just now; try again shortly.")
	}
	timeout := f.readSpeed.maxWriteTime(len(body), c.App().Server().WriteTimeout)
	_ = c.Context().SetWriteDeadline(time.Now().Add(timeout)) //nolint:forbidigo // a deadline of the socket is the machine's time
	response.SetBodyStream(&pendingAnswer{Reader: bytes.NewReader(body), release: leave}, len(body))
	return nil
}

// pendingAnswer is the body of an answer until it is written or its connection is lost.
type pendingAnswer struct {
	*bytes.Reader
	release func()
}

// Close releases the reserved memory. fasthttp calls it once.
func (o *pendingAnswer) Close() error {
	o.Reader.Reset(nil)
	o.release()
	return nil
}
