package customer

import "time"

// Expiring requests the customers whose data would be deleted if all bookings,
// orders and reservations that ended before the instant Then were anonymized.
type Expiring struct {
	Then time.Time `json:"then"`
}

// ExpiringList holds digests of the email addresses of customers. All services compute
// the same digest for an address, so that the caller can combine their lists. If a
// booking, order or reservation has no address, its digest is computed from its id.
type ExpiringList struct {
	Customers []string `json:"customers"`
	More      bool     `json:"more"` // there are more than MaxExpiring customers; some are left out
}

// MaxExpiring is the maximal number of digests in an [ExpiringList].
const MaxExpiring = 20_000

// CutExpiring returns a list with at most [MaxExpiring] of the given digests. If there are more digests, it sets More.
func CutExpiring(digests []string) ExpiringList {
	if len(digests) > MaxExpiring {
		return ExpiringList{Customers: digests[:MaxExpiring], More: true}
	}
	if digests == nil {
		digests = []string{}
	}
	return ExpiringList{Customers: digests}
}

// CountExpiring returns the number of different customers in several lists. The second
// result reports that one of the lists is incomplete, so that the number may be too low.
func CountExpiring(lists ...*ExpiringList) (int, bool) {
	more := false
	seen := map[string]struct{}{}
	for _, list := range lists {
		more = more || list.More
		for _, digest := range list.Customers {
			seen[digest] = struct{}{}
		}
	}
	return len(seen), more
}
