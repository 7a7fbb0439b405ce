package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
)

// MigrationText identifies the text of one migration. Two schemas
// with the same list of MigrationTexts have the same tables.
type MigrationText struct {
	Version int64  `json:"version"`
	SHA256  string `json:"sha256"` // hash of the file, hexadecimal
}

// MigrationTexts returns the versions and hashes of the migrations in files, in ascending order.
func MigrationTexts(files fs.FS) ([]MigrationText, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	texts := make([]MigrationText, 0, len(names))
	for _, name := range names { // Glob sorts by name, and the name begins with the version
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", name, err)
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		texts = append(texts, MigrationText{version, hex.EncodeToString(sum[:])})
	}
	return texts, nil
}

// AppliedMigrations returns the migrations that were applied to a schema,
// in ascending order. It returns none if no migration was ever applied.
func AppliedMigrations(ctx context.Context, tx pgx.Tx, schema string) ([]MigrationText, error) {
	var exists bool
	in := pgx.Identifier{schema}.Sanitize()
	if err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, in+".migration_texts").Scan(&exists); err != nil ||
		!exists {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		SELECT version, encode(sha256, 'hex') FROM `+in+`.migration_texts
		WHERE version IN (SELECT version_id FROM `+in+`.goose_db_version WHERE is_applied)
		ORDER BY version`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[MigrationText])
}
