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

// mostFlights is how many round trips of one [Redis] are under way at a time. Checks that come meanwhile wait for the next and
// share it, which under load is most of what a check costs.
const mostFlights = 2

// mostTogether bounds how many checks one round trip takes.
const mostTogether = 128

// Redis counts in Redis, on Redis's clock, so that all replicas share one limit. A check is one script and one round trip, which
// checks made at the same time share; only the first after a start of Redis takes two, because the script has to be sent.
//
// A script is sent once. Whether one that was not answered in time has counted cannot be known, and sent again it would
// count twice.
type Redis struct {
	client   redis.UniversalClient
	prefix   string
	patience time.Duration

	mu      sync.Mutex
	waiting []*question
	flights int
}

var _ Limiter = (*Redis)(nil)

// NewRedis returns a limiter whose Redis keys begin with prefix. A check that Redis does not answer within patience is an
// error; for that the client must be made with ContextTimeoutEnabled.
func NewRedis(client redis.UniversalClient, prefix string, patience time.Duration) *Redis {
	return &Redis{client: client, prefix: prefix, patience: patience}
}

// Allow decides in Redis. Its error is that of Redis or of ctx, or says that the limit makes no sense.
func (r *Redis) Allow(ctx context.Context, who Client, limit Limit) (Decision, error) {
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	if limit.N == 0 {
		return Decision{Allowed: true}, nil
	}
	if err := limit.check(); err != nil {
		return Decision{}, err
	}
	q := &question{ctx: ctx, cmd: r.command(who, limit), asked: time.Now(), landed: make(chan struct{})} //nolint:forbidigo // measures Redis, with the monotonic clock
	r.ask(q)
	<-q.landed // soon: no flight takes longer than patience
	answer, err := q.cmd.Int64Slice()
	if err == nil && len(answer) != 3 {
		err = fmt.Errorf("the script answered %v", answer)
	}
	if err != nil {
		return Decision{}, fmt.Errorf("count a request in Redis: %w", err)
	}
	wait := time.Duration(answer[0]) * time.Microsecond
	return Decision{Allowed: wait == 0, RetryAfter: wait, Left: int(answer[1]), Reset: time.Duration(answer[2]) * time.Microsecond}, nil
}

// question is a check on its way.
type question struct {
	ctx    context.Context // of the request that is counted
	cmd    once
	asked  time.Time
	landed chan struct{} // closed once cmd has its answer
}

// once is a command that go-redis never sends again by itself, whatever the client's settings are; it does follow a cluster's
// redirections, as what was redirected was not executed.
type once struct{ *redis.Cmd }

// NoRetry says so to go-redis.
func (once) NoRetry() bool { return true }

var _ redis.Cmder = once{}

// command calls the script for a client's windows. Their keys are tagged with the client's group, so that in a cluster they lie
// on the same node.
func (r *Redis) command(who Client, limit Limit) once {
	shares := who.shares()
	args := make([]any, 0, 4+2*len(shares))
	args = append(args, "evalsha", rollingWindow.Hash(), len(shares))
	for _, s := range shares {
		args = append(args, r.prefix+"{"+limit.Name+":"+who.group+"}"+s.name)
	}
	args = append(args, limit.Window.Microseconds())
	for _, s := range shares {
		args = append(args, limit.N*s.times)
	}
	cmd := redis.NewCmd(context.Background(), args...)
	cmd.SetFirstKeyPos(3)
	return once{cmd}
}

// ask puts the question into the next flight.
func (r *Redis) ask(q *question) {
	r.mu.Lock()
	r.waiting = append(r.waiting, q)
	takeOff := r.flights < mostFlights
	if takeOff {
		r.flights++
	}
	r.mu.Unlock()
	if takeOff {
		go r.fly()
	}
}

// fly takes questions to Redis until none is waiting.
func (r *Redis) fly() {
	for {
		r.mu.Lock()
		load := r.waiting[:min(len(r.waiting), mostTogether)]
		r.waiting = r.waiting[len(load):]
		if len(load) == 0 {
			r.waiting = nil
			r.flights--
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		r.carry(load)
		for _, q := range load {
			close(q.landed)
		}
	}
}

// carry makes one round trip, and a second where Redis did not know the script: such calls have not counted. It is part of the
// first request's trace, but does not end with that request: others are on board.
func (r *Redis) carry(load []*question) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(load[0].ctx), load[0].asked.Add(r.patience))
	defer cancel()
	r.send(ctx, load)
	var unknown []*question
	for _, q := range load {
		if err := q.cmd.Err(); err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT ") {
			unknown = append(unknown, q)
		}
	}
	if len(unknown) == 0 {
		return
	}
	if err := rollingWindow.Load(ctx, r.client).Err(); err != nil {
		return // the questions keep their error
	}
	for _, q := range unknown {
		q.cmd = once{redis.NewCmd(context.Background(), q.cmd.Args()...)}
		q.cmd.SetFirstKeyPos(3)
	}
	r.send(ctx, unknown)
}

// send makes the round trip; errors are those of the commands.
func (r *Redis) send(ctx context.Context, load []*question) {
	if len(load) == 1 {
		_ = r.client.Process(ctx, load[0].cmd)
		return
	}
	together := r.client.Pipeline()
	for _, q := range load {
		_ = together.Process(ctx, q.cmd)
	}
	_, _ = together.Exec(ctx)
}
