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
