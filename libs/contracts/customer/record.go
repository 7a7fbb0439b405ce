package customer

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/phone"
)

// Record is what a business has written about one customer, with the addresses by which services find the sales of the
// customer. An address is an email address or a telephone number. The booking service owns all records.
type Record struct {
	ID        *uuid.UUID `json:"id"` // null: nothing is written about the customer
	Name      string     `json:"name"`
	Emails    []string   `json:"emails"` // canonical spelling
	Phones    []string   `json:"phones"`
	Language  string     `json:"language"`
	Notes     string     `json:"notes"`
	Tags      []string   `json:"tags"`
	CreatedAt *time.Time `json:"created_at"`
	Merges    []Merged   `json:"merges"` // merges that can be undone, newest first
}

// Merged describes a record that was merged into another one.
type Merged struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"` // name of the merged customer, or an address
	At   time.Time `json:"at"`
}

// Keys returns the keys of all addresses of the customer ([Key]).
func (r *Record) Keys() []string {
	keys := make([]string, 0, len(r.Emails)+len(r.Phones))
	for _, address := range slices.Concat(r.Emails, r.Phones) {
		keys = append(keys, Key(address))
	}
	return keys
}

// Limits of a record, in characters and items.
const (
	MaxName      = 200
	MaxNotes     = 4000
	MaxTags      = 20
	MaxTag       = 40
	MaxLanguage  = 35
	MaxAddresses = 20
)

// Key returns the text by which services compare addresses: the canonical spelling of an email address, or the digits
// of a telephone number with its plus sign. Every service computes the same key for a sale, in SQL. Key returns "" for
// a text without an @ that has fewer than three digits.
func Key(address string) string {
	if strings.ContainsRune(address, '@') {
		return email.Canonical(strings.TrimSpace(address))
	}
	digits := 0
	key := strings.Map(func(r rune) rune {
		if i := slices.Index(otherDigits, r); i >= 0 {
			r = '0' + rune(i%10)
		}
		switch {
		case '0' <= r && r <= '9':
			digits++
			return r
		case r == '+':
			return r
		}
		return -1
	}, address)
	if digits < minDigits {
		return ""
	}
	return key
}

var otherDigits = []rune(phone.OtherDigits)

// IsEmail reports whether a key is that of an email address.
func IsEmail(key string) bool { return strings.ContainsRune(key, '@') }

// CheckAddress validates an email address or a telephone number and returns its key. Fault: invalid_parameter.
func CheckAddress(address string) (string, error) {
	address = strings.TrimSpace(address)
	if strings.ContainsRune(address, '@') {
		return Check(address)
	}
	key := Key(address)
	if !phone.Valid(address) || key == "" {
		return "", fault.New(fault.InvalidParameter, "email or phone: this is no e-mail address and no phone number; send "+
			"one such as ana@example.com or +351 210 000 000.")
	}
	return key, nil
}

const minDigits = 3

// Change requests to write about a customer. Fields that are null stay as they are.
type Change struct {
	Customer string    `json:"customer"` // an address of the customer
	Name     *string   `json:"name"`
	Emails   *[]string `json:"emails"`
	Phones   *[]string `json:"phones"`
	Language *string   `json:"language"`
	Notes    *string   `json:"notes"`
	Tags     *[]string `json:"tags"`
}

// Normalize validates a change and brings its texts into their stored form. Fault: invalid_parameter.
func (c *Change) Normalize() error {
	key, err := CheckAddress(c.Customer)
	if err != nil {
		return err
	}
	if IsEmail(key) {
		c.Customer = key
	}
	for _, text := range []struct {
		name  string
		value *string
		limit int
		lines bool
	}{{"name", c.Name, MaxName, false}, {"language", c.Language, MaxLanguage, false}, {"notes", c.Notes, MaxNotes, true}} {
		if text.value == nil {
			continue
		}
		*text.value = strings.TrimSpace(strings.ReplaceAll(*text.value, "\r\n", "\n"))
		if err := checkText(text.name, *text.value, text.limit, text.lines); err != nil {
			return err
		}
	}
	if c.Tags != nil {
		if *c.Tags, err = normalizeTags(*c.Tags); err != nil {
			return err
		}
	}
	if c.Emails != nil && c.Phones != nil && len(*c.Emails)+len(*c.Phones) == 0 {
		return fault.New(fault.InvalidParameter, "emails, phones: a customer needs an e-mail address or a phone number.")
	}
	for _, list := range []*[]string{c.Emails, c.Phones} {
		if list == nil {
			continue
		}
		if *list, err = normalizeAddresses(*list, list == c.Emails); err != nil {
			return err
		}
	}
	return nil
}

func checkText(name, text string, limit int, lines bool) error {
	if utf8.RuneCountInString(text) > limit {
		return fault.Newf(fault.InvalidParameter, "%s: the text is too long; send at most %d characters.", name, limit)
	}
	isForbidden := func(r rune) bool { return unicode.IsControl(r) && (!lines || r != '\n' && r != '\t') }
	if strings.ContainsFunc(text, isForbidden) {
		return fault.Newf(fault.InvalidParameter, "%s: the text holds a control character; leave it out.", name)
	}
	return nil
}

func normalizeTags(tags []string) ([]string, error) {
	all := []string{}
	for _, tag := range tags {
		tag = strings.Join(strings.Fields(tag), " ")
		if tag == "" || slices.ContainsFunc(all, func(t string) bool { return strings.EqualFold(t, tag) }) {
			continue
		}
		if err := checkText("tags", tag, MaxTag, false); err != nil {
			return nil, err
		}
		all = append(all, tag)
	}
	if len(all) > MaxTags {
		return nil, fault.Newf(fault.InvalidParameter, "tags: send at most %d.", MaxTags)
	}
	return all, nil
}

func normalizeAddresses(addresses []string, isEmails bool) ([]string, error) {
	all, keys := []string{}, []string{}
	for _, address := range addresses {
		address = strings.TrimSpace(address)
		if address == "" {
			continue
		}
		key, err := CheckAddress(address)
		if err != nil {
			return nil, err
		}
		if IsEmail(key) != isEmails {
			return nil, fault.New(fault.InvalidParameter,
				"emails, phones: send e-mail addresses in emails, and phone numbers in phones.")
		}
		if slices.Contains(keys, key) {
			continue
		}
		if isEmails {
			address = key
		}
		all, keys = append(all, address), append(keys, key)
	}
	if len(all) > MaxAddresses {
		return nil, fault.Newf(fault.InvalidParameter, "emails, phones: send at most %d of each.", MaxAddresses)
	}
	return all, nil
}

// MergeRequest requests that two customers become one: the customer with the address From becomes a part of Into.
type MergeRequest struct {
	Into string `json:"into"`
	From string `json:"from"`
}

// Separate requests that a merge is undone.
type Separate struct {
	Customer string    `json:"customer"` // an address of the customer
	MergeID  uuid.UUID `json:"merge_id"`
}

// Written is the answer to a write about a customer. It has no data of the customer, because services store answers.
type Written struct {
	ID uuid.UUID `json:"id"` // id of the record
}

// Import requests records for many customers. No customer is notified.
type Import struct {
	Rows   []Row `json:"rows"`
	DryRun bool  `json:"dry_run"` // only count
}

// Row is one customer of an import.
type Row struct {
	Line     int      `json:"line"` // number in the file of the owner
	Name     string   `json:"name"`
	Emails   []string `json:"emails"`
	Phones   []string `json:"phones"`
	Language string   `json:"language"`
	Notes    string   `json:"notes"`
	Tags     []string `json:"tags"`
}

// Normalize validates a row and brings its texts into their stored form. Fault: invalid_parameter.
func (r *Row) Normalize() error {
	if len(r.Emails)+len(r.Phones) == 0 {
		return fault.New(fault.InvalidParameter, "emails, phones: a customer needs an e-mail address or a phone number.")
	}
	change := Change{Customer: slices.Concat(r.Emails, r.Phones)[0], Name: &r.Name, Emails: &r.Emails, Phones: &r.Phones,
		Language: &r.Language, Notes: &r.Notes, Tags: &r.Tags}
	return change.Normalize()
}

// MaxImported is the maximal number of rows of an import.
const MaxImported = 10_000

// Imported is the result of an import. A row whose customer has a record already changes nothing.
type Imported struct {
	ID        *uuid.UUID `json:"id"`        // null after a dry run, and if no row was new
	Added     int        `json:"added"`     // number of new records
	Duplicate []int      `json:"duplicate"` // lines of customers who have a record already
}

// ImportEntry describes an import that was made.
type ImportEntry struct {
	ID        uuid.UUID  `json:"id"`
	At        time.Time  `json:"at"`
	Customers int        `json:"customers"` // number of records that the import made
	Left      int        `json:"left"`      // number of these records that were not changed later; undoing removes them
	UndoneAt  *time.Time `json:"undone_at"`
}

// ImportList holds the newest imports.
type ImportList struct {
	Imports []ImportEntry `json:"imports"`
}

// UndoImport requests that the records of an import are removed, except those that were changed later.
type UndoImport struct {
	ID uuid.UUID `json:"id"`
}

// Removed is the number of removed records.
type Removed struct {
	Records int `json:"records"`
}

// RecordRemoval requests that what is written about a customer is removed.
type RecordRemoval struct {
	Addresses []string `json:"addresses"` // keys of all addresses
	// KeepsAddresses keeps the record with nothing but its addresses, because future sales still have them.
	KeepsAddresses bool `json:"keeps_addresses"`
}
