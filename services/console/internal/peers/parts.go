package peers

import (
	"context"
	"log/slog"
	"sync"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Part is the part of a page whose data comes from one service. The part is unknown if this service is unavailable.
type Part[T any] struct {
	List      []T
	HasMore   bool // the service has more items than the page requested
	IsUnknown bool // the service is unavailable
}

// IsShown reports whether the page shows the part. It returns true if the part has items. It also returns true if the
// part is unknown, because the page must then show that the data are missing.
func (p Part[T]) IsShown() bool { return p.IsUnknown || len(p.List) > 0 }

// SetPart stores the answer of a service in `part`. If `err` means that the service is unavailable, SetPart marks the
// part as unknown and returns nil. SetPart returns every other error unchanged.
func SetPart[T any](ctx context.Context, logger *slog.Logger, part *Part[T], list []T, next string, err error) error {
	if fault.Is(err, fault.PeerUnavailable) {
		logger.WarnContext(ctx, "a part of a page is unknown", slog.Any("error", err))
		part.IsUnknown = true
		return nil
	}
	part.List, part.HasMore = list, next != ""
	return err
}

// RunTogether calls all functions concurrently and waits for them. If several functions fail, it returns the error of
// the first of them in the order of the arguments.
func RunTogether(queries ...func() error) error {
	var (
		all  sync.WaitGroup
		errs = make([]error, len(queries))
	)
	for i, ask := range queries {
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
