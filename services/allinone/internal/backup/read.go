package backup

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// The maximum sizes, in bytes, of contents.json and of one additional file. Both the entry and the file are read into
// memory.
const (
	maxContents = 16 << 20
	maxFile     = 1 << 20
)

// Backup is an open backup file. Open has verified the checksum of every entry.
type Backup struct {
	Contents
	zip *zip.ReadCloser
}

// errChecksum means that an entry was changed after it was written.
var errChecksum = errors.New("it does not match its checksum")

// Open opens the backup file at `path` and reads the whole file. If the file is damaged, Open returns an error.
func Open(ctx context.Context, path string) (*Backup, error) {
	file, err := zip.OpenReader(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("the backup cannot be read: %w", err)
	case err != nil:
		return nil, fmt.Errorf("%s is no backup of Slotmesh, or not a whole one: %w", path, err)
	}
	b := &Backup{zip: file}
	if err := b.check(ctx, path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return b, nil
}

// Close closes the file.
func (b *Backup) Close() error { return b.zip.Close() }

func (b *Backup) check(ctx context.Context, path string) error {
	text, err := b.read(contentsName, maxContents)
	if err != nil {
		return fmt.Errorf("%s is no backup of Slotmesh: %w", path, err)
	}
	// The format is read first, because the other fields depend on the format.
	var header struct{ Format int }
	if err := json.Unmarshal(text, &header); err != nil || header.Format < 1 {
		return fmt.Errorf("%s is no backup of Slotmesh: its %s cannot be read", path, contentsName)
	}
	if header.Format > format {
		return fmt.Errorf("%s was made by a newer Slotmesh: its format is %d, and this build reads %d", path,
			header.Format, format)
	}
	if err := json.Unmarshal(text, &b.Contents); err != nil {
		return fmt.Errorf("%s is damaged: %s: %w", path, contentsName, err)
	}
	for entry, want := range b.listChecksums() {
		if err := b.checkEntry(entry, want); err != nil {
			return fmt.Errorf("%s is damaged: %s: %w", path, entry, err)
		}
	}
	if err := b.checkPictures(ctx); err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	return nil
}

func (b *Backup) listChecksums() map[string]string {
	sums := make(map[string]string, len(b.Tables)+len(b.Contents.Files))
	for _, t := range b.Tables {
		sums[t.entryName()] = t.SHA256
	}
	for _, f := range b.Contents.Files {
		sums[f.entryName()] = f.SHA256
	}
	return sums
}

func (b *Backup) checkEntry(entry, want string) error {
	content, err := b.zip.Open(entry)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != want {
		return errChecksum
	}
	return nil
}

func (b *Backup) read(entry string, maxBytes int64) ([]byte, error) {
	content, err := b.zip.Open(entry)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	text, err := io.ReadAll(io.LimitReader(content, maxBytes+1))
	if err == nil && int64(len(text)) > maxBytes {
		err = fmt.Errorf("%s is too long", entry)
	}
	return text, err
}

// Files returns the contents of the files that the backup contains in addition to the database, by name.
func (b *Backup) Files() (map[string][]byte, error) {
	files := make(map[string][]byte, len(b.Contents.Files))
	for _, f := range b.Contents.Files {
		content, err := b.read(f.entryName(), maxFile)
		if err != nil {
			return nil, err
		}
		files[f.Name] = content
	}
	return files, nil
}

// NotEmptyError means that the database already has tables, so that the backup cannot be restored.
type NotEmptyError struct{ Table string }

func (e *NotEmptyError) Error() string {
	return "it has tables of Slotmesh already, such as " + e.Table
}

// Restore creates the tables in an empty database, fills them, and then runs the SQL statements in the argument
// `statements`. The argument `migrations` contains the migrations that create the tables, by schema. The backup must
// have been written with the same migrations. If Restore fails, it removes the tables again. Error: [*NotEmptyError].
func (b *Backup) Restore(ctx context.Context, databaseURL string, migrations map[string]fs.FS,
	statements ...string) error {
	conn, err := connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	schemas := slices.Sorted(maps.Keys(migrations))
	if err := checkEmpty(ctx, conn, schemas); err != nil {
		return err
	}
	if err := b.restore(ctx, conn, databaseURL, migrations, statements); err != nil {
		return errors.Join(err, drop(context.WithoutCancel(ctx), databaseURL, schemas))
	}
	// Until ANALYZE runs, PostgreSQL plans statements as if the tables were empty.
	_, err = conn.Exec(ctx, "ANALYZE")
	return err
}

func checkEmpty(ctx context.Context, conn *pgx.Conn, schemas []string) error {
	var found string
	err := conn.QueryRow(ctx, `
		SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p') ORDER BY 1 LIMIT 1`, schemas).Scan(&found)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return &NotEmptyError{found}
}

// drop removes the schemas after a failed restore. It opens a new connection: if the context of the restore was
// cancelled, the connection of the restore is closed.
func drop(ctx context.Context, databaseURL string, schemas []string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	var errs []error
	for _, schema := range schemas {
		_, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{schema}.Sanitize()+" CASCADE")
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (b *Backup) restore(ctx context.Context, conn *pgx.Conn, databaseURL string, migrations map[string]fs.FS,
	statements []string) error {
	for _, schema := range slices.Sorted(maps.Keys(migrations)) {
		if err := postgres.Migrate(ctx, postgres.Config{URL: databaseURL}, schema, migrations[schema]); err != nil {
			return err
		}
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := b.fillAll(ctx, tx); err != nil {
			return err
		}
		for _, statement := range statements {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *Backup) fillAll(ctx context.Context, tx pgx.Tx) error {
	names := make([]string, len(b.Tables))
	for i, t := range b.Tables {
		names[i] = t.quotedName()
	}
	// Triggers have written rows before the backup. The backup contains these rows too.
	if err := b.setTriggers(ctx, tx, "DISABLE"); err != nil {
		return err
	}
	// Migrations have written rows to some of the tables. The backup contains these rows too.
	for _, statement := range []string{"SET CONSTRAINTS ALL DEFERRED", "TRUNCATE " + strings.Join(names, ", ")} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	for _, t := range b.Tables {
		if err := b.fill(ctx, tx.Conn(), t); err != nil {
			return fmt.Errorf("table %s.%s: %w", t.Schema, t.Name, err)
		}
	}
	for _, s := range b.Sequences {
		if _, err := tx.Exec(ctx, `SELECT setval($1::regclass, $2)`, pgx.Identifier{s.Schema, s.Name}.Sanitize(),
			s.Last); err != nil {
			return err
		}
	}
	// PostgreSQL does not change a table whose constraints it still has to check.
	if _, err := tx.Exec(ctx, "SET CONSTRAINTS ALL IMMEDIATE"); err != nil {
		return err
	}
	return b.setTriggers(ctx, tx, "ENABLE")
}

// setTriggers enables or disables the triggers of all tables, except those of constraints.
func (b *Backup) setTriggers(ctx context.Context, tx pgx.Tx, action string) error {
	for _, t := range b.Tables {
		if _, err := tx.Exec(ctx, "ALTER TABLE "+t.quotedName()+" "+action+" TRIGGER USER"); err != nil {
			return err
		}
	}
	return nil
}

func (b *Backup) fill(ctx context.Context, conn *pgx.Conn, t Table) error {
	content, err := b.zip.Open(t.entryName())
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	copied, err := conn.PgConn().CopyFrom(ctx, content, fmt.Sprintf("COPY %s (%s) FROM STDIN", t.quotedName(),
		t.columnList()))
	if err == nil && copied.RowsAffected() != t.Rows {
		err = fmt.Errorf("%d rows were written, and it has %d", copied.RowsAffected(), t.Rows)
	}
	return err
}
