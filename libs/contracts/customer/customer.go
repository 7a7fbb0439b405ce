// Package customer holds the types with which services search, export and anonymize
// data of customers (lifecycle.md §6). A customer of a business is an e-mail address,
// ignoring case. Addresses are sent in bodies, never in paths. The package does no I/O.
package customer

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Search is a request for customers, ordered by address.
type Search struct {
	// Query holds words of a name or an address, or a part of a phone number. The
	// order of the words, case and accents do not matter. "" matches every customer.
	Query string `json:"query"`
	// Of is a list of lower-case addresses. If it is not empty,
	// exactly these customers are returned and Query is ignored.
	Of    []string `json:"of"`
	After string   `json:"after"` // only addresses after this one
	Limit int      `json:"limit"` // 1 to MostFound
}

// MostFound bounds a page of customers: the largest page of the owner's list, and one more.
const MostFound = 1001

// maxQuery is the maximal number of characters of a query.
const maxQuery = 254

// Validate checks the request. Fault: invalid_parameter.
func (s *Search) Validate() error {
	switch {
	case s.Limit < 1 || s.Limit > MostFound:
		return fault.Newf(fault.InvalidParameter, "limit: send a whole number from 1 to %d.", MostFound)
	case utf8.RuneCountInString(s.Query) > maxQuery:
		return fault.Newf(fault.InvalidParameter,
			"query: the text is too long; send at most %d characters of a name, an address or a phone number.",
			maxQuery)
	case len(s.Of) > MostFound:
		return fault.Newf(fault.InvalidParameter, "of: send at most %d addresses.", MostFound)
	case strings.ContainsRune(s.Query+s.After, 0):
		return fault.New(fault.InvalidParameter, "query: the text holds a NUL character; leave it out.")
	}
	return nil
}

// Customer is one e-mail address with the number of its bookings, orders and
// reservations, including cancelled ones. Name and Phone are the newest known values.
type Customer struct {
	Email        string    `json:"email"` // in its canonical spelling
	Name         string    `json:"name"`
	Phone        *string   `json:"phone"`
	Bookings     int       `json:"bookings"`
	Tickets      int       `json:"tickets"` // orders
	Reservations int       `json:"reservations"`
	FirstAt      time.Time `json:"first_at"` // creation time of the oldest of these
	LastAt       time.Time `json:"last_at"`  // creation time of the newest of these
}

// List is a page of customers, ordered by address.
type List struct {
	Customers []Customer `json:"customers"`
}

// Merge combines the customers of several services by address
// and adds up their numbers. The result is ordered by address.
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
		return "", fault.New(fault.InvalidParameter, "email: this is not an e-mail address; send one such as "+
			"ana@example.com.")
	}
	return email.Canonical(address), nil
}

// Of identifies a customer.
type Of struct {
	Email string `json:"email"`
}

// MostHeld bounds the number of exported items of one kind, and the number of future
// items of an address that is erased. It is larger than that of any real customer.
const MostHeld = 1000

// Erase is a request to anonymize a customer. Future items are kept, unless Force is set.
type Erase struct {
	Email string `json:"email"`
	Force bool   `json:"force"`
}

// Ahead is a future booking, order or reservation, which still needs its customer.
type Ahead struct {
	Kind     string    `json:"kind"` // booking, ticket or reservation
	ID       uuid.UUID `json:"id"`
	Status   string    `json:"status"`
	StartsAt time.Time `json:"starts_at"`
}

// Forgotten is the combined result of an erasure in all services, as the owner sees it.
type Forgotten struct {
	Erased
	Messages   int `json:"messages"`   // already written or still to be written
	Deliveries int `json:"deliveries"` // of webhooks
}

// Erased holds the numbers of anonymized items, and the future items that were kept.
type Erased struct {
	Bookings     int     `json:"bookings"`
	Tickets      int     `json:"tickets"` // orders
	Reservations int     `json:"reservations"`
	Ahead        []Ahead `json:"ahead"`
}
