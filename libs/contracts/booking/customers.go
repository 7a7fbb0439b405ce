package booking

import "github.com/slotmesh/slotmesh/libs/contracts/customer"

// CustomerData is the stored data of one customer, oldest first. Each list has at most customer.MaxExported
// + 1 entries; the last of these entries shows that there are more than MaxExported.
type CustomerData struct {
	Bookings []Booking       `json:"bookings"`
	Tickets  []Ticket        `json:"tickets"`
	Record   customer.Record `json:"record"`
}
