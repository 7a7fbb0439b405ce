package server

import (
	"bytes"
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/semaphore"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

const (
	// largeAnswer is from how many bytes on an answer counts: smaller ones go in a few writes, and there are many of them.
	largeAnswer = 64 << 10
	// patienceInFlight is how long a large answer waits for others to be read.
	patienceInFlight = time.Second
)

// inFlight bounds the memory of answers that are being written: readers may be slow, and each holds its answer until the
// write ends, by the server's write timeout at the latest.
type inFlight struct {
	bytes   int64
	budget  *semaphore.Weighted
	refused metric.Int64Counter
}

func newInFlight(bytes int, tel *telemetry.Telemetry) *inFlight {
	return &inFlight{
		bytes: int64(bytes), budget: semaphore.NewWeighted(int64(bytes)),
		refused: tel.Counter("slotmesh.answers.refused", "Large answers refused because others that are being read fill the memory for them."),
	}
}

// middleware lets a large answer go when there is room for it, and answers 503 where there is none for a second.
func (f *inFlight) middleware(c *fiber.Ctx) error {
	if err := c.Next(); err != nil {
		return err
	}
	response := c.Response()
	if response.IsBodyStream() || len(response.Body()) < largeAnswer {
		return nil
	}
	body := response.Body()
	if own := response.SwapBody(nil); len(own) > 0 { // its memory is no longer fasthttp's, which would use it again
		body = own
	}
	weight := min(int64(len(body)), f.bytes)
	wait, cancel := context.WithTimeout(c.UserContext(), patienceInFlight)
	defer cancel()
	if f.budget.Acquire(wait, weight) != nil {
		f.refused.Add(c.UserContext(), 1)
		response.ResetBody()
		response.Header.Del(fiber.HeaderETag)
		full := fault.New(fault.PeerUnavailable, "Too many large answers are being read just now; try again shortly.")
		full.RetryAfter = time.Second
		return full
	}
	response.SetBodyStream(&outgoing{Reader: bytes.NewReader(body), leave: func() { f.budget.Release(weight) }}, len(body))
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
