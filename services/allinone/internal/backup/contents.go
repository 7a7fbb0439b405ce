// Package backup writes the data of a Slotmesh to one file, and restores such a file to an empty database.
//
// The file is a zip archive. The archive has one entry for each table, in the format of PostgreSQL's COPY. The archive
// also has one entry for each file that a backup contains in addition to the database, and for each file of an uploaded
// picture. The last entry, contents.json, contains the version of the build that wrote the file, the list of tables, and
// the checksums. The checksums of the picture files are in an entry of their own.
//
// All tables are read in one snapshot, so the services' event feeds and the cursors of their readers fit together.
// Reading does not block other transactions. A restore creates the tables with the migrations of its own build. The
// restore therefore rejects a file that was written with other migrations.
package backup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// format is the version number of the file format that this package writes. It reads the format 1 too, which has no
// pictures.
const format = 2

// contentsName is the name of the entry that describes all other entries.
const contentsName = "contents.json"

// Contents describes a backup file.
type Contents struct {
	Format int       `json:"format"`
	Build  string    `json:"build"` // version of the build that wrote the file, for people
	At     time.Time `json:"at"`    // time of the snapshot, according to the database's clock
	// Schemas are the migrations of each schema that were applied to the database.
	Schemas map[string][]postgres.MigrationText `json:"schemas"`
	// Tables are sorted: each table follows all tables that its rows reference.
	Tables    []Table    `json:"tables"`
	Sequences []Sequence `json:"sequences"`
	Files     []File     `json:"files"`
	Pictures  *Pictures  `json:"pictures,omitempty"` // nil if the backup leaves out the pictures
}

// Table describes the entry with the rows of one table.
type Table struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
	SHA256  string   `json:"sha256"` // checksum of the entry's content, in hexadecimal
}

func (t Table) entryName() string { return "tables/" + t.Schema + "." + t.Name }

func (t Table) quotedName() string { return pgx.Identifier{t.Schema, t.Name}.Sanitize() }

// columnList returns the list of columns for the SQL statement COPY.
func (t Table) columnList() string {
	list := ""
	for i, c := range t.Columns {
		if i > 0 {
			list += ", "
		}
		list += pgx.Identifier{c}.Sanitize()
	}
	return list
}

// Sequence is the last value of a PostgreSQL sequence.
type Sequence struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Last   int64  `json:"last"`
}

// File describes a file that the backup contains in addition to the database.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

func (f File) entryName() string { return "files/" + f.Name }

// Rows returns the number of rows of all tables.
func (c Contents) Rows() int64 {
	var rows int64
	for _, t := range c.Tables {
		rows += t.Rows
	}
	return rows
}

// CheckBuild returns an error if the backup was written with other migrations than the migrations in the argument
// `build`, which has the migrations by schema. The error is one sentence.
func (c Contents) CheckBuild(build map[string][]postgres.MigrationText) error {
	for _, schema := range slices.Sorted(maps.Keys(c.Schemas)) {
		if _, isKnown := build[schema]; !isKnown {
			return fmt.Errorf("the backup is of newer tables: this build has none of %s; restore it with the release "+
				"that made it (%s), or a newer one", schema, c.Build)
		}
	}
	for _, schema := range slices.Sorted(maps.Keys(build)) {
		buildTexts, backupTexts := build[schema], c.Schemas[schema]
		common := min(len(buildTexts), len(backupTexts))
		switch {
		case !slices.Equal(buildTexts[:common], backupTexts[:common]):
			return fmt.Errorf("the backup is of tables that this build does not make: it was made by %s, and one of "+
				"both was never released; "+
				"restore it with the build that made it", c.Build)
		case len(backupTexts) > common:
			return fmt.Errorf("the backup is of newer tables: those of %s are of migration %d, and this build knows "+
				"them to %d; restore it with "+
				"the release that made it (%s), or a newer one", schema, findLastVersion(backupTexts),
				findLastVersion(buildTexts), c.Build)
		case len(buildTexts) > common:
			return fmt.Errorf("the backup is of older tables: those of %s are of migration %d, and this build makes "+
				"%d; restore it with the "+
				"release that made it (%s), then start the newer release, which brings the tables up to date", schema,
				findLastVersion(backupTexts), findLastVersion(buildTexts), c.Build)
		}
	}
	return nil
}

func findLastVersion(texts []postgres.MigrationText) int64 {
	if len(texts) == 0 {
		return 0
	}
	return texts[len(texts)-1].Version
}

// connect opens a database connection without time limits. It sets the formats of values, so that rows are written
// exactly as they are read. The settings of the server and of the database user have no effect on the values.
func connect(ctx context.Context, databaseURL string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, err
	}
	for setting, value := range map[string]string{
		"application_name": "slotmesh-backup", "timezone": "UTC", "datestyle": "ISO", "intervalstyle": "postgres",
		"client_encoding":    "UTF8",
		"extra_float_digits": "1", "bytea_output": "hex",
		"statement_timeout": "0", "idle_in_transaction_session_timeout": "0",
	} {
		config.RuntimeParams[setting] = value
	}
	return pgx.ConnectConfig(ctx, config)
}
