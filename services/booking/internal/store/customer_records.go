package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// customerRecord is a row of customer_records with its addresses. The JSON form is stored in merges.
type customerRecord struct {
	ID        uuid.UUID         `json:"id"`
	Text      customerText      `json:"text"`
	ImportID  *uuid.UUID        `json:"import_id"`
	CreatedAt time.Time         `json:"created_at"`
	Addresses []customerAddress `json:"addresses"` // e-mail addresses first
}

// customerText is what people have written about a customer.
type customerText struct {
	Name     string   `json:"name"`
	Language string   `json:"language"`
	Notes    string   `json:"notes"`
	Tags     []string `json:"tags"`
}

type customerAddress struct {
	Key      string `json:"key"`
	Spelling string `json:"spelling"`
}

func newCustomerAddresses(spellings ...[]string) []customerAddress {
	var all []customerAddress
	for _, spelling := range slices.Concat(spellings...) {
		all = append(all, customerAddress{customer.Key(spelling), spelling})
	}
	return all
}

func (r *customerRecord) listSpellings(isEmail bool) []string {
	all := []string{}
	for _, a := range r.Addresses {
		if customer.IsEmail(a.Key) == isEmail {
			all = append(all, a.Spelling)
		}
	}
	return all
}

func (r *customerRecord) listKeys() []string {
	keys := []string{}
	for _, a := range r.Addresses {
		keys = append(keys, a.Key)
	}
	return keys
}

// findCustomerRecord returns the record with an address. It returns nil if there is none.
func findCustomerRecord(ctx context.Context, from postgres.Querier, businessID uuid.UUID,
	key string) (*customerRecord, error) {
	rows, err := from.Query(ctx, `
		SELECT r.id, r.name, r.language, r.notes, r.tags, r.import_id, r.created_at, a.address, a.spelling
		FROM customer_addresses AS of
		JOIN customer_records AS r ON r.business_id = of.business_id AND r.id = of.record_id
		JOIN customer_addresses AS a ON a.business_id = r.business_id AND a.record_id = r.id
		WHERE of.business_id = $1 AND of.address = $2
		ORDER BY a.address LIKE '%@%' DESC, a.address`, businessID, key)
	if err != nil {
		return nil, fmt.Errorf("find the record of a customer: %w", err)
	}
	var (
		record customerRecord
		entry  customerAddress
	)
	_, err = pgx.ForEachRow(rows, []any{&record.ID, &record.Text.Name, &record.Text.Language, &record.Text.Notes,
		&record.Text.Tags, &record.ImportID, &record.CreatedAt, &entry.Key, &entry.Spelling}, func() error {
		record.Addresses = append(record.Addresses, entry)
		return nil
	})
	if err != nil || len(record.Addresses) == 0 {
		return nil, err
	}
	return &record, nil
}

// FindCustomerRecord returns the record of the customer with an address, with the merges that can be undone. If there
// is no record, the result has only the address.
func (s *Store) FindCustomerRecord(ctx context.Context, businessID uuid.UUID, key string) (customer.Record, error) {
	found, err := findCustomerRecord(ctx, s.pool, businessID, key)
	if err != nil {
		return customer.Record{}, err
	}
	if found == nil {
		record := customer.Record{Emails: []string{}, Phones: []string{}, Tags: []string{}, Merges: []customer.Merged{}}
		if customer.IsEmail(key) {
			record.Emails = append(record.Emails, key)
		} else {
			record.Phones = append(record.Phones, key)
		}
		return record, nil
	}
	merges, err := postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (customer.Merged, error) {
		var m customer.Merged
		err := row.Scan(&m.ID, &m.Name, &m.At)
		m.At = m.At.UTC()
		return m, err
	}, "list merges of a customer", `
		SELECT id, coalesce(nullif(merged#>>'{text,name}', ''), merged#>>'{addresses,0,spelling}'), merged_at
		FROM customer_merges WHERE business_id = $1 AND record_id = $2 ORDER BY merged_at DESC, id`, businessID, found.ID)
	if merges == nil {
		merges = []customer.Merged{}
	}
	return customer.Record{
		ID: &found.ID, Name: found.Text.Name, Emails: found.listSpellings(true), Phones: found.listSpellings(false),
		Language: found.Text.Language, Notes: found.Text.Notes, Tags: found.Text.Tags,
		CreatedAt: utc(&found.CreatedAt), Merges: merges,
	}, err
}

// writeCustomers runs a write about the records of a business, at most once for each Idempotency-Key. Writes of one
// business run one after another, so that no two records get one address. The answer must have no data of customers,
// because it is stored for a day.
func writeCustomers[T any](ctx context.Context, s *Store, businessID uuid.UUID,
	do func(context.Context, pgx.Tx) (T, error)) (T, error) {
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (T, error) {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('customer_records'), hashtext($1::text))`,
			businessID.String()); err != nil {
			var none T
			return none, fmt.Errorf("lock the records of customers: %w", err)
		}
		return do(ctx, tx)
	})
}

// The kinds of changes in the data of [event.CustomerChanged].
const (
	changeWritten    = "written"
	changeMerged     = "merged"
	changeSeparated  = "separated"
	changeImported   = "imported"
	changeImportUndo = "import_undone"
)

// recordCustomerChangeSQL records an event without data of customers. The subject is a new id.
var recordCustomerChangeSQL = `
WITH change AS (SELECT @business_id::uuid AS business_id, @change_id::uuid AS id, 1 AS sequence)
` + eventlog.Record(event.Customer, event.CustomerChanged, "change",
	`jsonb_build_object('change', @change::text, 'customers', @customers::integer)`)

func recordCustomerChange(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, change string, customers int,
	now time.Time) error {
	_, err := tx.Exec(ctx, recordCustomerChangeSQL, eventlog.Add(ctx, pgx.NamedArgs{"business_id": businessID,
		"change_id": uuid.New(), "change": change, "customers": customers}, now))
	if err != nil {
		return fmt.Errorf("record a change of customers: %w", err)
	}
	return nil
}

// ensureCustomerRecord returns the record with an address. If there is none, it makes one with the name of the newest
// booking or order.
func ensureCustomerRecord(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, address string,
	now time.Time) (*customerRecord, error) {
	key := customer.Key(address)
	found, err := findCustomerRecord(ctx, tx, businessID, key)
	if err != nil || found != nil {
		return found, err
	}
	record := &customerRecord{ID: uuid.New(), CreatedAt: now, Text: customerText{Tags: []string{}},
		Addresses: newCustomerAddresses([]string{address})}
	err = tx.QueryRow(ctx, `
		SELECT name FROM (
		    SELECT left(customer_name, `+fmt.Sprint(customer.MaxName)+`) AS name, created_at FROM bookings
		    WHERE business_id = @business_id AND `+postgres.CustomerMatch+`
		    UNION ALL
		    SELECT left(customer_name, `+fmt.Sprint(customer.MaxName)+`), created_at FROM tickets
		    WHERE business_id = @business_id AND `+postgres.CustomerMatch+`
		) AS sales ORDER BY created_at DESC LIMIT 1`,
		pgx.NamedArgs{"business_id": businessID, "addresses": record.listKeys()}).Scan(&record.Text.Name)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("find the name of a customer: %w", err)
	}
	if err := insertCustomerRecord(ctx, tx, businessID, record, now); err != nil {
		return nil, err
	}
	return record, insertCustomerAddresses(ctx, tx, businessID, record.ID, record.Addresses)
}

func insertCustomerRecord(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, r *customerRecord,
	now time.Time) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO customer_records (business_id, id, name, language, notes, tags, import_id, created_at, changed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, businessID, r.ID, r.Text.Name, r.Text.Language, r.Text.Notes,
		r.Text.Tags, r.ImportID, r.CreatedAt, now)
	if err != nil {
		return fmt.Errorf("store the record of a customer: %w", err)
	}
	return nil
}

// insertCustomerAddresses gives addresses to a record. Fault: conflict if one of them belongs to another record.
func insertCustomerAddresses(ctx context.Context, tx pgx.Tx, businessID, recordID uuid.UUID,
	addresses []customerAddress) error {
	for _, a := range addresses {
		tag, err := tx.Exec(ctx, `
			INSERT INTO customer_addresses (business_id, address, record_id, spelling) VALUES ($1, $2, $3, $4)
			ON CONFLICT (business_id, address) DO UPDATE SET spelling = excluded.spelling
			WHERE customer_addresses.record_id = excluded.record_id`, businessID, a.Key, recordID, a.Spelling)
		if err != nil {
			return fmt.Errorf("store an address of a customer: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return fault.New(fault.Conflict, "Another customer has one of these addresses; merge the two customers "+
				"instead.")
		}
	}
	return nil
}

func updateCustomerText(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID, text customerText,
	now time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE customer_records SET name = $3, language = $4, notes = $5, tags = $6, changed_at = $7
		WHERE business_id = $1 AND id = $2`, businessID, id, text.Name, text.Language, text.Notes, text.Tags, now)
	if err != nil {
		return fmt.Errorf("write about a customer: %w", err)
	}
	return nil
}

// ChangeCustomer writes about a customer, and makes a record if there is none. Faults: conflict if another record has
// one of the addresses; invalid_parameter if the customer would have no address.
func (s *Store) ChangeCustomer(ctx context.Context, businessID uuid.UUID, req customer.Change,
	now time.Time) (customer.Written, error) {
	return writeCustomers(ctx, s, businessID, func(ctx context.Context, tx pgx.Tx) (customer.Written, error) {
		record, err := ensureCustomerRecord(ctx, tx, businessID, req.Customer, now)
		if err != nil {
			return customer.Written{}, err
		}
		if err := replaceCustomerAddresses(ctx, tx, businessID, record, req); err != nil {
			return customer.Written{}, err
		}
		text := record.Text
		set(&text.Name, req.Name)
		set(&text.Language, req.Language)
		set(&text.Notes, req.Notes)
		set(&text.Tags, req.Tags)
		if err := updateCustomerText(ctx, tx, businessID, record.ID, text, now); err != nil {
			return customer.Written{}, err
		}
		return customer.Written{ID: record.ID}, recordCustomerChange(ctx, tx, businessID, changeWritten, 1, now)
	})
}

// set replaces a value if a new one is given.
func set[T any](value, given *T) {
	if given != nil {
		*value = *given
	}
}

func replaceCustomerAddresses(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, record *customerRecord,
	req customer.Change) error {
	if req.Emails == nil && req.Phones == nil {
		return nil
	}
	emails, phones := record.listSpellings(true), record.listSpellings(false)
	set(&emails, req.Emails)
	set(&phones, req.Phones)
	addresses := newCustomerAddresses(emails, phones)
	if len(addresses) == 0 {
		return fault.New(fault.InvalidParameter, "emails, phones: a customer needs an e-mail address or a phone number.")
	}
	changed := customerRecord{Addresses: addresses}
	if _, err := tx.Exec(ctx, `
		DELETE FROM customer_addresses WHERE business_id = $1 AND record_id = $2 AND NOT address = ANY($3)`,
		businessID, record.ID, changed.listKeys()); err != nil {
		return fmt.Errorf("remove addresses of a customer: %w", err)
	}
	return insertCustomerAddresses(ctx, tx, businessID, record.ID, addresses)
}

// recordsWithAddresses is an SQL condition for rows that belong to a record with one of the addresses $2.
const recordsWithAddresses = ` IN (
	SELECT record_id FROM customer_addresses WHERE business_id = $1 AND address = ANY($2))`

// RemoveCustomerRecords removes the records that have one of the addresses, with their merges. If `keepsAddresses` is
// true, the records stay with nothing but their addresses.
func (s *Store) RemoveCustomerRecords(ctx context.Context, businessID uuid.UUID, keys []string, keepsAddresses bool,
	now time.Time) (customer.Removed, error) {
	return writeCustomers(ctx, s, businessID, func(ctx context.Context, tx pgx.Tx) (customer.Removed, error) {
		var tag pgconn.CommandTag
		_, err := tx.Exec(ctx, `DELETE FROM customer_merges WHERE business_id = $1 AND record_id`+recordsWithAddresses,
			businessID, keys)
		switch {
		case err != nil:
		case keepsAddresses:
			tag, err = tx.Exec(ctx, `UPDATE customer_records
				SET name = '', language = '', notes = '', tags = '{}', import_id = NULL, changed_at = $3
				WHERE business_id = $1 AND id`+recordsWithAddresses, businessID, keys, now)
		default:
			tag, err = tx.Exec(ctx, `DELETE FROM customer_records WHERE business_id = $1 AND id`+recordsWithAddresses,
				businessID, keys)
		}
		if err != nil {
			return customer.Removed{}, fmt.Errorf("remove the record of a customer: %w", err)
		}
		return customer.Removed{Records: int(tag.RowsAffected())}, nil
	})
}

// unusedRecord is an SQL condition for a record `r` that was not changed since the cutoff, if no booking and no order has
// one of its addresses.
const unusedRecord = `r.business_id = @business_id AND r.changed_at <= @cutoff AND NOT EXISTS (
    SELECT FROM customer_addresses AS a, LATERAL (
        SELECT FROM bookings AS s WHERE s.business_id = @business_id AND lower(s.customer_email) = a.address
        UNION ALL
        SELECT FROM tickets AS s WHERE s.business_id = @business_id AND lower(s.customer_email) = a.address
        UNION ALL
        SELECT FROM bookings AS s WHERE s.business_id = @business_id AND coalesce(s.customer_email, '') = ''
            AND ` + postgres.CustomerPhone + ` = a.address
        UNION ALL
        SELECT FROM tickets AS s WHERE s.business_id = @business_id AND coalesce(s.customer_email, '') = ''
            AND ` + postgres.CustomerPhone + ` = a.address) AS sale
    WHERE a.business_id = @business_id AND a.record_id = r.id)`

func (s *Store) removeUnusedRecords(ctx context.Context, businessID uuid.UUID, cutoff time.Time) (int64, error) {
	tag, err := s.pool.Exec(ctx, `DELETE FROM customer_records AS r WHERE `+unusedRecord,
		pgx.NamedArgs{"business_id": businessID, "cutoff": cutoff})
	if err != nil {
		return 0, fmt.Errorf("remove records of customers: %w", err)
	}
	return tag.RowsAffected(), nil
}
