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
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// ErrNoTables means that the database has no tables of Slotmesh.
var ErrNoTables = errors.New("there are no tables of Slotmesh in this database")

// Source is what a backup contains.
type Source struct {
	DatabaseURL string
	Schemas     []string          // the schemas with tables of Slotmesh
	Files       map[string][]byte // additional files by name
	// Pictures is the folder with the files of uploaded pictures. If it is empty, the backup leaves them out.
	Pictures string
	Build    string // version of the program that writes the backup
}

// Write writes a backup to `w` and returns its contents. The tables are read in one snapshot. The snapshot contains all
// transactions that were committed before the call of Write. The pictures are those of the snapshot. Other users of the
// database can continue to work, but migrations wait until the tables are written.
func Write(ctx context.Context, w io.Writer, from Source) (Contents, error) {
	conn, err := connect(ctx, from.DatabaseURL)
	if err != nil {
		return Contents{}, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	out := &writer{zip: zip.NewWriter(w)}
	contents, pictures, err := out.writeDatabase(ctx, conn, from)
	if err != nil {
		return Contents{}, err
	}
	contents.Build = from.Build
	for _, name := range slices.Sorted(maps.Keys(from.Files)) {
		if err := out.writeFile(&contents, name, from.Files[name]); err != nil {
			return Contents{}, err
		}
	}
	if from.Pictures != "" {
		if contents.Pictures, err = out.writePictures(ctx, from.Pictures, pictures); err != nil {
			return Contents{}, err
		}
	}
	return contents, out.finish(contents)
}

// writeDatabase writes the tables. It returns the contents of the backup and the ids of the pictures in the tables.
func (w *writer) writeDatabase(ctx context.Context, conn *pgx.Conn, from Source) (Contents, []string, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return Contents{}, nil, err
	}
	contents, err := describe(ctx, tx, from.Schemas)
	if err != nil {
		return Contents{}, nil, err
	}
	for i := range contents.Tables {
		if err := w.writeTable(ctx, conn, &contents.Tables[i]); err != nil {
			return Contents{}, nil, err
		}
	}
	var pictures []string
	if from.Pictures != "" {
		if pictures, err = listPictures(ctx, tx); err != nil {
			return Contents{}, nil, err
		}
	}
	// The sequences are read after the tables. The values of the sequences are therefore not below any value that a row
	// contains.
	if contents.Sequences, err = listSequences(ctx, tx, from.Schemas); err != nil {
		return Contents{}, nil, err
	}
	return contents, pictures, tx.Commit(ctx)
}

// describe returns the contents of the database. Its first SQL statement takes the snapshot.
func describe(ctx context.Context, tx pgx.Tx, schemas []string) (Contents, error) {
	c := Contents{Format: format, Schemas: map[string][]postgres.MigrationText{}, Files: []File{}}
	if err := tx.QueryRow(ctx, `SELECT now()`).Scan(&c.At); err != nil {
		return c, err
	}
	c.At = c.At.UTC()
	for _, schema := range schemas {
		applied, err := postgres.AppliedMigrations(ctx, tx, schema)
		if err != nil {
			return c, err
		}
		if len(applied) == 0 {
			return c, ErrNoTables
		}
		c.Schemas[schema] = applied
	}
	tables, err := listTables(ctx, tx, schemas)
	if err != nil {
		return c, err
	}
	c.Tables, err = sortTables(ctx, tx, schemas, tables)
	return c, err
}

// listTables lists the tables to back up. listTables omits the tables of the migration tool. listTables also omits
// generated columns, because PostgreSQL computes their values.
func listTables(ctx context.Context, tx pgx.Tx, schemas []string) ([]Table, error) {
	rows, err := tx.Query(ctx, `
		SELECT n.nspname, c.relname, array_agg(a.attname::text ORDER BY a.attnum)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE n.nspname = ANY ($1) AND c.relkind = 'r' AND c.relname NOT IN ('goose_db_version', 'migration_texts')
		  AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		GROUP BY n.nspname, c.relname
		ORDER BY n.nspname, c.relname`, schemas)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Table, error) {
		var t Table
		err := row.Scan(&t.Schema, &t.Name, &t.Columns)
		return t, err
	})
}

// sortTables sorts the tables, so that each table follows all tables that its rows reference. Deferrable references
// do not restrict the order.
func sortTables(ctx context.Context, tx pgx.Tx, schemas []string, tables []Table) ([]Table, error) {
	rows, err := tx.Query(ctx, `
		SELECT from_n.nspname || '.' || from_c.relname, to_n.nspname || '.' || to_c.relname
		FROM pg_constraint k
		JOIN pg_class from_c ON from_c.oid = k.conrelid JOIN pg_namespace from_n ON from_n.oid = from_c.relnamespace
		JOIN pg_class to_c ON to_c.oid = k.confrelid JOIN pg_namespace to_n ON to_n.oid = to_c.relnamespace
		WHERE k.contype = 'f' AND NOT k.condeferrable AND k.conrelid <> k.confrelid AND from_n.nspname = ANY ($1)`, schemas)
	if err != nil {
		return nil, err
	}
	refers := map[string][]string{}
	var from, to string
	if _, err := pgx.ForEachRow(rows, []any{&from, &to}, func() error {
		refers[from] = append(refers[from], to)
		return nil
	}); err != nil {
		return nil, err
	}
	byName := make(map[string]Table, len(tables))
	for _, t := range tables {
		byName[t.Schema+"."+t.Name] = t
	}
	ordered, placed := make([]Table, 0, len(tables)), map[string]bool{}
	var place func(name string)
	place = func(name string) {
		if placed[name] {
			return
		}
		placed[name] = true
		for _, other := range refers[name] {
			place(other)
		}
		ordered = append(ordered, byName[name])
	}
	for _, t := range tables {
		place(t.Schema + "." + t.Name)
	}
	return ordered, nil
}

func listSequences(ctx context.Context, tx pgx.Tx, schemas []string) ([]Sequence, error) {
	rows, err := tx.Query(ctx, `
		SELECT schemaname, sequencename, last_value FROM pg_sequences
		WHERE schemaname = ANY ($1) AND last_value IS NOT NULL AND sequencename <> 'goose_db_version_id_seq'
		ORDER BY schemaname, sequencename`, schemas)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Sequence])
}

// writer writes the entries of a backup file.
type writer struct{ zip *zip.Writer }

func (w *writer) writeTable(ctx context.Context, conn *pgx.Conn, t *Table) error {
	entry, err := w.zip.Create(t.entryName())
	if err != nil {
		return err
	}
	sum := sha256.New()
	copied, err := conn.PgConn().CopyTo(ctx, io.MultiWriter(entry, sum),
		fmt.Sprintf("COPY %s (%s) TO STDOUT", t.quotedName(), t.columnList()))
	if err != nil {
		return fmt.Errorf("table %s.%s: %w", t.Schema, t.Name, err)
	}
	t.Rows, t.SHA256 = copied.RowsAffected(), hex.EncodeToString(sum.Sum(nil))
	return nil
}

func (w *writer) writeFile(c *Contents, name string, content []byte) error {
	sum := sha256.Sum256(content)
	f := File{name, hex.EncodeToString(sum[:])}
	c.Files = append(c.Files, f)
	return w.write(f.entryName(), content)
}

func (w *writer) finish(c Contents) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(w.write(contentsName, text), w.zip.Close())
}

func (w *writer) write(name string, content []byte) error {
	entry, err := w.zip.Create(name)
	if err != nil {
		return err
	}
	_, err = entry.Write(content)
	return err
}
