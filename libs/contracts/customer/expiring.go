package customer

import "time"

// Expiring requests the customers whose data is lost if everything that ended before Then is anonymized.
type Expiring struct {
	Then time.Time `json:"then"`
}

// ExpiringList holds hashes of customers' addresses. All services compute the same hash for an address, so lists
// can be combined. If a customer has no address, the hash is that of the id of the booking, order or reservation.
type ExpiringList struct {
	Customers []string `json:"customers"`
	More      bool     `json:"more"` // there are more than MaxExpiring; the list is cut
}

// MaxExpiring bounds an [ExpiringList].
const MaxExpiring = 20_000

// CutExpiring returns a list of at most MaxExpiring digests. More is set if digests has more.
func CutExpiring(digests []string) ExpiringList {
	if len(digests) > MaxExpiring {
		return ExpiringList{Customers: digests[:MaxExpiring], More: true}
	}
	if digests == nil {
		digests = []string{}
	}
	return ExpiringList{Customers: digests}
}

// CountExpiring returns the number of different customers in several lists. It also
// reports whether one of the lists is incomplete, so that the number may be too low.
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
