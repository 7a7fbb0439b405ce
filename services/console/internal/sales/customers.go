package sales

import (
	"cmp"
	"context"
	"encoding/base64"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// CustomerList is one page of customers, sorted by key. NextCursor is empty on the last page.
type CustomerList struct {
	Customers  []customer.Customer `json:"customers"`
	NextCursor string              `json:"next_cursor,omitempty"`
}

// CustomerExport has all data that is stored about one customer.
type CustomerExport struct {
	Email        string                        `json:"email"`
	ExportedAt   time.Time                     `json:"exported_at"`
	Record       customer.Record               `json:"record"`
	Bookings     []booking.Booking             `json:"bookings"`
	Tickets      []booking.Ticket              `json:"tickets"`
	Reservations []rental.Reservation          `json:"reservations"`
	Messages     []notifications.StoredMessage `json:"messages"`
}

// CustomerFilter selects customers. Query is a part of a name, an e-mail address, a phone number or a tag; Tag is a
// whole tag. "" selects all.
type CustomerFilter struct{ Query, Tag string }

// ListCustomers lists the customers who have a booking, a reservation, tickets or a record, sorted by key. Fault:
// invalid_parameter for an invalid filter or page.
func (o *UseCases) ListCustomers(ctx context.Context, slug string, filter CustomerFilter,
	page request.Page) (*CustomerList, error) {
	after, err := base64.RawURLEncoding.DecodeString(page.Cursor)
	if err != nil {
		return nil, request.BadCursor()
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	search := customer.Search{Query: filter.Query, Tag: filter.Tag, After: string(after), Limit: page.Limit + 1,
		Phones: true}
	if err := search.Validate(); err != nil {
		return nil, err
	}
	found, err := o.findCustomers(ctx, business, search)
	if err != nil {
		return nil, err
	}
	list := &CustomerList{}
	list.Customers, list.NextCursor = request.Cut(found.list(search), page.Limit, encodeCustomer)
	if list.NextCursor == "" && found.end != "" {
		list.NextCursor = encodeCustomer(customer.Customer{Key: found.end})
	}
	return list, nil
}

func encodeCustomer(c customer.Customer) string {
	return base64.RawURLEncoding.EncodeToString([]byte(c.Key))
}

// foundCustomers has the customers that booking and rental have found. Only booking knows the records: the customers of
// rental have one address each.
type foundCustomers struct {
	booked, reserved []customer.Customer
	// end is the last key up to which both lists are complete. It is "" if they are complete.
	end string
}

// list returns one entry for each customer, up to the end of the complete part, in the order of keys. A customer with a
// record has the first of its keys. The customer is on an earlier page if this key is.
func (f *foundCustomers) list(search customer.Search) []customer.Customer {
	keys := map[string]string{}
	for _, c := range f.booked {
		for _, key := range c.Keys() {
			keys[key] = c.Key
		}
	}
	for i := range f.reserved {
		c := &f.reserved[i]
		c.Key = cmp.Or(keys[c.Key], c.Key)
	}
	return slices.DeleteFunc(customer.Merge(f.booked, f.reserved), func(c customer.Customer) bool {
		return c.Key <= search.After || f.end != "" && c.Key > f.end
	})
}

// findCustomers asks booking and rental for a page of customers, and each of them also for the customers that only the
// other one has found: booking and rental may store different names, of which a query may match one.
func (o *UseCases) findCustomers(ctx context.Context, business *catalog.Snapshot,
	search customer.Search) (*foundCustomers, error) {
	rentals := o.Rentals.ForBusiness(business.ID)
	booked, err := o.Bookings.Customers(ctx, business.ID, search)
	if err != nil {
		return nil, err
	}
	found := &foundCustomers{booked: booked}
	if search.Tag == "" { // only records have tags
		if found.reserved, err = rentals.Customers(ctx, business.Slug, search); err != nil {
			return nil, err
		}
	}
	setKeys(found.booked)
	setKeys(found.reserved)
	for _, list := range [][]customer.Customer{found.booked, found.reserved} {
		if len(list) == search.Limit && (found.end == "" || list[len(list)-1].Key < found.end) {
			found.end = list[len(list)-1].Key
		}
	}
	if of := listMissingKeys(found.reserved, found.booked); len(of) > 0 {
		more, err := o.Bookings.Customers(ctx, business.ID,
			customer.Search{Of: of, Limit: customer.MaxFound, Phones: true})
		if err != nil {
			return nil, err
		}
		setKeys(more)
		found.booked = append(found.booked, more...)
	}
	if of := listMissingKeys(found.booked, found.reserved); len(of) > 0 {
		more, err := rentals.Customers(ctx, business.Slug,
			customer.Search{Of: of, Limit: customer.MaxFound, Phones: true})
		if err != nil {
			return nil, err
		}
		setKeys(more)
		found.reserved = append(found.reserved, more...)
	}
	return found, nil
}

// setKeys sets the keys of customers. Services of the previous release send none.
func setKeys(list []customer.Customer) {
	for i := range list {
		list[i].Key = cmp.Or(list[i].Key, list[i].Email)
	}
}

// listMissingKeys returns the keys of the customers in the argument `list` that no customer in the argument `other`
// has.
func listMissingKeys(list, other []customer.Customer) []string {
	known := map[string]bool{}
	for _, c := range other {
		for _, key := range c.Keys() {
			known[key] = true
		}
	}
	var missing []string
	for _, c := range list {
		for _, key := range c.Keys() {
			if !known[key] {
				missing = append(missing, key)
			}
		}
	}
	return missing
}

// ExportCustomer returns all data that is stored about a customer, of all addresses. Faults: invalid_parameter for an
// invalid address; conflict if this customer has more bookings, reservations, orders or messages than an export can
// list.
func (o *UseCases) ExportCustomer(ctx context.Context, by peers.Principal, slug, of string) (*CustomerExport, error) {
	address, err := customer.CheckAddress(of)
	if err != nil {
		return nil, err
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	booked, err := o.Bookings.CustomerData(ctx, business.ID, address)
	if err != nil {
		return nil, err
	}
	keys := listKeys(booked, address)
	reserved, err := o.Rentals.ForBusiness(business.ID).CustomerData(ctx, slug, keys...)
	if err != nil {
		return nil, err
	}
	written, err := o.findMessages(ctx, business.ID, keys)
	if err != nil {
		return nil, err
	}
	if max(len(booked.Bookings), len(booked.Tickets), len(reserved.Reservations)) > customer.MaxExported ||
		len(written) > notifications.MaxExported {
		return nil, fault.Newf(fault.Conflict, "More than %d bookings, orders or reservations, or %d messages, have "+
			"this address, which is no one customer's then; list them instead.",
			customer.MaxExported, notifications.MaxExported)
	}
	o.LogChange(ctx, by, "export customer", slug)
	return &CustomerExport{
		Email: firstEmail(keys), ExportedAt: o.Clock.Now().UTC().Truncate(time.Second), Record: booked.Record,
		Bookings: booked.Bookings, Tickets: booked.Tickets, Reservations: reserved.Reservations, Messages: written,
	}, nil
}

// listKeys returns the keys of a customer's addresses. A booking service of the previous release sends no record.
func listKeys(data *booking.CustomerData, address string) []string {
	if keys := data.Record.Keys(); len(keys) > 0 {
		return keys
	}
	return []string{address}
}

func firstEmail(keys []string) string {
	if i := slices.IndexFunc(keys, customer.IsEmail); i >= 0 {
		return keys[i]
	}
	return ""
}

// findMessages returns the messages to a customer, of all e-mail addresses.
func (o *UseCases) findMessages(ctx context.Context, businessID uuid.UUID,
	keys []string) ([]notifications.StoredMessage, error) {
	all := []notifications.StoredMessage{}
	for _, key := range keys {
		if !customer.IsEmail(key) {
			continue
		}
		data, err := o.Notifications.CustomerData(ctx, businessID, key)
		if err != nil {
			return nil, err
		}
		all = append(all, data.Messages...)
	}
	slices.SortStableFunc(all, func(a, b notifications.StoredMessage) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, nil
}

// EraseCustomer erases a customer's data, of all addresses. Unless `erase.Force` is true, it keeps the data in future
// bookings and reservations, and returns a list of these bookings and reservations. All records of sales stay, but
// without the customer's data: each record keeps the object that was sold, the time and the price. EraseCustomer calls
// the notifications service after the others, because that service keeps the messages about the bookings that keep
// their data. It removes what people wrote about the customer last. It keeps the addresses as long as a future booking or
// reservation keeps its data, because a later call needs them.
//
// If a service was unavailable, the caller can repeat the call to erase the remaining data. Faults: invalid_parameter
// for an invalid address; conflict for too many future bookings and reservations to list; outcome_unknown if a service
// was unavailable after another service had erased data.
func (o *UseCases) EraseCustomer(ctx context.Context, by peers.Principal, slug string,
	erase customer.Erase) (*customer.Forgotten, error) {
	address, err := customer.CheckAddress(cmp.Or(erase.Email, erase.Phone))
	if err != nil {
		return nil, err
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	data, err := o.Bookings.CustomerData(ctx, business.ID, address)
	if err != nil {
		return nil, err
	}
	keys := listKeys(data, address)
	erase.Email, erase.Phone, erase.Addresses = address, "", customer.ListSeveral(keys)
	erased, err := o.Bookings.EraseCustomer(ctx, business.ID, erase)
	if err != nil {
		return nil, err
	}
	reserved, err := o.Rentals.ForBusiness(business.ID).EraseCustomer(ctx, slug, erase)
	if err != nil {
		return nil, peers.ToUnfinishedFault(err)
	}
	erased.Reservations = reserved.Reservations
	erased.Ahead = append(erased.Ahead, reserved.Ahead...)
	slices.SortFunc(erased.Ahead, func(a, b customer.Ahead) int { return a.StartsAt.Compare(b.StartsAt) })
	forgotten := &customer.Forgotten{Erased: *erased}
	if err := o.eraseMessages(ctx, business.ID, keys, forgotten); err != nil {
		return nil, peers.ToUnfinishedFault(err)
	}
	if data.Record.ID != nil {
		// This second write to booking must not have the Idempotency-Key of the first. It can be repeated safely.
		removed, err := o.Bookings.RemoveCustomerRecord(idempotency.With(ctx, idempotency.Request{}), business.ID,
			customer.RecordRemoval{Addresses: keys, KeepsAddresses: len(erased.Ahead) > 0})
		if err != nil {
			return nil, peers.ToUnfinishedFault(err)
		}
		forgotten.Records = removed.Records
	}
	o.LogChange(ctx, by, "erase customer", slug, slog.Int("bookings", erased.Bookings),
		slog.Int("tickets", erased.Tickets), slog.Int("reservations", erased.Reservations),
		slog.Int("messages", forgotten.Messages), slog.Int("deliveries", forgotten.Deliveries),
		slog.Int("records", forgotten.Records),
		slog.Int("ahead", len(erased.Ahead)), slog.Bool("forced", erase.Force))
	return forgotten, nil
}

// eraseMessages erases the messages to all e-mail addresses of a customer, and counts them in `forgotten`.
func (o *UseCases) eraseMessages(ctx context.Context, businessID uuid.UUID, keys []string,
	forgotten *customer.Forgotten) error {
	for _, key := range keys {
		if !customer.IsEmail(key) {
			continue
		}
		messages, err := o.Notifications.EraseCustomer(ctx, businessID,
			notifications.Erase{Email: key, Stay: listIDs(forgotten.Ahead)})
		if err != nil {
			return err
		}
		forgotten.Messages += messages.Messages
		forgotten.Deliveries += messages.Deliveries
	}
	return nil
}

func listIDs(ahead []customer.Ahead) []uuid.UUID {
	ids := make([]uuid.UUID, len(ahead))
	for i, a := range ahead {
		ids[i] = a.ID
	}
	return ids
}
