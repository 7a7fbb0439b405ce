package consoletest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// newRecord returns a record that has only an address.
func newRecord(address string) customer.Record {
	record := customer.Record{Emails: []string{}, Phones: []string{}, Tags: []string{}, Merges: []customer.Merged{}}
	if customer.IsEmail(address) {
		record.Emails = append(record.Emails, address)
	} else {
		record.Phones = append(record.Phones, address)
	}
	return record
}

// findRecord returns the stored record with an address, or the zero record.
func (s *Booking) findRecord(business, address string) customer.Record {
	for _, record := range s.records[business] {
		if slices.Contains(record.Keys(), customer.Key(address)) {
			return record
		}
	}
	return customer.Record{}
}

// storeRecord replaces a record, or adds it.
func (s *Booking) storeRecord(business string, record customer.Record) {
	if s.records == nil {
		s.records = map[string][]customer.Record{}
	}
	for i, r := range s.records[business] {
		if *r.ID == *record.ID {
			s.records[business][i] = record
			return
		}
	}
	s.records[business] = append(s.records[business], record)
}

// applyRecords joins customers by their records, and adds the customers who have only a record.
func (s *Booking) applyRecords(business string, sold []customer.Customer) []customer.Customer {
	var known []customer.Customer
	for _, record := range s.records[business] {
		keys := slices.Sorted(slices.Values(record.Keys()))
		c := customer.Customer{Key: keys[0], Addresses: keys, Tags: record.Tags, Name: record.Name, FirstAt: Epoch,
			LastAt: Epoch}
		if len(record.Emails) > 0 {
			c.Email = record.Emails[0]
		}
		known = append(known, c)
		for i := range sold {
			if slices.Contains(keys, sold[i].Email) {
				sold[i].Key = keys[0]
			}
		}
	}
	return append(known, sold...)
}

func (s *Booking) changeCustomer(r *http.Request) (*reply, error) {
	var change customer.Change
	if err := json.NewDecoder(r.Body).Decode(&change); err != nil {
		return nil, err
	}
	if err := change.Normalize(); err != nil {
		return nil, err
	}
	record := s.findRecord(r.PathValue("business"), change.Customer)
	if record.ID == nil {
		record = newRecord(change.Customer)
		record.ID = new(uuid.New())
	}
	set(&record.Name, change.Name)
	set(&record.Emails, change.Emails)
	set(&record.Phones, change.Phones)
	set(&record.Language, change.Language)
	set(&record.Notes, change.Notes)
	set(&record.Tags, change.Tags)
	s.storeRecord(r.PathValue("business"), record)
	return newReply(customer.Written{ID: *record.ID})
}

func set[T any](value, given *T) {
	if given != nil {
		*value = *given
	}
}

func (s *Booking) mergeCustomers(r *http.Request) (*reply, error) {
	var merge customer.MergeRequest
	if err := json.NewDecoder(r.Body).Decode(&merge); err != nil {
		return nil, err
	}
	business := r.PathValue("business")
	into, from := s.findRecord(business, merge.Into), s.findRecord(business, merge.From)
	if into.ID == nil {
		into = newRecord(merge.Into)
		into.ID = new(uuid.New())
	}
	if from.ID == nil {
		from = newRecord(merge.From)
	}
	if from.ID != nil && *into.ID == *from.ID {
		return nil, fault.New(fault.Conflict, "These are one customer already.")
	}
	into.Emails, into.Phones = append(into.Emails, from.Emails...), append(into.Phones, from.Phones...)
	into.Merges = append(into.Merges, customer.Merged{ID: uuid.New(), Name: merge.From, At: Epoch})
	s.storeRecord(business, into)
	return newReply(customer.Written{ID: *into.ID})
}

// separateCustomers removes the merge and the e-mail address by which it is named.
func (s *Booking) separateCustomers(r *http.Request) (*reply, error) {
	var separate customer.Separate
	if err := json.NewDecoder(r.Body).Decode(&separate); err != nil {
		return nil, err
	}
	record := s.findRecord(r.PathValue("business"), separate.Customer)
	i := slices.IndexFunc(record.Merges, func(m customer.Merged) bool { return m.ID == separate.MergeID })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "There is no such merge.")
	}
	record.Emails = slices.DeleteFunc(slices.Clone(record.Emails), func(e string) bool { return e == record.Merges[i].Name })
	record.Merges = slices.Delete(slices.Clone(record.Merges), i, i+1)
	s.storeRecord(r.PathValue("business"), record)
	return newReply(customer.Written{ID: *record.ID})
}

func (s *Booking) removeRecords(r *http.Request) (*reply, error) {
	var of customer.RecordRemoval
	if err := json.NewDecoder(r.Body).Decode(&of); err != nil {
		return nil, err
	}
	business := r.PathValue("business")
	before := len(s.records[business])
	if s.records != nil && !of.KeepsAddresses {
		s.records[business] = slices.DeleteFunc(s.records[business], func(record customer.Record) bool {
			return slices.ContainsFunc(record.Keys(), func(key string) bool { return slices.Contains(of.Addresses, key) })
		})
	}
	return newReply(customer.Removed{Records: before - len(s.records[business])})
}

func (s *Booking) importCustomers(r *http.Request) (*reply, error) {
	var asked customer.Import
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	business := r.PathValue("business")
	imported := customer.Imported{Duplicate: []int{}}
	for _, row := range asked.Rows {
		if s.findRecord(business, append(slices.Clone(row.Emails), row.Phones...)[0]).ID != nil {
			imported.Duplicate = append(imported.Duplicate, row.Line)
			continue
		}
		imported.Added++
		if !asked.DryRun {
			s.storeRecord(business, customer.Record{ID: new(uuid.New()), Name: strings.TrimSpace(row.Name), Emails: row.Emails,
				Phones: row.Phones, Language: row.Language, Notes: row.Notes, Tags: row.Tags, Merges: []customer.Merged{}})
		}
	}
	if !asked.DryRun && imported.Added > 0 {
		imported.ID = new(uuid.New())
		if s.imports == nil {
			s.imports = map[string][]customer.ImportEntry{}
		}
		s.imports[business] = append(s.imports[business], customer.ImportEntry{ID: *imported.ID, At: Epoch,
			Customers: imported.Added, Left: imported.Added})
	}
	return newReply(imported)
}

func (s *Booking) listImports(r *http.Request) (*reply, error) {
	return newReply(customer.ImportList{Imports: append([]customer.ImportEntry{}, s.imports[r.PathValue("business")]...)})
}

// undoImport marks an import as undone. It removes all records, because the fake does not store which import made them.
func (s *Booking) undoImport(r *http.Request) (*reply, error) {
	var undo customer.UndoImport
	if err := json.NewDecoder(r.Body).Decode(&undo); err != nil {
		return nil, err
	}
	business := r.PathValue("business")
	for i, entry := range s.imports[business] {
		if entry.ID == undo.ID {
			s.imports[business][i].UndoneAt = new(Epoch)
			s.records[business] = nil
			return newReply(customer.Removed{Records: entry.Customers})
		}
	}
	return nil, fault.New(fault.NotFound, "There is no such import.")
}
