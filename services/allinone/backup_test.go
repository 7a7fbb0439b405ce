package allinone

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
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
	running, stopped := filepath.Join(t.TempDir(), "new", "running"), filepath.Join(t.TempDir(), "stopped")
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
	if info, err := os.Stat(filepath.Dir(running)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the new folder has mode %v, %v", info.Mode(), err)
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
		"the database is not empty: it has tables of Slotmesh already, such as booking.address_changes; name an empty one, or an empty folder in SLOTMESH_HOME")
	expectSentence(t, into(map[string]string{"tables/booking.bookings": "x"}),
		"is damaged: tables/booking.bookings: it does not match its checksum")
	expectSentence(t, into(map[string]string{"contents.json": `{"format": 3}`}),
		"was made by a newer Slotmesh: its format is 3, and this build reads 2")
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

// startForBackup starts a Slotmesh with the database and the home, without the demo.
func startForBackup(t *testing.T, databaseURL, home string) *Process {
	t.Helper()
	settings := maps.Clone(deadlines.Roomy)
	p, err := Start(t.Context(), Config{Home: home, DatabaseURL: databaseURL, RedisURL: testkit.RedisDatabase(t),
		Settings: settings}, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// uploadTestPicture adds a small picture to the business.
func uploadTestPicture(t *testing.T, p *Process, slug string) catalog.Picture {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	added, err := p.uploadPicture(t.Context(), slug, file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return added.Picture
}

func getPicture(t *testing.T, p *Process, picture catalog.Picture) (int, []byte) {
	t.Helper()
	status, content, err := sendRequest(t.Context(), http.MethodGet, p.PublicURL+picture.Path(800, "webp"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return status, content
}

// TestBackupContainsPictures uploads a picture to a Slotmesh without settings for pictures. After a backup and a
// restore, the picture is served with the same content.
func TestBackupContainsPictures(t *testing.T) {
	t.Parallel()
	database, home := testkit.Database(t, "allinone"), t.TempDir()
	p := startForBackup(t, database, home)
	if status, answer, err := p.callAdmin(t.Context(), http.MethodPut, "", demoManifest); err != nil ||
		status != http.StatusCreated {
		t.Fatal(status, string(answer), err)
	}
	picture := uploadTestPicture(t, p, demoSlug)
	status, want := getPicture(t, p, picture)
	if err := p.Stop(); err != nil || status != http.StatusOK {
		t.Fatal(status, err)
	}
	file := filepath.Join(t.TempDir(), "backup")
	from := map[string]string{"DATABASE_URL": database, "SLOTMESH_HOME": home}
	var output bytes.Buffer
	if err := Backup(t.Context(), envconfig.MapLookuper(from), file, &output); err != nil ||
		!strings.Contains(output.String(), " and 1 pictures, ") || strings.Contains(output.String(), "It lacks") {
		t.Fatal(err, output.String())
	}
	checkPictureRefusals(t, file, "media/"+catalog.PictureFile(picture.ID, 400, "jpg"))

	to := map[string]string{"DATABASE_URL": testkit.Database(t, "allinone"), "SLOTMESH_HOME": t.TempDir()}
	if err := Restore(t.Context(), envconfig.MapLookuper(to), file, t.Output()); err != nil {
		t.Fatal(err)
	}
	restored := startForBackup(t, to["DATABASE_URL"], to["SLOTMESH_HOME"])
	status, got := getPicture(t, restored, picture)
	if status != http.StatusOK || !bytes.Equal(got, want) {
		t.Errorf("after the restore: %d with %d bytes, want %d bytes", status, len(got), len(want))
	}
	if err := restored.Stop(); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Join(home, mediaFolder)); err != nil {
		t.Fatal(err)
	}
	output.Reset()
	if err := Backup(t.Context(), envconfig.MapLookuper(from), file+"2", &output); err != nil ||
		!strings.Contains(output.String(), "It lacks files of 1 pictures") {
		t.Error(err, output.String())
	}
}

// checkPictureRefusals checks the backup file with one picture, whose file is the argument `entry`: a restore refuses
// a changed picture, a name outside the folder, a folder with other files, and a bucket. Each refused restore leaves
// neither tables nor pictures. A backup that was made before pictures were kept can be restored.
func checkPictureRefusals(t *testing.T, file, entry string) {
	t.Helper()
	database, home := testkit.Database(t, "allinone"), t.TempDir()
	into := func(file string, more ...string) error {
		env := map[string]string{"DATABASE_URL": database, "SLOTMESH_HOME": home}
		for i := 0; i < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return Restore(t.Context(), envconfig.MapLookuper(env), file, t.Output())
	}
	sums, text := readEntry(t, file, "media.sha256"), readEntry(t, file, "contents.json")
	outside := bytes.Replace(sums, []byte(strings.TrimPrefix(entry, "media/")), []byte("../outside-400.jpg"), 1)
	changed := bytes.Replace(text, checksum(sums), checksum(outside), 1)
	expectSentence(t, into(replaceEntry(t, file, entry, "x")), "is damaged: "+entry+": it does not match its checksum")
	expectSentence(t, into(replaceEntry(t, file, "media.sha256", "")),
		"is damaged: media.sha256: it does not match its checksum")
	expectSentence(t, into(replaceEntry(t, replaceEntry(t, file, "media.sha256", string(outside)), "contents.json",
		string(changed))), "is damaged: media.sha256: it has an invalid line")
	expectSentence(t, into(file, "MEDIA_STORE", "s3://key:secret@host/bucket"),
		"MEDIA_STORE: the backup has pictures, which are restored to a folder only; leave the setting out, or name a folder")
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expectSentence(t, into(file, "MEDIA_STORE", other),
		"name an empty SLOTMESH_HOME, or an empty folder in MEDIA_STORE")

	full := testkit.Database(t, "allinone")
	if err := into(file, "DATABASE_URL", full); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(home), os.Mkdir(home, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := into(file, "DATABASE_URL", full); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("restored into a database with tables: %v", err)
	}
	if _, err := os.Stat(filepath.Join(home, mediaFolder)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused restore left the pictures: %v", err)
	}

	var contents map[string]any
	if err := json.Unmarshal(text, &contents); err != nil {
		t.Fatal(err)
	}
	delete(contents, "pictures")
	contents["format"] = 1
	old, err := json.Marshal(contents)
	if err == nil {
		err = into(replaceEntry(t, file, "contents.json", string(old)))
	}
	if err != nil {
		t.Errorf("a backup of the format before: %v", err)
	}
}

func checksum(content []byte) []byte {
	sum := sha256.Sum256(content)
	return []byte(hex.EncodeToString(sum[:]))
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
