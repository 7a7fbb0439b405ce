package allinone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/build"
	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/allinone/internal/backing"
	"github.com/slotmesh/slotmesh/services/allinone/internal/backup"
	bookingtables "github.com/slotmesh/slotmesh/services/booking/migrations"
	catalogtables "github.com/slotmesh/slotmesh/services/catalog/migrations"
	consoletables "github.com/slotmesh/slotmesh/services/console/migrations"
	notificationstables "github.com/slotmesh/slotmesh/services/notifications/migrations"
	rentaltables "github.com/slotmesh/slotmesh/services/rental/migrations"
)

// migrations contains the migrations of all services that have tables, by schema.
var migrations = map[string]fs.FS{
	"catalog": catalogtables.FS, "booking": bookingtables.FS, "rental": rentaltables.FS,
	"notifications": notificationstables.FS, consoleName: consoletables.FS,
}

// homeFiles are the files of the home folder that a backup contains in addition to the database. For example, the links
// in mails that were already sent depend on the secret in linkSecretFile.
var homeFiles = []string{linkSecretFile, TokenFile, DemoKeyFile}

// mediaSetting is the setting of the catalog service that names the store of uploaded pictures. mediaFolder is the folder
// of the home that has the pictures if the setting is missing.
const (
	mediaSetting = "MEDIA_STORE"
	mediaFolder  = "media"
)

// findMediaFolder returns the folder with the files of uploaded pictures, or "" if they are in a bucket or uploads are
// turned off.
func findMediaFolder(cfg Config, home string) string {
	store, isSet := cfg.Settings[mediaSetting]
	switch {
	case !isSet:
		return filepath.Join(home, mediaFolder)
	case filepath.IsAbs(store):
		return store
	}
	return ""
}

// resumeStatements are the SQL statements that run after a restore. The statements release the locks of the processes
// that were running when the backup was made. Without these statements, the notifications service would wait for
// minutes: its locks must expire, and River must run the interrupted jobs again.
var resumeStatements = []string{
	`UPDATE notifications.feeds SET reader = NULL, reader_until = '-infinity'`,
	`UPDATE notifications.webhook_endpoints SET lane = NULL, lane_until = '-infinity'`,
	`UPDATE notifications.river_job SET state = 'available' WHERE state = 'running'`,
}

// Backup writes all data of a Slotmesh to a new file at `path`, and prints a line about the file to `out`. The settings
// in env select the Slotmesh, which may be running. The error is one sentence.
func Backup(ctx context.Context, env envconfig.Lookuper, path string, out io.Writer) error {
	cfg, err := loadConfig(ctx, env)
	if err != nil {
		return err
	}
	url, done, err := openDatabaseToRead(ctx, cfg, newPrinter(out))
	if err != nil {
		return err
	}
	return errors.Join(writeBackup(ctx, cfg, url, path, out), done())
}

func loadConfig(ctx context.Context, env envconfig.Lookuper) (Config, error) {
	var cfg Config
	err := errors.Join(config.Load(ctx, &cfg, env), readSettings(&cfg, env))
	_, hasMailPort := env.Lookup("MAIL_PORT")
	cfg.HidesMail = !cfg.WithDemo && !hasMailPort
	return cfg, err
}

func newPrinter(out io.Writer) func(line string) {
	return func(line string) { _, _ = fmt.Fprintln(out, line) }
}

// openDatabaseToRead returns the URL of the database to back up, and a function that the caller must call after the
// backup. If DATABASE_URL is set, this is the URL. Otherwise, openDatabaseToRead returns the URL of the PostgreSQL of
// the process that uses the home folder. If no process uses the folder, openDatabaseToRead starts the folder's
// PostgreSQL, and the returned function stops it.
func openDatabaseToRead(ctx context.Context, cfg Config, say func(string)) (string, func() error, error) {
	if cfg.DatabaseURL != "" {
		return openDatabase(ctx, cfg, cfg.Home, say)
	}
	if _, err := os.Stat(cfg.Home); err != nil {
		return "", nil, fmt.Errorf("SLOTMESH_HOME: there is no folder %s; name the one to back up, or the database "+
			"by DATABASE_URL", cfg.Home)
	}
	home, err := backing.OpenHome(cfg.Home)
	if inUse, ok := errors.AsType[*backing.InUseError](err); ok {
		url, err := backing.FindRunningDatabase(inUse.Home)
		return url, func() error { return nil }, err
	}
	if err != nil {
		return "", nil, err
	}
	has, err := backing.HasData(home.Path)
	if err == nil && !has {
		err = fmt.Errorf("SLOTMESH_HOME: %s has no data; name the folder to back up, or the database by DATABASE_URL",
			home.Path)
	}
	if err != nil {
		return "", nil, errors.Join(err, home.Close())
	}
	return openHomeDatabase(ctx, cfg, home, say)
}

// openHomeDatabase opens the database of an open home folder. The returned function stops the database and closes the
// folder.
func openHomeDatabase(ctx context.Context, cfg Config, home *backing.Home,
	say func(string)) (string, func() error, error) {
	url, stop, err := openDatabase(ctx, cfg, home.Path, say)
	if err != nil {
		return "", nil, errors.Join(err, home.Close())
	}
	return url, func() error { return errors.Join(stop(), home.Close()) }, nil
}

func openDatabase(ctx context.Context, cfg Config, home string, say func(string)) (string, func() error, error) {
	stores, err := backing.Start(ctx, backing.Options{Home: home, DatabaseURL: cfg.DatabaseURL, SkipsRedis: true,
		Say:        say,
		MayInstall: newInstallPrompt(cfg, os.Stdin, say)})
	if err != nil {
		return "", nil, err
	}
	return stores.DatabaseURL, stores.Stop, nil
}

func writeBackup(ctx context.Context, cfg Config, url, path string, out io.Writer) error {
	files := map[string][]byte{}
	for _, name := range homeFiles {
		content, err := os.ReadFile(filepath.Join(cfg.Home, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("SLOTMESH_HOME: %w", err)
		default:
			files[name] = content
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("the backup cannot be written: %w", err)
	}
	// O_EXCL prevents that an existing file is overwritten. With mode 0600, other users cannot read the new file.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; name another file", path)
	}
	if err != nil {
		return fmt.Errorf("the backup cannot be written: %w", err)
	}
	pictures := findMediaFolder(cfg, cfg.Home)
	written, err := backup.Write(ctx, file, backup.Source{DatabaseURL: url, Schemas: slices.Sorted(maps.Keys(migrations)),
		Files: files, Pictures: pictures, Build: build.Version()})
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("the backup cannot be made: %w", shortenError(err)), os.Remove(path))
	}
	_, hasSecret := files[linkSecretFile]
	_, err = io.WriteString(out, describeBackup(cfg, path, pictures, written, hasSecret))
	return err
}

// describeBackup returns the lines about a backup. The argument `pictures` is the folder of the pictures, or "".
func describeBackup(cfg Config, path, pictures string, c backup.Contents, hasSecret bool) string {
	text := fmt.Sprintf("Backed up to %s: %d rows of %d tables, and %d pictures, as they were at %s.\n"+
		"It holds customers' data and secrets: keep it as safe as the database.\n", path, c.Rows(), len(c.Tables),
		countPictures(c), c.At.Format(time.RFC3339))
	if !hasSecret {
		text += fmt.Sprintf("It is without the secret of customers' links, as there is no file %s: keep the "+
			"value of LINK_SECRETS beside it.\n", filepath.Join(cfg.Home, linkSecretFile))
	}
	switch {
	case c.Pictures == nil && cfg.Settings[mediaSetting] != "":
		text += "It is without the pictures, which are in the bucket of MEDIA_STORE: keep the bucket beside it.\n"
	case c.Pictures != nil && c.Pictures.Missing > 0:
		text += fmt.Sprintf("It lacks files of %d pictures, which are not in %s: set MEDIA_STORE to the folder that has "+
			"them, or keep their bucket beside it.\n", c.Pictures.Missing, pictures)
	}
	return text
}

func countPictures(c backup.Contents) int64 {
	if c.Pictures == nil {
		return 0
	}
	return c.Pictures.Count
}

// shortenError removes the address of the database and the list of attempts from the error of a failed connection.
func shortenError(err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return errors.New(refused.Message)
	}
	return err
}

// Restore fills a Slotmesh from the backup file at `path`, and prints a line about the restore to `out`. The settings
// in env select the Slotmesh, which must be empty and must not be running. If Restore fails, the Slotmesh is still
// empty. The error is one sentence.
func Restore(ctx context.Context, env envconfig.Lookuper, path string, out io.Writer) error {
	cfg, err := loadConfig(ctx, env)
	if err != nil {
		return err
	}
	from, err := backup.Open(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(restore(ctx, cfg, from, out), from.Close())
}

func restore(ctx context.Context, cfg Config, from *backup.Backup, out io.Writer) error {
	buildTexts := make(map[string][]postgres.MigrationText, len(migrations))
	for schema, files := range migrations {
		texts, err := postgres.MigrationTexts(files)
		if err != nil {
			return err
		}
		buildTexts[schema] = texts
	}
	if err := from.CheckBuild(buildTexts); err != nil {
		return err
	}
	if from.HasPictures() && findMediaFolder(cfg, cfg.Home) == "" {
		return errors.New("MEDIA_STORE: the backup has pictures, which are restored to a folder only; leave the setting " +
			"out, or name a folder")
	}
	home, err := backing.OpenHome(cfg.Home)
	if err != nil {
		return err
	}
	url, done, err := openHomeDatabase(ctx, cfg, home, newPrinter(out))
	if err != nil {
		return err
	}
	pictures := findMediaFolder(cfg, home.Path)
	if err := errors.Join(fillHome(ctx, home.Path, pictures, url, from), done()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Restored %d rows of %d tables, and %d pictures, as they were at %s.\n", from.Rows(),
		len(from.Tables), countPictures(from.Contents), from.At.Format(time.RFC3339))
	if err == nil && !slices.ContainsFunc(from.Contents.Files,
		func(f backup.File) bool { return f.Name == linkSecretFile }) {
		_, err = fmt.Fprintln(out, "The backup is without the secret of customers' links: links in mails that were "+
			"sent lead on only where LINK_SECRETS is as it was.")
	}
	return err
}

// fillHome writes the files of a backup and fills the database. The argument `pictures` is the folder for uploaded
// pictures. If a step fails, fillHome removes what it has written.
func fillHome(ctx context.Context, home, pictures, url string, from *backup.Backup) error {
	files, err := from.Files()
	if err != nil {
		return err
	}
	for _, name := range homeFiles {
		if _, err := os.Stat(filepath.Join(home, name)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("SLOTMESH_HOME: %s is not empty: it has a file %s; name a folder that is", home, name)
		}
	}
	// The pictures come before the database, because a full disk is most probable here, and they can be removed again.
	removePictures, err := from.RestorePictures(ctx, pictures)
	if notEmpty, ok := errors.AsType[*backup.FolderNotEmptyError](err); ok {
		return fmt.Errorf("%w, and the pictures of the backup belong there; name an empty SLOTMESH_HOME, or an empty "+
			"folder in MEDIA_STORE", notEmpty)
	}
	if err != nil {
		return fmt.Errorf("the pictures of the backup cannot be restored: %w", err)
	}
	if err := fillDatabase(ctx, url, from); err != nil {
		return errors.Join(err, removePictures())
	}
	for _, name := range homeFiles {
		if content, isStored := files[name]; isStored {
			if err := os.WriteFile(filepath.Join(home, name), content, 0o600); err != nil {
				return fmt.Errorf("the database is restored, and SLOTMESH_HOME lacks the file %s of the backup: %w",
					name, err)
			}
		}
	}
	return nil
}

func fillDatabase(ctx context.Context, url string, from *backup.Backup) error {
	err := from.Restore(ctx, url, migrations, resumeStatements...)
	if notEmpty, ok := errors.AsType[*backup.NotEmptyError](err); ok {
		return fmt.Errorf("the database is not empty: %w; name an empty one, or an empty folder in SLOTMESH_HOME",
			notEmpty)
	}
	if err != nil {
		return fmt.Errorf("the backup cannot be restored: %w", shortenError(err))
	}
	return nil
}
