package backing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// programs contains the paths of the stores' programs. If `redis` is "", Redis runs in this process.
type programs struct {
	postgres postgresInstall
	redis    string
}

// findOrInstall finds the programs of the stores whose URLs are not set, and installs missing programs. If PostgreSQL
// cannot be installed, findOrInstall downloads it. If Redis cannot be installed, Redis runs in this process.
func findOrInstall(ctx context.Context, o Options, p storeFolders) (programs, error) {
	want, err := readDataMajor(postgresFolder(p))
	if err != nil {
		return programs{}, err
	}
	search := programSearch{finder: newMachineFinder(), major: want, postgres: o.DatabaseURL == "",
		redis: o.startsRedis()}
	found, missing := search.run(ctx)
	if len(missing) == 0 {
		return found, nil
	}
	installErr := install(ctx, o, missing)
	if refused, ok := errors.AsType[*refusedInstall](installErr); ok && search.postgres && found.postgres.bin == "" {
		return programs{}, refused
	}
	found, missing = search.run(ctx)
	if len(missing) == 0 {
		return found, nil
	}
	if installErr != nil {
		o.Say(capitalizeFirst(installErr.Error()) + ".")
	}
	if search.postgres && found.postgres.bin == "" {
		if found.postgres, err = fetchFitting(ctx, o.Say, search); err != nil {
			return programs{}, err
		}
	}
	if search.redis && found.redis == "" {
		o.Say("There is no redis-server on this machine and none could be installed: Redis runs inside this process.")
	}
	return found, nil
}

// programSearch contains the conditions for the search for programs at a start.
type programSearch struct {
	finder          finder
	major           int // major version of the existing data; 0 if there is no data
	postgres, redis bool
}

func (s programSearch) run(ctx context.Context) (programs, []tool) {
	var found programs
	var missing []tool
	if s.postgres {
		install, ok := s.finder.findPostgres(ctx, s.major)
		if !ok {
			missing = append(missing, toolPostgres)
		}
		found.postgres = install
	}
	if s.redis {
		if found.redis = s.finder.findRedis(); found.redis == "" {
			missing = append(missing, toolRedis)
		}
	}
	return found, missing
}

// refusedInstall means that the person at the terminal or the settings refused an installation. The error contains the
// command that installs the missing programs.
type refusedInstall struct{ missing, command string }

func (e *refusedInstall) Error() string {
	return fmt.Sprintf("there is no %s on this machine: run `%s`, set SLOTMESH_INSTALL=yes to have that done, or "+
		"name stores by DATABASE_URL and REDIS_URL",
		e.missing, e.command)
}

func install(ctx context.Context, o Options, missing []tool) error {
	installer, ok := findInstaller(ctx)
	if !ok {
		return errors.New("nothing can be installed here: there is neither apt-get that this user may run without a " +
			"password, nor brew")
	}
	return installer.addIfAllowed(ctx, o, missing...)
}

// addIfAllowed installs packages if the person at the terminal or the settings allow the installation. If they refuse
// the installation, the error is a *refusedInstall.
func (i installer) addIfAllowed(ctx context.Context, o Options, missing ...tool) error {
	command := i.formatCommand(missing...)
	if o.MayInstall != nil && !o.MayInstall(command) {
		names := make([]string, len(missing))
		for n, t := range missing {
			names[n] = string(t)
		}
		return &refusedInstall{missing: strings.Join(names, " and no "), command: command}
	}
	return i.installTools(ctx, o.Say, missing...)
}

// fetchFitting downloads a PostgreSQL. If data of another major version exists, it returns an error, because the
// downloaded PostgreSQL cannot read that data.
func fetchFitting(ctx context.Context, say func(string), s programSearch) (postgresInstall, error) {
	if s.major != 0 && s.major != downloadMajor {
		return postgresInstall{}, fmt.Errorf("the data was made by PostgreSQL %d, and this machine has %s: install "+
			"PostgreSQL %d, or set SLOTMESH_HOME to another folder to begin anew",
			s.major, s.listOtherVersions(ctx), s.major)
	}
	return fetchPostgres(ctx, say)
}

// listOtherVersions lists the major versions of the installed PostgreSQL servers, for the error that no installed
// server can read the data.
func (s programSearch) listOtherVersions(ctx context.Context) string {
	var versions []string
	for _, install := range s.finder.listInstalls(ctx) {
		versions = append(versions, strconv.Itoa(install.major))
	}
	if len(versions) == 0 {
		return "none"
	}
	return "only " + strings.Join(versions, ", ")
}

// postgresFolder returns PostgreSQL's data folder.
func postgresFolder(p storeFolders) string { return filepath.Join(p.data, "postgres") }

// readDataMajor returns the major version of the PostgreSQL that created a data folder, or 0 if the folder does not
// exist.
func readDataMajor(data string) (int, error) {
	text, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("PostgreSQL's data in %s cannot be read: %w; start as the user who made it, or set "+
			"SLOTMESH_HOME to another folder", data, unwrapPathError(err))
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%s is not PostgreSQL's data: its PG_VERSION is %q; set SLOTMESH_HOME to another folder",
			data, text)
	}
	return major, nil
}

func capitalizeFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
