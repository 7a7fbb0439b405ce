package consoletest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// answerCustomers answers a search for customers as the real services do. The query matches parts of e-mail addresses
// and names.
func answerCustomers(r *http.Request, customers []customer.Customer) (*reply, error) {
	var search customer.Search
	if err := json.NewDecoder(r.Body).Decode(&search); err != nil {
		return nil, err
	}
	if err := search.Validate(); err != nil {
		return nil, err
	}
	list := customer.List{Customers: []customer.Customer{}}
	for _, c := range customer.Merge(customers) {
		isNamed := strings.Contains(c.Email, strings.ToLower(search.Query)) || strings.Contains(strings.ToLower(c.Name),
			strings.ToLower(search.Query))
		if len(search.Of) > 0 {
			isNamed = slices.ContainsFunc(c.Keys(), func(key string) bool { return slices.Contains(search.Of, key) })
		}
		if search.Tag != "" {
			isNamed = slices.Contains(c.Tags, search.Tag)
		}
		if isNamed && c.Key > search.After && len(list.Customers) < search.Limit {
			list.Customers = append(list.Customers, c)
		}
	}
	return newReply(list)
}

func newCustomers(email *string, name string, at time.Time, count func(*customer.Customer)) []customer.Customer {
	if email == nil || *email == "" {
		return nil
	}
	c := customer.Customer{Key: strings.ToLower(*email), Email: strings.ToLower(*email), Name: name, FirstAt: at, LastAt: at}
	count(&c)
	return []customer.Customer{c}
}

func (s *Booking) listCustomers(r *http.Request) (*reply, error) {
	var customers []customer.Customer
	for _, b := range s.bookings[r.PathValue("business")] {
		customers = append(customers, newCustomers(&b.CustomerEmail, b.CustomerName, b.CreatedAt,
			func(c *customer.Customer) {
				c.Bookings = 1
			})...)
	}
	for _, t := range s.tickets[r.PathValue("business")] {
		customers = append(customers, newCustomers(t.CustomerEmail, t.CustomerName, t.CreatedAt,
			func(c *customer.Customer) {
				c.Tickets = 1
			})...)
	}
	return answerCustomers(r, s.applyRecords(r.PathValue("business"), customers))
}

func (s *Booking) exportCustomer(r *http.Request) (*reply, error) {
	var asked customer.Of
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	held := booking.CustomerData{Bookings: []booking.Booking{}, Tickets: []booking.Ticket{}}
	if held.Record = s.findRecord(r.PathValue("business"), asked.Email); held.Record.ID == nil {
		held.Record = newRecord(asked.Email)
	}
	keys := held.Record.Keys()
	for _, b := range s.bookings[r.PathValue("business")] {
		if slices.Contains(keys, strings.ToLower(b.CustomerEmail)) {
			held.Bookings = append(held.Bookings, b)
		}
	}
	for _, t := range s.tickets[r.PathValue("business")] {
		if t.CustomerEmail != nil && slices.Contains(keys, strings.ToLower(*t.CustomerEmail)) {
			held.Tickets = append(held.Tickets, t)
		}
	}
	return newReply(held)
}

// eraseCustomer erases a customer's data. Without force in the request, eraseCustomer keeps the data in pending
// bookings.
func (s *Booking) eraseCustomer(r *http.Request) (*reply, error) {
	var erase customer.Erase
	if err := json.NewDecoder(r.Body).Decode(&erase); err != nil {
		return nil, err
	}
	keys, err := erase.Keys()
	if err != nil {
		return nil, err
	}
	erased := customer.Erased{Ahead: []customer.Ahead{}}
	list := s.bookings[r.PathValue("business")]
	for i, b := range list {
		switch {
		case !slices.Contains(keys, strings.ToLower(b.CustomerEmail)):
		case b.Status == booking.StatusPending && !erase.Force:
			erased.Ahead = append(erased.Ahead, customer.Ahead{Kind: "booking", ID: b.ID, Status: b.Status,
				StartsAt: b.StartsAt})
		default:
			list[i].CustomerName, list[i].CustomerEmail, list[i].CustomerPhone = "", "", nil
			erased.Bookings++
		}
	}
	return newReply(erased)
}

func (s *Rental) listCustomers(r *http.Request) (*reply, error) {
	var customers []customer.Customer
	for _, one := range s.reservations {
		customers = append(customers, newCustomers(one.CustomerEmail, one.CustomerName, one.CreatedAt,
			func(c *customer.Customer) {
				c.Reservations = 1
			})...)
	}
	return answerCustomers(r, customers)
}

func (s *Rental) exportCustomer(r *http.Request) (*reply, error) {
	var asked customer.Of
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	keys, err := asked.Keys()
	if err != nil {
		return nil, err
	}
	held := rental.CustomerData{Reservations: []rental.Reservation{}}
	for _, one := range s.reservations {
		if one.CustomerEmail != nil && slices.Contains(keys, strings.ToLower(*one.CustomerEmail)) {
			held.Reservations = append(held.Reservations, one)
		}
	}
	return newReply(held)
}

func (s *Rental) eraseCustomer(r *http.Request) (*reply, error) {
	var erase customer.Erase
	if err := json.NewDecoder(r.Body).Decode(&erase); err != nil {
		return nil, err
	}
	keys, err := erase.Keys()
	if err != nil {
		return nil, err
	}
	erased := customer.Erased{Ahead: []customer.Ahead{}}
	for i, one := range s.reservations {
		if one.CustomerEmail != nil && slices.Contains(keys, strings.ToLower(*one.CustomerEmail)) {
			s.reservations[i].CustomerName, s.reservations[i].CustomerEmail = "", nil
			erased.Reservations++
		}
	}
	return newReply(erased)
}

// Message stands for two records of a customer that the notifications service stores: a message and a webhook delivery.
// Both records are about the same object, such as a booking. The field About is the id of this object.
type Message struct {
	About uuid.UUID
	To    string
}

// AddMessages stores messages to the customers of a business in the fake.
func (s *Notifications) AddMessages(businessID uuid.UUID, messages ...Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storedMessages[businessID.String()] = append(s.storedMessages[businessID.String()], messages...)
}

// SetUnavailable simulates an outage of notifications. If the argument `away` is true, the fake refuses requests to
// export or erase a customer's data. If `away` is false, the fake accepts such requests again.
func (s *Notifications) SetUnavailable(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isUnavailable = away
}

func (s *Notifications) checkAvailable() error {
	if s.isUnavailable {
		return fault.New(fault.PeerUnavailable, "The database does not answer; try again shortly.")
	}
	return nil
}

func (s *Notifications) exportCustomer(r *http.Request) (*reply, error) {
	var asked customer.Of
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	if err := s.checkAvailable(); err != nil {
		return nil, err
	}
	held := notifications.CustomerData{Messages: []notifications.StoredMessage{}}
	for _, m := range s.storedMessages[r.PathValue("business")] {
		if strings.EqualFold(m.To, asked.Email) {
			held.Messages = append(held.Messages, notifications.StoredMessage{Text: "See you soon.",
				Message: notifications.Message{
					ID: uuid.New(), Kind: "reminder", EventID: uuid.New(), About: notifications.Subject{Kind: "booking",
						ID: m.About}, Recipient: m.To, Locale: "en",
					Subject: "Your booking", Status: notifications.MessageNotSent, CreatedAt: Epoch,
				}})
		}
	}
	return newReply(held)
}

func (s *Notifications) eraseCustomer(r *http.Request) (*reply, error) {
	var erase notifications.Erase
	if err := json.NewDecoder(r.Body).Decode(&erase); err != nil {
		return nil, err
	}
	if err := s.checkAvailable(); err != nil {
		return nil, err
	}
	of := r.PathValue("business")
	before := len(s.storedMessages[of])
	s.storedMessages[of] = slices.DeleteFunc(s.storedMessages[of], func(m Message) bool {
		return strings.EqualFold(m.To, erase.Email) && !slices.Contains(erase.Stay, m.About)
	})
	erased := before - len(s.storedMessages[of])
	return newReply(notifications.Erased{Messages: erased, Deliveries: erased})
}

func (s *Booking) countExpiring(r *http.Request) (*reply, error) {
	var expiring customer.Expiring
	if err := json.NewDecoder(r.Body).Decode(&expiring); err != nil {
		return nil, err
	}
	var digests []string
	for _, b := range s.bookings[r.PathValue("business")] {
		if !b.EndsAt.After(expiring.Then) && b.CustomerName != "" {
			digests = append(digests, strings.ToLower(b.CustomerEmail))
		}
	}
	return newReply(customer.CutExpiring(digests))
}

func (s *Rental) countExpiring(r *http.Request) (*reply, error) {
	var expiring customer.Expiring
	if err := json.NewDecoder(r.Body).Decode(&expiring); err != nil {
		return nil, err
	}
	var digests []string
	for _, one := range s.reservations {
		if one.EndDate >= timespan.DateOf(expiring.Then, time.UTC) || one.CustomerEmail == nil {
			continue
		}
		digests = append(digests, strings.ToLower(*one.CustomerEmail))
	}
	return newReply(customer.CutExpiring(digests))
}
