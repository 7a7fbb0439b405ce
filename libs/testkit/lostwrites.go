package testkit

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres/sqlstate"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// LostWrite is a write that [CheckLostWrites] runs over a connection that fails during the write.
type LostWrite struct {
	Do     func(ctx context.Context, pool *pgxpool.Pool) error
	Exists func() bool // reports whether the tables contain the write
}

// CheckLostWrites checks that writes with postgres.WriteIdempotently give correct results if the connection to
// PostgreSQL is lost. The argument `prepare` maps a name to a function that returns a new write. CheckLostWrites runs
// each write many times, and breaks the connection in another way each time. The connection breaks at the first or at
// the last step of the write.
//
// The result of a write must agree with the tables, even after all held messages have arrived.
// If the commit succeeded and only its answer was lost, the write must return success,
// provided that other connections work. An error must mean that the store is unavailable.
func CheckLostWrites(t *testing.T, pool *pgxpool.Pool, prepare map[string]func(t *testing.T) LostWrite) {
	t.Helper()
	for name, prepared := range prepare {
		for _, step := range []string{"may_write", "commit"} {
			for failure, failureName := range map[Failure]string{BreakBefore: "lost before", DropMessage: "lost after",
				DropAnswer: "answer lost", HoldMessage: "held"} {
				for breakAll, others := range map[bool]string{false: "others work", true: "no connection works"} {
					t.Run(name+"/"+step+"/"+failureName+"/"+others, func(t *testing.T) {
						t.Parallel()
						checkLostWrite(t, pool, prepared, step, failure, breakAll)
					})
				}
			}
		}
	}
}

// checkLostWrite runs the write with longer and longer deadlines until the write reaches the argument `step`. The
// result therefore does not depend on the speed of the machine.
func checkLostWrite(t *testing.T, pool *pgxpool.Pool, prepare func(t *testing.T) LostWrite, step string,
	failure Failure,
	breakAll bool) {
	t.Helper()
	var err error
	timeout := MaxWait // after these failures, no call hangs
	if breakAll || failure == HoldMessage {
		timeout = 500 * time.Millisecond
	}
	for ; timeout <= MaxWait; timeout *= 2 {
		var happened bool
		if happened, err = tryLostWrite(t, pool, prepare(t), step, failure, breakAll, timeout); happened {
			return
		}
	}
	t.Fatalf("no such step was taken: %v", err)
}

// tryLostWrite runs a write whose connection breaks at the argument `step`. It reports whether the write has reached
// this step, and returns the error of the write. A write that hangs must end at its deadline.
func tryLostWrite(t *testing.T, pool *pgxpool.Pool, write LostWrite, step string, failure Failure, breakAll bool,
	timeout time.Duration) (bool, error) {
	t.Helper()
	faultyPool, conns := OpenFaultyPool(t, pool)
	happened := conns.Break(step, failure, breakAll)
	ctx, cancel := context.WithTimeout(AsSystem(t), timeout)
	defer cancel()
	err := write.Do(ctx, faultyPool)
	select {
	case <-happened:
	default:
		return false, err
	}
	unknown := fault.Is(err, fault.OutcomeUnknown)
	if step == "commit" && failure == DropAnswer && (err == nil) == breakAll {
		t.Errorf("a write that is done was answered with %v", err)
	}
	conns.Restore()
	conns.Release() // the held message arrives now
	if done := write.Exists(); !unknown && (err == nil) != done {
		t.Errorf("the answer was %v, and done is %t", err, done)
	}
	if faultErr := new(fault.Error); err != nil && !errors.As(err, &faultErr) &&
		!errors.Is(err, context.DeadlineExceeded) &&
		!sqlstate.IsUnavailable(err) {
		t.Errorf("the answer blames us for a connection that broke: %v", err)
	}
	return true, err
}
