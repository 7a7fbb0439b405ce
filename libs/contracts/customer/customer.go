// Package customer holds the types with which services search, export and anonymize the data of customers
// (lifecycle.md §6). A customer of a business is identified by an email address, or by a telephone number if no email
// address is known. A [Record] joins several addresses of one customer. Addresses are sent in bodies of requests, never
// in paths. The package does no I/O.
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

// Search requests one page of customers, in the order of their keys.
type Search struct {
	// Query holds words of a name or an email address, or a part of a phone number.
	// The order of the words, case and accents are ignored. "" matches every customer.
	Query string `json:"query"`
	// Of is a list of keys of addresses. If it is not empty, exactly
	// the customers with these addresses are returned, and Query is ignored.
	Of    []string `json:"of"`
	Tag   string   `json:"tag,omitempty"` // only customers whose record has this tag; "": all
	After string   `json:"after"`         // only keys that follow this key in the order
	Limit int      `json:"limit"`         // 1 to MaxFound
	// Phones also requests the customers without an email address. Consoles of the previous release do not know them.
	Phones bool `json:"phones,omitempty"`
}

// CallAnyRelease calls the function `call` with a search. A service of the previous release refuses the field Phones; it
// is then called again without the field.
func CallAnyRelease(search Search, call func(Search) (*List, error)) (*List, error) {
	list, err := call(search)
	if search.Phones && fault.Is(err, fault.InvalidParameter) {
		search.Phones = false
		return call(search)
	}
	return list, err
}

// MaxFound is the maximal number of customers on one page. It is one more than the largest page
// that an owner can request. The additional customer shows the caller that there are more customers.
const MaxFound = 1001

// maxOf is the maximal number of addresses in a [Search].
const maxOf = MaxFound * 2 * MaxAddresses

// maxQuery is the maximal length of a Query, in characters.
const maxQuery = 254

// Validate validates the request. Fault: invalid_parameter.
func (s *Search) Validate() error {
	switch {
	case s.Limit < 1 || s.Limit > MaxFound:
		return fault.Newf(fault.InvalidParameter, "limit: send a whole number from 1 to %d.", MaxFound)
	case utf8.RuneCountInString(s.Query) > maxQuery:
		return fault.Newf(fault.InvalidParameter,
			"query: the text is too long; send at most %d characters of a name, an address or a phone number.",
			maxQuery)
	case len(s.Of) > maxOf:
		return fault.Newf(fault.InvalidParameter, "of: send at most %d addresses.", maxOf)
	case utf8.RuneCountInString(s.Tag) > MaxTag:
		return fault.Newf(fault.InvalidParameter, "tag: the text is too long; send at most %d characters.", MaxTag)
	case strings.ContainsRune(s.Query+s.Tag+s.After, 0):
		return fault.New(fault.InvalidParameter, "query: the text holds a NUL character; leave it out.")
	}
	return nil
}

// Customer is a customer with an address. It has the numbers of the customer's bookings, orders of tickets and
// reservations, including cancelled ones. Name and Phone are those of the record, or the newest known values.
type Customer struct {
	// Key is the first key of the customer's addresses. Lists are in the order of keys.
	Key          string   `json:"key,omitempty"`
	Addresses    []string `json:"addresses,omitempty"` // keys of all addresses; only for a customer with a record
	Tags         []string `json:"tags,omitempty"`
	Email        string   `json:"email"` // canonical spelling of the first address; "": only a phone is known
	Name         string   `json:"name"`
	Phone        *string  `json:"phone"`
	Bookings     int      `json:"bookings"`
	Tickets      int      `json:"tickets"` // number of ticket orders, not of single tickets
	Reservations int      `json:"reservations"`
	// FirstAt and LastAt are the creation times of the oldest and the newest booking, order or reservation. If there is
	// none, both are the creation time of the record.
	FirstAt time.Time `json:"first_at"`
	LastAt  time.Time `json:"last_at"`
}

// HasSales reports whether the customer has a booking, an order or a reservation.
func (c *Customer) HasSales() bool { return c.Bookings+c.Tickets+c.Reservations > 0 }

// Keys returns the keys of all addresses of the customer.
func (c *Customer) Keys() []string {
	if len(c.Addresses) > 0 {
		return c.Addresses
	}
	return []string{c.Key}
}

// List is one page of customers, in the order of their keys.
type List struct {
	Customers []Customer `json:"customers"`
}

// Merge combines lists of customers from several services. It returns one entry for
// each key, with the sums of the numbers, in the order of the keys. The data of a record precedes the data of sales.
func Merge(lists ...[]Customer) []Customer {
	merged := map[string]Customer{}
	for _, c := range slices.Concat(lists...) {
		c.Key = cmp.Or(c.Key, c.Email) // services of the previous release send no key
		existing, ok := merged[c.Key]
		if !ok {
			merged[c.Key] = c
			continue
		}
		newest, oldest := existing, c
		if c.HasSales() && (!existing.HasSales() || c.LastAt.After(existing.LastAt)) {
			newest, oldest = c, existing
		}
		if len(oldest.Addresses) > 0 {
			newest.Name, newest.Email, newest.Phone = oldest.Name, oldest.Email, cmp.Or(oldest.Phone, newest.Phone)
			newest.Addresses, newest.Tags = oldest.Addresses, oldest.Tags
		}
		newest.Phone = cmp.Or(newest.Phone, oldest.Phone)
		newest.Bookings += oldest.Bookings
		newest.Tickets += oldest.Tickets
		newest.Reservations += oldest.Reservations
		if oldest.HasSales() && oldest.FirstAt.Before(newest.FirstAt) {
			newest.FirstAt = oldest.FirstAt
		}
		merged[c.Key] = newest
	}
	all := make([]Customer, 0, len(merged))
	for _, c := range merged {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Customer) int { return cmp.Compare(a.Key, b.Key) })
	return all
}

// Check validates an email address and returns its canonical spelling. Fault: invalid_parameter.
func Check(address string) (string, error) {
	address = strings.TrimSpace(address)
	if !email.Valid(address) {
		return "", fault.New(fault.InvalidParameter, "email: this is not an e-mail address; send one such as "+
			"ana@example.com.")
	}
	return email.Canonical(address), nil
}

// Of identifies a customer by an address. Addresses are the keys of all addresses; the service checks only Email or the
// list.
type Of struct {
	Email     string   `json:"email"`
	Addresses []string `json:"addresses,omitempty"`
}

// ListSeveral returns the keys of addresses for a request that has one address in Email. It returns nil for one key,
// because services of the previous release know only Email.
func ListSeveral(keys []string) []string {
	if len(keys) < 2 {
		return nil
	}
	return keys
}

// Keys returns the keys of the customer's addresses. Fault: invalid_parameter for an invalid address.
func (o *Of) Keys() ([]string, error) { return readKeys(o.Email, o.Addresses) }

func readKeys(address string, all []string) ([]string, error) {
	if len(all) == 0 {
		all = []string{address}
	}
	if len(all) > 2*MaxAddresses {
		return nil, fault.Newf(fault.InvalidParameter, "addresses: send at most %d.", 2*MaxAddresses)
	}
	keys := make([]string, len(all))
	for i, a := range all {
		key, err := CheckAddress(a)
		if err != nil {
			return nil, err
		}
		keys[i] = key
	}
	return keys, nil
}

// MaxExported is the maximal number of exported bookings, orders or reservations of one
// customer. No real customer has as many. A customer with more future bookings, orders
// or reservations cannot be anonymized, because the response could not list them.
const MaxExported = 1000

// Erase requests that a customer is anonymized. If Force is false, future
// bookings, orders and reservations keep the data of the customer.
type Erase struct {
	Email     string   `json:"email"`
	Phone     string   `json:"phone,omitempty"` // instead of Email
	Force     bool     `json:"force"`
	Addresses []string `json:"addresses,omitempty"` // keys of all addresses, between services
}

// Keys returns the keys of the customer's addresses. Fault: invalid_parameter for an invalid address.
func (e *Erase) Keys() ([]string, error) { return readKeys(cmp.Or(e.Email, e.Phone), e.Addresses) }

// Ahead is a future booking, order of tickets or reservation, which still needs the data of its customer.
type Ahead struct {
	Kind     string    `json:"kind"` // booking, ticket or reservation
	ID       uuid.UUID `json:"id"`
	Status   string    `json:"status"`
	StartsAt time.Time `json:"starts_at"`
}

// Forgotten is the result of anonymizing a customer in all services, as the owner sees it.
type Forgotten struct {
	Erased
	Messages   int `json:"messages"`   // number of messages, whether sent or not
	Deliveries int `json:"deliveries"` // number of webhook deliveries
	Records    int `json:"records"`    // 1 if the customer had a record
}

// Erased holds the numbers of anonymized bookings, orders and
// reservations, and the future ones that were left unchanged.
type Erased struct {
	Bookings     int     `json:"bookings"`
	Tickets      int     `json:"tickets"` // number of ticket orders, not of single tickets
	Reservations int     `json:"reservations"`
	Ahead        []Ahead `json:"ahead"`
}
