package messages

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// sweepJob holds the arguments of the job that deletes old messages of all businesses.
type sweepJob struct{}

func (sweepJob) Kind() string { return "sweep_messages" }

const sweepEvery = time.Hour

type sweeper struct {
	river.WorkerDefaults[sweepJob]
	m *Messages
}

// Work deletes the messages that are older than KeptFor.
func (w *sweeper) Work(ctx context.Context, _ *river.Job[sweepJob]) error {
	_, err := w.m.Store.SweepMessages(ctx, w.m.Clock.Now().Add(-w.m.KeptFor))
	return err
}
