package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// eraseStep is the maximal number of rows that one statement deletes. It bounds the number of row locks.
const eraseStep = 1000

// Erasable selects the rows of a table that [Erase] deletes for a business. The
// table has a column business_id. Where is an optional SQL condition on the row,
// which has the alias t. If Where is empty, all rows of the business are deleted.
type Erasable struct{ Table, Where string }

// Erase deletes the rows of the businesses from the tables, in the order of the argument `tables`.
// It returns the number of deleted rows, without the rows that ON DELETE CASCADE deletes.
//
// Table and Where become part of the SQL text, so they must not contain user input.
func Erase(ctx context.Context, pool *pgxpool.Pool, businesses []uuid.UUID, tables ...Erasable) (int64, error) {
	var erased int64
	for _, erasable := range tables {
		for _, business := range businesses {
			n, err := erase(ctx, pool, business, erasable)
			erased += n
			if err != nil {
				return erased, fmt.Errorf("erase: %w", err)
			}
		}
	}
	return erased, nil
}

// erase deletes the selected rows of one business in steps of eraseStep rows.
//
// The DELETE and the subquery both compare business_id, because a ctid identifies a row only within one table. If
// tables are sharded by business, a row of another business in another shard can have the same ctid.
func erase(ctx context.Context, pool *pgxpool.Pool, business uuid.UUID, erasable Erasable) (int64, error) {
	condition := "business_id = $1"
	if erasable.Where != "" {
		condition += " AND " + erasable.Where
	}
	sql := `DELETE FROM ` + erasable.Table + ` WHERE business_id = $1 AND ctid IN (SELECT ctid FROM ` + erasable.Table +
		` t WHERE ` + condition + ` LIMIT $2)`
	var erased int64
	for {
		tag, err := pool.Exec(ctx, sql, business, eraseStep)
		if err != nil {
			return erased, err
		}
		erased += tag.RowsAffected()
		if tag.RowsAffected() < eraseStep {
			return erased, nil
		}
	}
}
