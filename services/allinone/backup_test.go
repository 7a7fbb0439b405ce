package allinone

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone/test/deadlines"
)

// newOpenFolder creates a folder that the user of the stores can enter. Other users cannot enter folders of t.TempDir.
func newOpenFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "allinone-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBackupWorksForRunningAndStoppedHome backs up a home while a process uses it, and again after the process has
// stopped. Both backups can be restored and have the secrets of the home.
func TestBackupWorksForRunningAndStoppedHome(t *testing.T) {
	t.Parallel()
	home, redis := newOpenFolder(t), os.Getenv(testkit.RedisURL)
	running, stopped := filepath.Join(t.TempDir(), "running"), filepath.Join(t.TempDir(), "stopped")
	env := map[string]string{"SLOTMESH_HOME": home}
	p, err := Start(t.Context(), Config{Home: home, RedisURL: redis, Settings: deadlines.Roomy}, func(line string) {
		t.Log(line)
	})
	if err != nil {
		t.Fatal(err)
	}
	errs := errors.Join(Backup(t.Context(), envconfig.MapLookuper(env), running, t.Output()),
		p.Stop(), Backup(t.Context(), envconfig.MapLookuper(env), stopped, t.Output()))
	if errs != nil {
		t.Fatal(errs)
	}
	info, err := os.Stat(running)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup has mode %v, %v", info.Mode(), err)
	}
	for _, file := range []string{running, stopped} {
		env := envconfig.MapLookuper(map[string]string{"SLOTMESH_HOME": filepath.Join(newOpenFolder(t), "home")})
		if err := Restore(t.Context(), env, file, t.Output()); err != nil {
			t.Fatal(err)
		}
		err := Restore(t.Context(), env, file, io.Discard)
		if err == nil || !strings.HasSuffix(err.Error(), "it has a file link-secret; name a folder that is") {
			t.Errorf("restored a second time: %v", err)
		}
	}
	for _, name := range []string{linkSecretFile, TokenFile} {
		stored, restored := readEntry(t, running, "files/"+name), readEntry(t, stopped, "files/"+name)
		if is, err := os.ReadFile(filepath.Join(home, name)); err != nil || !bytes.Equal(is, stored) ||
			!bytes.Equal(is, restored) {
			t.Errorf("the backups have another %s: %v", name, err)
		}
	}
}

func readEntry(t *testing.T, file, entry string) []byte {
	t.Helper()
	from, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	content, err := from.Open(entry)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestBackupReportsFailuresInOneSentence(t *testing.T) {
	t.Parallel()
	env := newStoreSettings(t)
	env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"], env["SLOTMESH_DEMO"] = "0", "0", "0",
		t.TempDir(), "false"
	file := filepath.Join(t.TempDir(), "backup")
	err := Backup(t.Context(), envconfig.MapLookuper(env), file, t.Output())
	expectSentence(t, err, "the backup cannot be made: there are no tables of Slotmesh in this database")
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of a backup that failed is there: %v", err)
	}
	runUntilGreeting(t, env, func(string) {})
	if err := Backup(t.Context(), envconfig.MapLookuper(env), file, t.Output()); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	database := map[string]string{"DATABASE_URL": env["DATABASE_URL"],
		"SLOTMESH_HOME": filepath.Join(t.TempDir(), "other")}
	if err := Backup(t.Context(), envconfig.MapLookuper(database), file+"3", &output); err != nil ||
		!strings.Contains(output.String(), "keep the value of LINK_SECRETS") {
		t.Errorf("a backup without the secret of links: %v, %s", err, output.String())
	}
	err = Backup(t.Context(), envconfig.MapLookuper(env), file, t.Output())
	expectSentence(t, err, file+" is there already; name another file")
	missing := map[string]string{"SLOTMESH_HOME": filepath.Join(t.TempDir(), "none")}
	err = Backup(t.Context(), envconfig.MapLookuper(missing), file+"2", t.Output())
	expectSentence(t, err, "SLOTMESH_HOME: there is no folder "+missing["SLOTMESH_HOME"]+
		"; name the one to back up, or the database by DATABASE_URL")

	into := func(change map[string]string) error {
		at := map[string]string{"DATABASE_URL": env["DATABASE_URL"], "SLOTMESH_HOME": t.TempDir()}
		from := file
		for entry, content := range change {
			from = replaceEntry(t, file, entry, content)
		}
		return Restore(t.Context(), envconfig.MapLookuper(at), from, t.Output())
	}
	expectSentence(t, into(nil),
		"the database is not empty: it has tables of Slotmesh already, such as booking.api_keys; name an empty one, or an empty folder in SLOTMESH_HOME")
	expectSentence(t, into(map[string]string{"tables/booking.bookings": "x"}),
		"is damaged: tables/booking.bookings: it does not match its checksum")
	expectSentence(t, into(map[string]string{"contents.json": `{"format": 2}`}),
		"was made by a newer Slotmesh: its format is 2, and this build reads 1")
	expectSentence(t, into(map[string]string{"contents.json": `{}`}),
		"is no backup of Slotmesh: its contents.json cannot be read")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, whole[:len(whole)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	expectSentence(t, into(nil), file+" is no backup of Slotmesh, or not a whole one: zip: not a valid zip file")
}

func expectSentence(t *testing.T, err error, ends string) {
	t.Helper()
	if err == nil || !strings.HasSuffix(err.Error(), ends) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want %s", err, ends)
	}
}

// replaceEntry copies a backup with other content for one entry, and returns the path of the copy.
func replaceEntry(t *testing.T, file, entry, content string) string {
	t.Helper()
	from, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	var out bytes.Buffer
	to := zip.NewWriter(&out)
	for _, f := range from.File {
		if f.Name != entry {
			err = errors.Join(err, to.Copy(f))
			continue
		}
		w, made := to.Create(f.Name)
		_, written := io.WriteString(w, content)
		err = errors.Join(err, made, written)
	}
	path := filepath.Join(t.TempDir(), "changed")
	if err := errors.Join(err, to.Close(), os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}
