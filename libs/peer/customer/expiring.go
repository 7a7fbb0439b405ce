package customer

import "time"

// Expiring asks which customers lose their data when everything that had ended by Then is anonymized.
type Expiring struct {
	Then time.Time `json:"then"`
}

// ExpiringList names these customers by digests, which are equal in all services for equal addresses. A customer without an
// address is named by the id of the booking, order or reservation.
type ExpiringList struct {
	Customers []string `json:"customers"`
	More      bool     `json:"more"` // more than MaxExpiring; the list is cut
}

// MaxExpiring bounds an [ExpiringList].
const MaxExpiring = 20_000

// CutExpiring makes the list of up to MaxExpiring + 1 digests.
func CutExpiring(digests []string) ExpiringList {
	if len(digests) > MaxExpiring {
		return ExpiringList{Customers: digests[:MaxExpiring], More: true}
	}
	if digests == nil {
		digests = []string{}
	}
	return ExpiringList{Customers: digests}
}

// CountExpiring counts the customers of several lists once each, and reports whether there are more than it counted.
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
