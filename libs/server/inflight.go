package server

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/semaphore"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Sizes in bytes from which the memory of a request is counted. Smaller answers need
// few writes, smaller bodies arrive with the head or soon after, and both are frequent.
const (
	largeAnswer = 64 << 10
	largeBody   = 16 << 10
)

// patienceForRoom is how long a large body or answer waits for memory.
const patienceForRoom = time.Second

// room bounds the memory of large bodies or answers, which a slow client can occupy for long.
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

// businessShare is the divisor of the room for one business: it gets at most a quarter.
const businessShare = 4

// roomShare is the part of a room for one business. users is the number of its requests that use or wait for it.
type roomShare struct {
	free, queue *semaphore.Weighted
	users       int
}

// takeOf is take for an answer about a business. One business can use a
// quarter of the room, and of the waiting places. "" means no business.
func (r *room) takeOf(ctx context.Context, business string, bytes int) (func(), bool) {
	if business == "" {
		return r.take(ctx, bytes)
	}
	own := r.enter(business)
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	weight := min(int64(bytes), max(r.bytes/businessShare, 1))
	if own.free.TryAcquire(weight) || waitFor(ctx, own.free, weight, own.queue, min(weight, max(r.waits/businessShare, 1))) {
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

// take waits at most r.patience for room, if there is a waiting place. It
// returns a function that releases the room, or false if there is no room.
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

// waitFor waits until weight is free. It returns false if there is no waiting place.
func waitFor(ctx context.Context, free *semaphore.Weighted, weight int64, queue *semaphore.Weighted, waiting int64) bool {
	if !queue.TryAcquire(waiting) {
		return false
	}
	defer queue.Release(waiting)
	return free.Acquire(ctx, weight) == nil
}

// bodies returns the room of a port for request bodies; nil means no bound.
func (s *Server) bodies() *room {
	if s.cfg.AnswerBytesInFlight <= 0 {
		return nil
	}
	return newRoom(s.cfg.AnswerBytesInFlight,
		s.tel.Counter("slotmesh.bodies.refused", "Large request bodies refused because others that are being read fill the memory for them."))
}

// forBody takes room for a body of this length, negative if unknown, of which at most limit bytes are read.
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

// inFlight bounds the memory of answers that are being written. Readers may be slow, and
// each answer stays in memory until it is written, at most until the server's write timeout.
type inFlight struct {
	room *room
	slow *slowness
}

func newInFlight(bytes int, slow *slowness, tel *telemetry.Telemetry) *inFlight {
	return &inFlight{newRoom(bytes,
		tel.Counter("slotmesh.answers.refused", "Large answers refused because others that are being read fill the memory for them.")), slow}
}

// readerGrace is the time that any reader of a large answer has.
const readerGrace = 5 * time.Second

// slowness is the slowest permitted reading of a large answer.
type slowness struct {
	grace          time.Duration
	bytesPerSecond int // 0: no bound
}

// within returns how long a reader may take for an answer of this size, at most most.
func (s *slowness) within(bytes int, most time.Duration) time.Duration {
	if s.bytesPerSecond <= 0 {
		return most
	}
	return min(most, s.grace+time.Duration(bytes)*time.Second/time.Duration(s.bytesPerSecond))
}

// middleware sends a large answer when there is room for it, and answers 503 if there is none for
// a second. The answer to a write is always sent, because a 503 would mean that nothing was done.
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

// Close releases the room. fasthttp calls it once.
func (o *outgoing) Close() error {
	o.Reader.Reset(nil)
	o.leave()
	return nil
}
