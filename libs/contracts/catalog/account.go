package catalog

import (
	"time"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// CheckAccount returns a fault if customers cannot book with the business at the instant
// `now` (semantics.md §3). It checks in this order: the subscription is inactive; the
// account is scheduled for removal; the business is not open for bookings yet; bookings are
// paused. If `override` is true, CheckAccount makes only the first two checks (admin.md).
func (o *Snapshot) CheckAccount(override bool, now time.Time) error {
	switch {
	case !o.Account.SubscriptionActive:
		return fault.New(fault.SubscriptionInactive,
			"This business's subscription is inactive, so it takes no bookings.")
	case o.Account.RemovalOn != nil:
		return fault.New(fault.AccountClosing,
			"This business's account is scheduled for removal, so it takes no bookings.")
	case o.NotYetOpen && !override:
		return fault.New(fault.NotOpenYet, "This business is not open for bookings yet.")
	case o.IsPaused(now) && !override:
		return fault.Newf(fault.NotAcceptingBookings, "This business has paused online bookings until %s.",
			*o.Bookings.PausedUntil)
	}
	return nil
}
