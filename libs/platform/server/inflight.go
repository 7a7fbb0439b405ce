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

// largeAnswer and largeBody are the sizes in bytes from which a request must reserve memory. Smaller answers need few
// writes. Smaller bodies arrive together with the head or soon after it. Small answers and small bodies are so frequent
// that a reservation for each of them would cost too much.
const (
	largeAnswer = 64 << 10
	largeBody   = 16 << 10
)

// memoryWait is the maximal time for which a large body or a large answer waits for memory.
const memoryWait = time.Second

// memoryBudget bounds the memory, in bytes, for the large bodies or the large
// answers of one port. A slow client can occupy this memory for a long time.
type memoryBudget struct {
	bytes, waits int64
	free         *semaphore.Weighted // counts bytes that are not reserved
	queue        *semaphore.Weighted // counts bytes of waiting requests, because a waiting answer also occupies memory
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

// businessDivisor determines the part of the memory budget that one business can use: a quarter.
const businessDivisor = 4

// businessBudget is the part of the memory budget that one business can use. The field `users` is the number of
// requests of the business that use this part or wait for it.
type businessBudget struct {
	free, queue *semaphore.Weighted
	users       int
}

// reserveFor reserves memory for an answer about a business, as [memoryBudget.reserve]
// does. One business can use at most a quarter of the memory, and a quarter of the
// places for waiting requests. If business is "", the answer concerns no business.
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

// acquireShare returns the budget of a business and increments its number of users.
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

// releaseShare decrements the number of users of a business.
// When no user remains, it deletes the budget of the business.
func (r *memoryBudget) releaseShare(business string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if own := r.shares[business]; own != nil {
		if own.users--; own.users == 0 {
			delete(r.shares, business)
		}
	}
}

// reserve reserves memory and returns a function that releases it. If too little memory is free, reserve waits at most
// r.maxWait. It returns false if too little memory becomes free in this time, or if too many requests already wait.
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

// waitFor waits until it can acquire `weight` from the semaphore `free`. It returns false if ctx ends first. While it
// waits, it holds `waiting` of the semaphore `queue`, which bounds the waiting requests. If less than `waiting` is left
// in `queue`, waitFor returns false immediately.
func waitFor(ctx context.Context, free *semaphore.Weighted, weight int64, queue *semaphore.Weighted,
	waiting int64) bool {
	if !queue.TryAcquire(waiting) {
		return false
	}
	defer queue.Release(waiting)
	return free.Acquire(ctx, weight) == nil
}

// newBodyBudget returns a new memory budget for the request bodies
// of a port. It returns nil if the configuration sets no limit.
func (s *Server) newBodyBudget() *memoryBudget {
	if s.cfg.AnswerBytesInFlight <= 0 {
		return nil
	}
	return newMemoryBudget(s.cfg.AnswerBytesInFlight,
		s.tel.Counter("slotmesh.bodies.refused",
			"Large request bodies refused because others that are being read fill the memory for them."))
}

// reserveBody reserves memory for a request body and returns a function that releases it. The argument `length` is the
// value of Content-Length; it is negative if the length is unknown. The server reads at most `limit` bytes of the body.
// Fault: service_unavailable if too little memory becomes free in time.
func (r *memoryBudget) reserveBody(ctx context.Context, length, limit int) (func(), error) {
	most := length
	if length < 0 || length > limit { // a body that is longer than limit is refused without reading it
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

// answerBudget bounds the memory of the large answers that the server is sending. An answer
// stays in memory until the client has read it, or until the write timeout of the server.
type answerBudget struct {
	budget    *memoryBudget
	readSpeed *minReadSpeed
}

func newAnswerBudget(bytes int, slow *minReadSpeed, tel *telemetry.Telemetry) *answerBudget {
	return &answerBudget{newMemoryBudget(bytes,
		tel.Counter("slotmesh.answers.refused",
			"Large answers refused because others that are being read fill the memory for them.")), slow}
}

// readerGrace is the minimal time that each client has to read a large answer.
const readerGrace = 5 * time.Second

// minReadSpeed is the minimal speed at which a client must read a large answer. In addition to the time that this speed
// allows, the client has the duration `grace`.
type minReadSpeed struct {
	grace          time.Duration
	bytesPerSecond int // 0: no minimal speed
}

// maxWriteTime returns the time that a client may take to read an answer of
// this size in bytes. The result is never longer than the argument `most`.
func (s *minReadSpeed) maxWriteTime(bytes int, most time.Duration) time.Duration {
	if s.bytesPerSecond <= 0 {
		return most
	}
	return min(most, s.grace+time.Duration(bytes)*time.Second/time.Duration(s.bytesPerSecond))
}

// middleware reserves memory for a large answer before the answer is sent. If too
// little memory becomes free within a second, the answer is 503 instead. An answer to
// a write is always sent, because a 503 would mean that the write changed nothing.
func (f *answerBudget) middleware(c *fiber.Ctx) error {
	if err := c.Next(); err != nil {
		return err
	}
	response := c.Response()
	if response.IsBodyStream() || len(response.Body()) < largeAnswer || !isRead(c.Method()) {
		return nil
	}
	body := response.Body()
	// SwapBody takes the memory of the body from fasthttp, because fasthttp would reuse the memory for another answer.
	if own := response.SwapBody(nil); len(own) > 0 {
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

// pendingAnswer is the body of a large answer until it was sent or the connection was lost.
type pendingAnswer struct {
	*bytes.Reader
	release func()
}

// Close releases the reserved memory. fasthttp calls it once per answer.
func (o *pendingAnswer) Close() error {
	o.Reader.Reset(nil)
	o.release()
	return nil
}
