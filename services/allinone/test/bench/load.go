package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/valyala/fasthttp"
)

// sendFunc sends one request and returns the status of the answer. The argument `n` is the number of the request.
type sendFunc func(n int64) (int, error)

// loopResult is the result of a closed or an open loop.
type loopResult struct {
	Sent     int64
	Elapsed  time.Duration
	Latency  *hdrhistogram.Histogram // in microseconds
	Statuses map[int]int64
}

// PerSecond returns the throughput in requests per second.
func (f loopResult) PerSecond() float64 { return float64(f.Sent) / f.Elapsed.Seconds() }

// workerResult is the result of one client of a loop.
type workerResult struct {
	latency  *hdrhistogram.Histogram
	statuses map[int]int64
}

func newTally() *workerResult {
	const longest, digits = int64(time.Minute / time.Microsecond), 3
	return &workerResult{latency: hdrhistogram.New(1, longest, digits), statuses: map[int]int64{}}
}

func (t *workerResult) record(status int, took time.Duration) {
	t.statuses[status]++
	_ = t.latency.RecordValue(max(1, took.Microseconds())) // cannot fail, because no answer takes longer than a minute
}

// closedLoop measures the maximum throughput: each client sends its next request when it has the answer to its last
// request. Each client sends at least one request, so that even a slow machine produces a result.
func closedLoop(ctx context.Context, clients int, d time.Duration, next *atomic.Int64, s sendFunc) (loopResult, error) {
	startTime := now()
	return runWorkers(ctx, clients, func(t *workerResult) error {
		for first := true; (first || now().Sub(startTime) < d) && ctx.Err() == nil; first = false {
			start := now()
			status, err := s(next.Add(1))
			if err != nil {
				return err
			}
			t.record(status, now().Sub(start))
		}
		return nil
	})
}

// openLoop begins requests at a fixed rate, in requests per second, even if earlier requests still run. If all clients
// are busy, a request begins late. The latency of the request then counts from the time at which it should have begun.
func openLoop(ctx context.Context, clients int, rate float64, d time.Duration, next *atomic.Int64,
	s sendFunc) (loopResult, error) {
	startTime, total := now(), max(1, int64(rate*d.Seconds())) // at least one request, so that there is a latency
	var turn atomic.Int64
	return runWorkers(ctx, clients, func(t *workerResult) error {
		for ctx.Err() == nil {
			i := turn.Add(1) - 1
			if i >= total {
				return nil
			}
			due := startTime.Add(time.Duration(float64(i) / rate * float64(time.Second)))
			if err := sleepUntil(ctx, due); err != nil {
				return err
			}
			status, err := s(next.Add(1))
			if err != nil {
				return err
			}
			t.record(status, now().Sub(due))
		}
		return nil
	})
}

func runWorkers(ctx context.Context, clients int, work func(*workerResult) error) (loopResult, error) {
	startTime := now()
	tallies, errs := make([]*workerResult, clients), make([]error, clients)
	var all sync.WaitGroup
	for i := range clients {
		tallies[i] = newTally()
		all.Go(func() { errs[i] = work(tallies[i]) })
	}
	all.Wait()
	f := loopResult{Elapsed: now().Sub(startTime), Latency: newTally().latency, Statuses: map[int]int64{}}
	for _, t := range tallies {
		f.Latency.Merge(t.latency)
		for status, n := range t.statuses {
			f.Statuses[status] += n
			f.Sent += n
		}
	}
	return f, errors.Join(append(errs, ctx.Err())...)
}

func now() time.Time { return time.Now() } //nolint:forbidigo // measures, with the monotonic clock

func sleepUntil(ctx context.Context, due time.Time) error {
	wait := due.Sub(now())
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// httpClient sends requests over connections that stay open. It uses fasthttp, which needs little CPU time, because the
// load runs on the same machine as the servers.
type httpClient struct{ http *fasthttp.Client }

// answerTimeout limits the wait for a connection or an answer. The run fails when this time has passed, so the time is
// long enough for a slow machine.
const answerTimeout = 2 * time.Minute

// maxAnswer is the maximum number of bytes of an answer.
const maxAnswer = 64 << 20

func newHTTPClient() *httpClient {
	return &httpClient{http: &fasthttp.Client{
		MaxConnsPerHost: 1024, MaxIdemponentCallAttempts: 1, MaxResponseBodySize: maxAnswer,
		Dial: func(address string) (net.Conn, error) { return net.DialTimeout("tcp", address, answerTimeout) },
	}}
}

// call is one HTTP request. The elements of Headers are names and values in turn.
type call struct {
	Method, URL string
	Headers     []string
	Body        []byte
}

// send sends a request and returns the status of the answer. If the function `read` is not nil, send calls `read` with
// the body, which is valid only during the call.
func (c *httpClient) send(r call, read func(body []byte)) (int, error) {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	request.Header.SetMethod(r.Method)
	request.SetRequestURI(r.URL)
	for i := 0; i+1 < len(r.Headers); i += 2 {
		request.Header.Set(r.Headers[i], r.Headers[i+1])
	}
	request.SetBodyRaw(r.Body)
	if err := c.http.DoTimeout(request, response, answerTimeout); err != nil {
		return 0, fmt.Errorf("%s %s: %w", r.Method, r.URL, err)
	}
	if read != nil {
		read(response.Body())
	}
	return response.StatusCode(), nil
}

// get sends a request and returns the body of the answer. If the status is not 200, get returns an error.
func (c *httpClient) get(r call) ([]byte, error) {
	var body []byte
	status, err := c.send(r, func(b []byte) { body = append(body, b...) })
	if err == nil && status != fasthttp.StatusOK {
		err = fmt.Errorf("%s %s: the answer is %d: %s", r.Method, r.URL, status, body)
	}
	return body, err
}
