package deliver

import (
	"context"
	"encoding/json"
)

// RunJob does what River does with a job that looks after an endpoint.
func (w *Webhooks) RunJob(ctx context.Context, jobID int64, args []byte) error {
	var parsed sendArgs
	if err := json.Unmarshal(args, &parsed); err != nil {
		return err
	}
	return w.sendToEndpoint(ctx, jobID, parsed)
}

// Sweep does what the job that removes old deliveries does.
func (w *Webhooks) Sweep(ctx context.Context) error { return w.sweep(ctx, nil) }

// Rescue does what the job that looks for the lanes of jobs that died does.
func (w *Webhooks) Rescue(ctx context.Context) error { return w.rescue(ctx, nil) }

// MaxPause is how long webhooks of an endpoint pause at most after the process that sent them was killed.
const MaxPause = lockDuration + 2*rescueEvery
