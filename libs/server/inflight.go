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

// From how many bytes on the memory of a request counts: smaller answers go in a few writes, smaller bodies are there with the head or soon
// after, and there are many of both.
const (
	largeAnswer = 64 << 10
	largeBody   = 16 << 10
)

// patienceForRoom is how long a large body or answer waits for others to be done.
const patienceForRoom = time.Second

// room bounds the memory of what is large and may stay long because the other side is slow.
type room struct {
	bytes, waits int64
	free         *semaphore.Weighted // of bytes
	queue        *semaphore.Weighted // of waits: an answer that waits is in memory, too
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

// businessShare is the part of the room that one business takes at most: a quarter.
const businessShare = 4

// share is the part of a room that one business has; users counts who is in it or waits for it.
type roomShare struct {
	free, queue *semaphore.Weighted
	users       int
}

// takeOf is take for an answer about a business. Answers of one business leave three quarters of the room, and of the places to wait, to
// others. "" is no business.
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

// enter returns the share of a business.
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

// exit forgets the share of a business that has no answer left.
func (r *room) exit(business string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if own := r.shares[business]; own != nil {
		if own.users--; own.users == 0 {
			delete(r.shares, business)
		}
	}
}

// take waits for room, a second at most, where others that wait leave any. It returns what gives the room back; false: there is none.
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

// waitFor waits until as much is free, if there is a place to wait.
func waitFor(ctx context.Context, free *semaphore.Weighted, weight int64, queue *semaphore.Weighted, waiting int64) bool {
	if !queue.TryAcquire(waiting) {
		return false
	}
	defer queue.Release(waiting)
	return free.Acquire(ctx, weight) == nil
}

// bodies returns the room of a port for the bodies of requests; nil: without a bound.
func (s *Server) bodies() *room {
	if s.cfg.AnswerBytesInFlight <= 0 {
		return nil
	}
	return newRoom(s.cfg.AnswerBytesInFlight,
		s.tel.Counter("slotmesh.bodies.refused", "Large request bodies refused because others that are being read fill the memory for them."))
}

// forBody takes room for a body of a length, negative where it is not announced, of which at most limit is read.
func (r *room) forBody(ctx context.Context, length, limit int) (func(), error) {
	most := length
	if length < 0 || length > limit { // one that is too long is refused without being read
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

// inFlight bounds the memory of answers that are being written: readers may be slow, and each holds its answer until the
// write ends, by the server's write timeout at the latest.
type inFlight struct {
	room *room
	slow *slowness
}

func newInFlight(bytes int, slow *slowness, tel *telemetry.Telemetry) *inFlight {
	return &inFlight{newRoom(bytes,
		tel.Counter("slotmesh.answers.refused", "Large answers refused because others that are being read fill the memory for them.")), slow}
}

// readerGrace is how long a reader may take for any large answer.
const readerGrace = 5 * time.Second

// slowness is how slow a reader of a large answer may be.
type slowness struct {
	grace          time.Duration
	bytesPerSecond int // 0: no bound
}

// within returns how long a reader may take for an answer, at most the server's own bound.
func (s *slowness) within(bytes int, most time.Duration) time.Duration {
	if s.bytesPerSecond <= 0 {
		return most
	}
	return min(most, s.grace+time.Duration(bytes)*time.Second/time.Duration(s.bytesPerSecond))
}

// middleware lets a large answer go when there is room for it, and answers 503 where there is none for a second. What a write is answered
// with always goes: a 503 would say that nothing was done.
func (f *inFlight) middleware(c *fiber.Ctx) error {
	if err := c.Next(); err != nil {
		return err
	}
	response := c.Response()
	if response.IsBodyStream() || len(response.Body()) < largeAnswer || !isRead(c.Method()) {
		return nil
	}
	body := response.Body()
	if own := response.SwapBody(nil); len(own) > 0 { // its memory is no longer fasthttp's, which would use it again
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

// outgoing is an answer's body until it is written, or its connection is lost.
type outgoing struct {
	*bytes.Reader
	leave func()
}

// Close is called once, by fasthttp.
func (o *outgoing) Close() error {
	o.Reader.Reset(nil)
	o.leave()
	return nil
}
