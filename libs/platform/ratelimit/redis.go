package ratelimit

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed rolling_window.lua
var rollingWindowSource string

var rollingWindow = redis.NewScript(rollingWindowSource)

// maxRoundTrips is the maximal number of concurrent round trips of one [Redis]. Calls that arrive during these round
// trips wait and share the next one. Under load, sharing saves most of the cost of a call, because the round trip is
// the largest part.
const maxRoundTrips = 2

// maxBatch is the maximal number of calls in one round trip.
const maxBatch = 128

// Redis is a [Limiter] that counts requests in the Redis server, by the clock of that server. All replicas therefore
// share one limit. Each check of a request is one call of a Lua script, and concurrent calls share a round trip. The
// first call after a start of the server needs two round trips, because the server must load the script.
//
// A Redis limiter sends a call only once. If the answer is lost, the request may have counted, and a second call could
// count it twice.
type Redis struct {
	client  redis.UniversalClient
	prefix  string
	timeout time.Duration

	mu         sync.Mutex
	waiting    []*call
	roundTrips int // number of round trips in progress
}

var _ Limiter = (*Redis)(nil)

// NewRedis returns a limiter whose keys in Redis begin with `prefix`. A call fails if Redis does not answer within the
// duration `timeout`. The option ContextTimeoutEnabled of the client must be true.
func NewRedis(client redis.UniversalClient, prefix string, timeout time.Duration) *Redis {
	return &Redis{client: client, prefix: prefix, timeout: timeout}
}

// Allow counts a request in Redis. It returns an error if Redis fails, ctx is done or the limit is invalid.
func (r *Redis) Allow(ctx context.Context, who Client, limit Limit) (Decision, error) {
	return decideSingle(ctx, r, Question{who, limit})
}

// AllowInTurn counts a request against several limits in one round trip. In a Redis cluster, each limit needs its
// own round trip, because different nodes may store the windows of the clients. It returns the same errors as Allow.
func (r *Redis) AllowInTurn(ctx context.Context, questions ...Question) ([]Decision, error) {
	if err := check(ctx, questions); err != nil {
		return nil, err
	}
	if _, cluster := r.client.(*redis.ClusterClient); !cluster {
		return r.sendQuestions(ctx, questions)
	}
	var decisions []Decision
	for i := range questions {
		d, err := r.sendQuestions(ctx, questions[i:i+1])
		if err != nil {
			return nil, err
		}
		if decisions = append(decisions, d...); !d[0].Allowed {
			break
		}
	}
	return decisions, nil
}

// sendQuestions sends questions to one node and waits for the decisions.
func (r *Redis) sendQuestions(ctx context.Context, questions []Question) ([]Decision, error) {
	c := &call{ctx: ctx, cmd: r.newCommand(questions), start: time.Now(), done: make(chan struct{})} //nolint:forbidigo // measures Redis, with the monotonic clock
	r.enqueue(c)
	<-c.done // no round trip takes longer than the timeout
	answer, err := c.cmd.Int64Slice()
	if err == nil && (len(answer) == 0 || len(answer)%3 != 0) {
		err = fmt.Errorf("the script answered %v", answer)
	}
	if err != nil {
		return nil, fmt.Errorf("count a request in Redis: %w", err)
	}
	decisions := make([]Decision, len(answer)/3)
	for i := range decisions {
		wait := time.Duration(answer[3*i]) * time.Microsecond
		decisions[i] = Decision{Allowed: wait == 0, RetryAfter: wait, Left: int(answer[3*i+1]),
			Reset: time.Duration(answer[3*i+2]) * time.Microsecond}
	}
	return decisions, nil
}

// call is one call of the Lua script.
type call struct {
	ctx   context.Context // context of the request that is counted
	cmd   unretriedCmd
	start time.Time
	done  chan struct{} // closed when cmd has the answer or an error
}

// unretriedCmd is a command that go-redis does not send again after an error, regardless of the settings of the
// client. go-redis still follows redirections of a cluster, because no node has executed a redirected command.
type unretriedCmd struct{ *redis.Cmd }

// NoRetry returns true to disable the retries of go-redis.
func (unretriedCmd) NoRetry() bool { return true }

var _ redis.Cmder = unretriedCmd{}

// newCommand returns the call of the Lua script for the given questions. The Redis keys in the call have hash tags, so
// that a cluster stores all windows of one client on one node.
func (r *Redis) newCommand(questions []Question) unretriedCmd {
	keys, args := make([]any, 0, 4+4*len(questions)), make([]any, 0, 8)
	keys = append(keys, "evalsha", rollingWindow.Hash(), 0)
	for _, q := range questions {
		shares := q.Client.shares()
		args = append(args, len(shares), q.Limit.Window.Microseconds())
		for _, s := range shares {
			keys = append(keys, r.prefix+"{"+q.Limit.Name+":"+q.Client.group+"}"+s.name)
			args = append(args, q.Limit.N*s.factor)
		}
	}
	keys[2] = len(keys) - 3
	cmd := redis.NewCmd(context.Background(), append(keys, args...)...)
	cmd.SetFirstKeyPos(3)
	return unretriedCmd{cmd}
}

// enqueue adds a call to the next round trip, and starts a round trip if fewer than maxRoundTrips are in progress.
func (r *Redis) enqueue(c *call) {
	r.mu.Lock()
	r.waiting = append(r.waiting, c)
	startsRoundTrip := r.roundTrips < maxRoundTrips
	if startsRoundTrip {
		r.roundTrips++
	}
	r.mu.Unlock()
	if startsRoundTrip {
		go r.drain()
	}
}

// drain makes round trips until no call waits.
func (r *Redis) drain() {
	for {
		r.mu.Lock()
		batch := r.waiting[:min(len(r.waiting), maxBatch)]
		r.waiting = r.waiting[len(batch):]
		if len(batch) == 0 {
			r.waiting = nil
			r.roundTrips--
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		r.run(batch)
		for _, c := range batch {
			close(c.done)
		}
	}
}

// run sends a batch of calls in one round trip. If the server has not loaded the script, it has counted none of the
// calls. run then loads the script and sends the calls again.
//
// The round trip belongs to the trace of the first request. The cancellation of
// that request does not end the round trip, because other requests share it.
func (r *Redis) run(batch []*call) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(batch[0].ctx), batch[0].start.Add(r.timeout))
	defer cancel()
	r.send(ctx, batch)
	var unknown []*call
	for _, c := range batch {
		if err := c.cmd.Err(); err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT ") {
			unknown = append(unknown, c)
		}
	}
	if len(unknown) == 0 {
		return
	}
	if err := rollingWindow.Load(ctx, r.client).Err(); err != nil {
		return // the script cannot be loaded, so the calls fail with the error NOSCRIPT
	}
	for _, c := range unknown {
		c.cmd = unretriedCmd{redis.NewCmd(context.Background(), c.cmd.Args()...)}
		c.cmd.SetFirstKeyPos(3)
	}
	r.send(ctx, unknown)
}

// send sends the commands of the calls. Each command then holds its own answer or error.
func (r *Redis) send(ctx context.Context, batch []*call) {
	if len(batch) == 1 {
		_ = r.client.Process(ctx, batch[0].cmd)
		return
	}
	pipeline := r.client.Pipeline()
	for _, c := range batch {
		_ = pipeline.Process(ctx, c.cmd)
	}
	_, _ = pipeline.Exec(ctx)
}
