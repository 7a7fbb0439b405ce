package deliver

import (
	"context"
	"encoding/json"
)

// RunJob runs the job with these arguments like River.
func (w *Webhooks) RunJob(ctx context.Context, jobID int64, args []byte) error {
	var parsed sendArgs
	if err := json.Unmarshal(args, &parsed); err != nil {
		return err
	}
	return w.sendToEndpoint(ctx, jobID, parsed)
}

// Sweep runs the job that deletes old deliveries.
func (w *Webhooks) Sweep(ctx context.Context) error { return w.sweep(ctx, nil) }

// Rescue runs the job that releases expired delivery locks.
func (w *Webhooks) Rescue(ctx context.Context) error { return w.rescue(ctx, nil) }

// MaxPause is the maximum time for which an endpoint gets no webhooks after the process that held the
// delivery lock was killed.
const MaxPause = lockDuration + 2*rescueEvery
