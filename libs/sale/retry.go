package sale

import (
	"errors"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// ErrChanged means that the offer or the stored sales have changed after
// the attempt at a sale has read them. The attempt has written nothing.
var ErrChanged = errors.New("the offer or the tables have changed")

// maxAttempts is the maximum number of attempts of one request. An attempt fails only
// if another sale was written, or a new offer was published, during the attempt.
// Therefore even many concurrent requests need far fewer attempts than the maximum.
const maxAttempts = 200

// RetryChanged calls `attempt` with an offer. If the result is [ErrChanged], it repeats the attempt with the newest
// offer, because the sale may still be possible. The first attempt uses the argument `offer`; if this is nil, it
// uses the newest offer. The function `read` reads the newest offer.
//
// Errors: those of `read` and `attempt`. Fault: availability_unverified after [maxAttempts] attempts.
func RetryChanged[T any](offer *catalog.Snapshot, read func() (*catalog.Snapshot, error),
	attempt func(*catalog.Snapshot) (T, error)) (T, error) {
	var none T
	for range maxAttempts {
		if offer == nil {
			var err error
			if offer, err = read(); err != nil {
				return none, err
			}
		}
		result, err := attempt(offer)
		if !errors.Is(err, ErrChanged) {
			return result, err
		}
		offer = nil
	}
	f := fault.Wrap(fault.AvailabilityUnverified, ErrChanged,
		"The offer changes too often just now, so nothing was changed; try again shortly.")
	f.RetryAfter = time.Second
	return none, f
}
