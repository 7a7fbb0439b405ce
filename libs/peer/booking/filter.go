package booking

import "github.com/slotmesh/slotmesh/libs/timespan"

// Filter narrows a list of bookings. From and To are dates of the start in business time, both included; Status is
// one of the Status… values. What is left out narrows nothing.
type Filter struct {
	From, To *timespan.Date
	Status   string
}
