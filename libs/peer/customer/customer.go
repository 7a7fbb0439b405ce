// Package customer is what services that keep customers' data say of it to each other: who is known, what is held of one, and what
// became of erasing one (lifecycle.md §6). A customer of a business is an e-mail address, in whatever case it is written. It holds
// values only. Addresses travel in bodies, never in paths.
package customer

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/email"
	"github.com/slotmesh/slotmesh/libs/fault"
)

// Search asks for customers, by address.
type Search struct {
	// Query is words of a name and an address, in any order, case and accents, or a part of a phone number; "" finds all.
	Query string `json:"query"`
	// Of are addresses in small letters: exactly these are asked for, where there are any, and Query is left aside.
	Of    []string `json:"of"`
	After string   `json:"after"` // an address: those that come later
	Limit int      `json:"limit"` // 1 to MostFound
}

// MostFound bounds a page of customers: a page of the owner's, and one more.
const MostFound = 1001

// maxQuery is how many characters a query may have.
const maxQuery = 254

// Validate checks what is asked for. Fault: invalid_parameter.
func (s *Search) Validate() error {
	switch {
	case s.Limit < 1 || s.Limit > MostFound:
		return fault.Newf(fault.InvalidParameter, "limit: send a whole number from 1 to %d.", MostFound)
	case utf8.RuneCountInString(s.Query) > maxQuery:
		return fault.Newf(fault.InvalidParameter, "query: the text is too long; send at most %d characters of a name, an address or a phone number.", maxQuery)
	case len(s.Of) > MostFound:
		return fault.Newf(fault.InvalidParameter, "of: send at most %d addresses.", MostFound)
	case strings.ContainsRune(s.Query+s.After, 0):
		return fault.New(fault.InvalidParameter, "query: the text holds a NUL character; leave it out.")
	}
	return nil
}

// Customer is one address and what was taken by it, cancelled or not. Name and Phone are the newest that were given.
type Customer struct {
	Email        string    `json:"email"` // in its canonical spelling
	Name         string    `json:"name"`
	Phone        *string   `json:"phone"`
	Bookings     int       `json:"bookings"`
	Tickets      int       `json:"tickets"` // orders
	Reservations int       `json:"reservations"`
	FirstAt      time.Time `json:"first_at"` // when the oldest of these was made
	LastAt       time.Time `json:"last_at"`  // when the newest was made
}

// List is a page of customers by address.
type List struct {
	Customers []Customer `json:"customers"`
}

// Merge adds up what several services know of customers, by address.
func Merge(lists ...[]Customer) []Customer {
	merged := map[string]Customer{}
	for _, c := range slices.Concat(lists...) {
		known, ok := merged[c.Email]
		if !ok {
			merged[c.Email] = c
			continue
		}
		newest, oldest := known, c
		if c.LastAt.After(known.LastAt) {
			newest, oldest = c, known
		}
		newest.Phone = cmp.Or(newest.Phone, oldest.Phone)
		newest.Bookings += oldest.Bookings
		newest.Tickets += oldest.Tickets
		newest.Reservations += oldest.Reservations
		if oldest.FirstAt.Before(newest.FirstAt) {
			newest.FirstAt = oldest.FirstAt
		}
		merged[c.Email] = newest
	}
	all := make([]Customer, 0, len(merged))
	for _, c := range merged {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Customer) int { return cmp.Compare(a.Email, b.Email) })
	return all
}

// Check returns the canonical spelling of an address. Fault: invalid_parameter.
func Check(address string) (string, error) {
	address = strings.TrimSpace(address)
	if !email.Valid(address) {
		return "", fault.New(fault.InvalidParameter, "email: this is not an e-mail address; send one such as ana@example.com.")
	}
	return email.Canonical(address), nil
}

// Of names a customer.
type Of struct {
	Email string `json:"email"`
}

// MostHeld bounds what is exported of a kind, and what may lie ahead of one address when it is erased: nobody takes so much.
const MostHeld = 1000

// Erase asks to forget a customer. What lies ahead is kept, unless Force.
type Erase struct {
	Email string `json:"email"`
	Force bool   `json:"force"`
}

// Ahead is something that is still to come, for which its customer is needed.
type Ahead struct {
	Kind     string    `json:"kind"` // booking, ticket or reservation
	ID       uuid.UUID `json:"id"`
	Status   string    `json:"status"`
	StartsAt time.Time `json:"starts_at"`
}

// Forgotten is what all services have forgotten, as the owner is told.
type Forgotten struct {
	Erased
	Messages   int `json:"messages"`   // written, or still to be written
	Deliveries int `json:"deliveries"` // of webhooks
}

// Erased is what was forgotten, and what was kept as it lies ahead.
type Erased struct {
	Bookings     int     `json:"bookings"`
	Tickets      int     `json:"tickets"` // orders
	Reservations int     `json:"reservations"`
	Ahead        []Ahead `json:"ahead"`
}
