package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// eraseStep is how many rows a statement deletes at most, so that none holds many locks.
const eraseStep = 1000

// Erasable are the rows of a table that has a column business_id: all of a business, or those for which Where, a condition on the
// row t, holds.
type Erasable struct{ Table, Where string }

// Erase deletes the rows of these businesses from the tables in turn, and returns how many rows that were, not counting those that
// go with others. Tables and conditions are part of the statement: no caller's text has a place in them.
func Erase(ctx context.Context, pool *pgxpool.Pool, businesses []uuid.UUID, tables ...Erasable) (int64, error) {
	var erased int64
	for _, of := range tables {
		for _, business := range businesses {
			n, err := erase(ctx, pool, business, of)
			erased += n
			if err != nil {
				return erased, fmt.Errorf("erase: %w", err)
			}
		}
	}
	return erased, nil
}

// erase deletes rows of one business. Both parts of the statement say whose they are: a ctid is a place in one table, and where tables are
// sharded by business the same place in another shard has somebody else's row.
func erase(ctx context.Context, pool *pgxpool.Pool, business uuid.UUID, of Erasable) (int64, error) {
	condition := "business_id = $1"
	if of.Where != "" {
		condition += " AND " + of.Where
	}
	sql := `DELETE FROM ` + of.Table + ` WHERE business_id = $1 AND ctid IN (SELECT ctid FROM ` + of.Table + ` t WHERE ` + condition + ` LIMIT $2)`
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
