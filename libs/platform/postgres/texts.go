package postgres

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"path"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
)

// textsTableSQL creates the table for the hashes of migration texts. The hash of a migration is stored before
// the migration runs. If the process dies before the migration is applied, the next run overwrites the row.
//
// The text of a released migration never changes, but the text of an unreleased migration may. A schema to which an
// older text was applied may lack a change that later statements need. The comparison with the stored hash detects this
// problem before such a statement fails.
const textsTableSQL = `CREATE TABLE IF NOT EXISTS migration_texts (
    version bigint PRIMARY KEY,
    sha256  bytea NOT NULL CHECK (octet_length(sha256) = 32)
)`

// storeTextHashes stores the hashes of pending migrations. It returns
// a [ChangedTextError] if a migration was applied with another text.
func storeTextHashes(ctx context.Context, db *sql.DB, provider *goose.Provider, files fs.FS, schema string) error {
	if _, err := db.ExecContext(ctx, textsTableSQL); err != nil {
		return err
	}
	statuses, err := provider.Status(ctx)
	if err != nil {
		return err
	}
	for _, m := range statuses {
		name := path.Base(m.Source.Path)
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		if m.State == goose.StateApplied {
			err = checkText(ctx, db, m.Source.Version, sum[:], name, schema)
		} else {
			_, err = db.ExecContext(ctx, `INSERT INTO migration_texts (version, sha256) VALUES ($1, $2)
				ON CONFLICT (version) DO UPDATE SET sha256 = excluded.sha256`, m.Source.Version, sum[:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkText(ctx context.Context, db *sql.DB, version int64, sum []byte, name, schema string) error {
	var isSame bool
	err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM migration_texts WHERE version = $1 AND sha256 = $2)`,
		version, sum).Scan(&isSame)
	if err != nil || isSame {
		return err
	}
	return &ChangedTextError{Migration: name, Schema: schema}
}

// ChangedTextError means that a migration was applied with a text that differs from the text in this
// build. The text of a released migration never changes, so an unreleased build applied the migration.
type ChangedTextError struct {
	Migration string // file name
	Schema    string
}

func (e *ChangedTextError) Error() string {
	return fmt.Sprintf("the tables were made by another text of %s, in a build that was never released and whose "+
		"data is not carried over: "+
		"start with an empty database, or run DROP SCHEMA %s CASCADE", e.Migration, pgx.Identifier{e.Schema}.Sanitize())
}
