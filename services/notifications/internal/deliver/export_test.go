package deliver

import (
	"context"
	"encoding/json"
)

// Run does what River does with a job that looks after an endpoint.
func (w *Webhooks) Run(ctx context.Context, jobID int64, args []byte) error {
	var lane laneArgs
	if err := json.Unmarshal(args, &lane); err != nil {
		return err
	}
	return w.lane(ctx, jobID, lane)
}

// Sweep does what the job that removes old deliveries does.
func (w *Webhooks) Sweep(ctx context.Context) error { return w.sweep(ctx, nil) }

// Rescue does what the job that looks for the lanes of jobs that died does.
func (w *Webhooks) Rescue(ctx context.Context) error { return w.rescue(ctx, nil) }

// LongestPause is how long webhooks of an endpoint pause at most after the process that sent them was killed.
const LongestPause = laneFor + 2*rescueEvery
