package booking

// Held is the stored data of one customer, oldest first. Each list has at most
// customer.MostHeld + 1 entries; the entry beyond the limit shows that there is more.
type Held struct {
	Bookings []Booking `json:"bookings"`
	Tickets  []Ticket  `json:"tickets"`
}
