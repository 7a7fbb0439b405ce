package booking

// Held is the stored data of one customer, oldest first. Each list has at most customer.MostHeld
// + 1 entries; the last of these entries shows that there are more than MostHeld.
type Held struct {
	Bookings []Booking `json:"bookings"`
	Tickets  []Ticket  `json:"tickets"`
}
