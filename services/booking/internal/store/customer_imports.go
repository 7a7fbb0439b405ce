package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// ImportCustomers makes a record for each row whose addresses have no record yet, all in one transaction. It changes no
// existing record. A second import of the same rows therefore does nothing.
func (s *Store) ImportCustomers(ctx context.Context, businessID uuid.UUID, req customer.Import,
	now time.Time) (customer.Imported, error) {
	return writeCustomers(ctx, s, businessID, func(ctx context.Context, tx pgx.Tx) (customer.Imported, error) {
		records, result, err := selectNewCustomers(ctx, tx, businessID, req.Rows, now)
		if err != nil || req.DryRun || len(records) == 0 {
			return result, err
		}
		id := uuid.New()
		result.ID = &id
		if err := storeImport(ctx, tx, businessID, id, records, now); err != nil {
			return customer.Imported{}, fmt.Errorf("import customers: %w", err)
		}
		return result, recordCustomerChange(ctx, tx, businessID, changeImported, len(records), now)
	})
}

// selectNewCustomers returns the records to make, and counts the rows. A row is a duplicate if one of its addresses has
// a record, or is in an earlier row.
func selectNewCustomers(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, imported []customer.Row,
	now time.Time) ([]customerRecord, customer.Imported, error) {
	result := customer.Imported{Duplicate: []int{}}
	records := make([]customerRecord, len(imported))
	keys := []string{}
	for i, row := range imported {
		records[i] = customerRecord{ID: uuid.New(), CreatedAt: now, Addresses: newCustomerAddresses(row.Emails, row.Phones),
			Text: customerText{Name: row.Name, Language: row.Language, Notes: row.Notes, Tags: row.Tags}}
		keys = append(keys, records[i].listKeys()...)
	}
	rows, err := tx.Query(ctx, `SELECT address FROM customer_addresses WHERE business_id = $1 AND address = ANY($2)`,
		businessID, keys)
	if err != nil {
		return nil, result, fmt.Errorf("find records of imported customers: %w", err)
	}
	existing, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, result, fmt.Errorf("find records of imported customers: %w", err)
	}
	known := map[string]bool{}
	for _, key := range existing {
		known[key] = true
	}
	var added []customerRecord
	for i, record := range records {
		keys := record.listKeys()
		if slices.ContainsFunc(keys, func(key string) bool { return known[key] }) {
			result.Duplicate = append(result.Duplicate, imported[i].Line)
			continue
		}
		for _, key := range keys {
			known[key] = true
		}
		added = append(added, record)
	}
	result.Added = len(added)
	return added, result, nil
}

func storeImport(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID, records []customerRecord,
	now time.Time) error {
	var rows, addresses [][]any
	for _, r := range records {
		rows = append(rows, []any{businessID, r.ID, r.Text.Name, r.Text.Language, r.Text.Notes, r.Text.Tags, id, now, now})
		for _, a := range r.Addresses {
			addresses = append(addresses, []any{businessID, a.Key, r.ID, a.Spelling})
		}
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"customer_records"}, []string{"business_id", "id", "name", "language",
		"notes", "tags", "import_id", "created_at", "changed_at"}, pgx.CopyFromRows(rows)); err != nil {
		return err
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"customer_addresses"}, []string{"business_id", "address", "record_id",
		"spelling"}, pgx.CopyFromRows(addresses)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO customer_imports (business_id, id, imported_at, customers) VALUES ($1, $2, $3, $4)`,
		businessID, id, now, len(records))
	return err
}

// maxShownImports is the number of imports that an owner sees.
const maxShownImports = 20

// CustomerImports returns the newest imports of a business.
func (s *Store) CustomerImports(ctx context.Context, businessID uuid.UUID) ([]customer.ImportEntry, error) {
	return postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (customer.ImportEntry, error) {
		var e customer.ImportEntry
		err := row.Scan(&e.ID, &e.At, &e.Customers, &e.Left, &e.UndoneAt)
		e.At, e.UndoneAt = e.At.UTC(), utc(e.UndoneAt)
		return e, err
	}, "list imports of customers", `
		SELECT i.id, i.imported_at, i.customers, (SELECT count(*) FROM customer_records AS r
		    WHERE r.business_id = $1 AND r.import_id = i.id AND r.changed_at = r.created_at), i.undone_at
		FROM customer_imports AS i WHERE i.business_id = $1 ORDER BY i.imported_at DESC, i.id LIMIT $2`,
		businessID, maxShownImports)
}

// UndoCustomerImport removes the records that an import made, except those that were changed or merged later. Fault:
// not_found.
func (s *Store) UndoCustomerImport(ctx context.Context, businessID, id uuid.UUID,
	now time.Time) (customer.Removed, error) {
	return writeCustomers(ctx, s, businessID, func(ctx context.Context, tx pgx.Tx) (customer.Removed, error) {
		tag, err := tx.Exec(ctx, `UPDATE customer_imports SET undone_at = coalesce(undone_at, $3)
			WHERE business_id = $1 AND id = $2`, businessID, id, now)
		if err != nil {
			return customer.Removed{}, fmt.Errorf("undo an import: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return customer.Removed{}, fault.New(fault.NotFound, "There is no such import.")
		}
		tag, err = tx.Exec(ctx, `DELETE FROM customer_records
			WHERE business_id = $1 AND import_id = $2 AND changed_at = created_at`, businessID, id)
		if err != nil {
			return customer.Removed{}, fmt.Errorf("undo an import: %w", err)
		}
		removed := int(tag.RowsAffected())
		return customer.Removed{Records: removed}, recordCustomerChange(ctx, tx, businessID, changeImportUndo, removed, now)
	})
}
