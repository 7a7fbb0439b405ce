package sales

import (
	"fmt"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// hidesContact reports whether the principal must not see the customers' contact data. The role of such a principal may
// see ticket orders and reservations, but no e-mail addresses, phone numbers and answers of customers.
func hidesContact(by peers.Principal, business *catalog.Snapshot) bool {
	return by.PermissionIn(business.ID, access.SeeSales) == access.NoContact
}

// removeContact removes the customer's e-mail address, phone number, address and answers from a booking, an order or a
// reservation. If one of these types gets a new field with contact data, add the field to this function, because no
// other code removes such fields.
func removeContact[T booking.Booking | booking.Ticket | rental.Reservation](sale *T) {
	none := []byte("{}")
	switch s := any(sale).(type) {
	case *booking.Booking:
		s.CustomerEmail, s.CustomerPhone, s.CustomerAddress, s.FormData = "", nil, nil, none
	case *booking.Ticket:
		s.CustomerEmail, s.CustomerPhone, s.FormData = nil, nil, none
	case *rental.Reservation:
		s.CustomerEmail, s.CustomerPhone, s.FormData = nil, nil, none
	default:
		panic(fmt.Sprintf("sales: there is no rule for %T", sale))
	}
}

// removeContacts applies removeContact to each item of a list.
func removeContacts[T booking.Booking | booking.Ticket | rental.Reservation](sales []T) {
	for i := range sales {
		removeContact(&sales[i])
	}
}
