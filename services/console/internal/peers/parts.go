package peers

import (
	"context"
	"log/slog"
	"sync"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Part is the part of a page whose data one service returns; it is unknown if that service is unavailable.
type Part[T any] struct {
	List    []T
	More    bool // there are more items than were requested
	Unknown bool // the service is unavailable
}

// Shown reports whether the part has something to show.
func (p Part[T]) Shown() bool { return p.Unknown || len(p.List) > 0 }

// SetPart stores the answer of a service in part. If err means that the service is unavailable, it marks the part as
// unknown and returns nil. It returns every other error.
func SetPart[T any](ctx context.Context, logger *slog.Logger, part *Part[T], list []T, next string, err error) error {
	if fault.Is(err, fault.PeerUnavailable) {
		logger.WarnContext(ctx, "a part of a page is unknown", slog.Any("error", err))
		part.Unknown = true
		return nil
	}
	part.List, part.More = list, next != ""
	return err
}

// Together calls all functions concurrently, and returns the first error in their order.
func Together(asks ...func() error) error {
	var (
		all  sync.WaitGroup
		errs = make([]error, len(asks))
	)
	for i, ask := range asks {
		all.Go(func() { errs[i] = ask() })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
