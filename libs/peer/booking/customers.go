package booking

// Held is what is held of one customer, oldest first: at most one more of each than customer.MostHeld.
type Held struct {
	Bookings []Booking `json:"bookings"`
	Tickets  []Ticket  `json:"tickets"`
}
