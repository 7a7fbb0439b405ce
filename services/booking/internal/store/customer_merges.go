package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// MergeCustomers makes the customer with one address a part of the customer with another. The addresses, notes and tags
// of both are kept. The merge can be undone ([Store.SeparateCustomers]). Merges into the customer that becomes a part
// can no longer be undone.
//
// Faults: conflict if both are one customer, or if the customer would have too many addresses.
func (s *Store) MergeCustomers(ctx context.Context, businessID uuid.UUID, req customer.MergeRequest,
	now time.Time) (customer.Written, error) {
	return writeCustomers(ctx, s, businessID, func(ctx context.Context, tx pgx.Tx) (customer.Written, error) {
		into, err := ensureCustomerRecord(ctx, tx, businessID, req.Into, now)
		if err != nil {
			return customer.Written{}, err
		}
		from, err := ensureCustomerRecord(ctx, tx, businessID, req.From, now)
		if err != nil {
			return customer.Written{}, err
		}
		if into.ID == from.ID {
			return customer.Written{}, fault.New(fault.Conflict, "These are one customer already.")
		}
		if len(into.Addresses)+len(from.Addresses) > customer.MaxAddresses {
			return customer.Written{}, fault.Newf(fault.Conflict, "The customer would have more than %d addresses; remove "+
				"some first.", customer.MaxAddresses)
		}
		if err := storeMerge(ctx, tx, businessID, into, from, now); err != nil {
			return customer.Written{}, fmt.Errorf("merge customers: %w", err)
		}
		return customer.Written{ID: into.ID}, recordCustomerChange(ctx, tx, businessID, changeMerged, 2, now)
	})
}

func storeMerge(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, into, from *customerRecord,
	now time.Time) error {
	merged, err := json.Marshal(from)
	if err != nil {
		return err
	}
	kept, err := json.Marshal(into.Text)
	if err != nil {
		return err
	}
	var batch pgx.Batch
	batch.Queue(`UPDATE customer_addresses SET record_id = $3 WHERE business_id = $1 AND record_id = $2`,
		businessID, from.ID, into.ID)
	batch.Queue(`DELETE FROM customer_records WHERE business_id = $1 AND id = $2`, businessID, from.ID)
	batch.Queue(`INSERT INTO customer_merges (business_id, id, record_id, merged, kept, merged_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, businessID, uuid.New(), into.ID, merged, kept, now)
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return err
	}
	return updateCustomerText(ctx, tx, businessID, into.ID, joinTexts(into.Text, from.Text), now)
}

// joinTexts returns what is written about a merged customer. A name and a language of `into` precede those of `from`.
func joinTexts(into, from customerText) customerText {
	joined := customerText{Name: into.Name, Language: into.Language, Tags: slices.Clone(into.Tags)}
	if joined.Name == "" {
		joined.Name = from.Name
	}
	if joined.Language == "" {
		joined.Language = from.Language
	}
	notes := []rune(strings.Trim(into.Notes+"\n\n"+from.Notes, "\n"))
	joined.Notes = string(notes[:min(len(notes), customer.MaxNotes)])
	for _, tag := range from.Tags {
		if len(joined.Tags) < customer.MaxTags &&
			!slices.ContainsFunc(joined.Tags, func(t string) bool { return strings.EqualFold(t, tag) }) {
			joined.Tags = append(joined.Tags, tag)
		}
	}
	return joined
}

// splitTexts returns the text `now` of a merged customer without what [joinTexts] has added to `kept` from `from`.
func splitTexts(now, kept, from customerText) customerText {
	joined := joinTexts(kept, from)
	if kept.Name == "" && now.Name == from.Name {
		now.Name = ""
	}
	if kept.Language == "" && now.Language == from.Language {
		now.Language = ""
	}
	added := strings.Trim(strings.TrimPrefix(joined.Notes, kept.Notes), "\n")
	if i := strings.LastIndex(now.Notes, added); i >= 0 && added != "" {
		before, after := now.Notes[:i], now.Notes[i+len(added):]
		now.Notes = strings.Trim(strings.TrimRight(before, "\n")+"\n\n"+strings.TrimLeft(after, "\n"), "\n")
	}
	now.Tags = slices.DeleteFunc(slices.Clone(now.Tags), func(tag string) bool {
		return slices.Contains(joined.Tags[len(kept.Tags):], tag)
	})
	return now
}

// SeparateCustomers undoes a merge. The merged customer gets back its addresses and all that was written about it. The
// other customer loses what came from the merged one, and keeps what people wrote since.
//
// Faults: not_found if the customer has no such merge; conflict if the two would not both have an address.
func (s *Store) SeparateCustomers(ctx context.Context, businessID uuid.UUID, req customer.Separate,
	now time.Time) (customer.Written, error) {
	return writeCustomers(ctx, s, businessID, func(ctx context.Context, tx pgx.Tx) (customer.Written, error) {
		into, err := findCustomerRecord(ctx, tx, businessID, customer.Key(req.Customer))
		if err != nil {
			return customer.Written{}, err
		}
		if into == nil {
			return customer.Written{}, fault.New(fault.NotFound, "There is no such merge.")
		}
		if err := separate(ctx, tx, businessID, into, req.MergeID, now); err != nil {
			return customer.Written{}, err
		}
		return customer.Written{ID: into.ID}, recordCustomerChange(ctx, tx, businessID, changeSeparated, 2, now)
	})
}

func separate(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, into *customerRecord, merge uuid.UUID,
	now time.Time) error {
	var (
		from customerRecord
		kept customerText
	)
	err := tx.QueryRow(ctx, `
		DELETE FROM customer_merges WHERE business_id = $1 AND record_id = $2 AND id = $3 RETURNING merged, kept`,
		businessID, into.ID, merge).Scan(&from, &kept)
	if errors.Is(err, pgx.ErrNoRows) {
		return fault.New(fault.NotFound, "There is no such merge.")
	}
	if err != nil {
		return fmt.Errorf("find a merge: %w", err)
	}
	if err := insertCustomerRecord(ctx, tx, businessID, &from, now); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `
		UPDATE customer_addresses SET record_id = $3 WHERE business_id = $1 AND record_id = $2 AND address = ANY($4)`,
		businessID, into.ID, from.ID, from.listKeys())
	if err != nil {
		return fmt.Errorf("separate customers: %w", err)
	}
	if moved := int(tag.RowsAffected()); moved == 0 || moved == len(into.Addresses) {
		return fault.New(fault.Conflict, "One of the two customers would have no address; add one first.")
	}
	return updateCustomerText(ctx, tx, businessID, into.ID, splitTexts(into.Text, kept, from.Text), now)
}
