package allinone

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
)

// diagnose runs the doctor and returns its output and its error.
func diagnose(t *testing.T, env map[string]string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := Diagnose(t.Context(), envconfig.MapLookuper(env), &out)
	return out.String(), err
}

func TestDoctorFindsNoFailureInSoundInstallation(t *testing.T) {
	t.Parallel()
	env := newStoreSettings(t)
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(filepath.Join(home, "backups"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "backups", "today.backup"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	box := mailbox.Open(listener, mailbox.Options{})
	defer func() { _ = box.Close() }()
	pages, console := http.NewServeMux(), http.NewServeMux()
	pages.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	console.HandleFunc("/sign-in", func(http.ResponseWriter, *http.Request) {})
	site, owners := httptest.NewServer(pages), httptest.NewServer(console)
	defer owners.Close()
	defer site.Close()
	env["SLOTMESH_HOME"], env["PAGES_URL"], env["OWNER_URL"] = home, site.URL, owners.URL
	env["SMTP_URL"], env["MAIL_FROM"] = "smtp://"+listener.Addr().String(), "no-reply@slotmesh.invalid"
	output, err := diagnose(t, env)
	if err != nil {
		t.Errorf("%v:\n%s", err, output)
	}
	for _, line := range []string{
		"ok    settings   valid", "ok    home       " + home, "ok    stores     PostgreSQL answers at DATABASE_URL",
		"ok    mail       the mail server accepts a session", "warn  PAGES_URL  " + site.URL + " is without TLS",
		"ok    OWNER_URL  " + owners.URL + " answers", "ok    backups    1 in ", "warn  process    OPS_PORT: it is not set",
	} {
		if !strings.Contains(output, line) {
			t.Errorf("%q is missing in:\n%s", line, output)
		}
	}
}

func TestDoctorReportsFailuresWithRemedies(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	failing := httptest.NewServer(http.NotFoundHandler())
	defer failing.Close()
	starting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "booking: no database", http.StatusServiceUnavailable)
	}))
	defer starting.Close()
	readable := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(readable, []byte(newToken()), 0o644); err != nil { //nolint:gosec // the doctor must warn of it
		t.Fatal(err)
	}
	output, err := diagnose(t, map[string]string{
		"OPS_PORT":       starting.URL[strings.LastIndexByte(starting.URL, ':')+1:],
		"OPS_TOKEN_FILE": readable, "SLOTMESH_HOME": home, "DATABASE_URL": "postgres://u:s3cret@127.0.0.1:1/x", "REDIS_URL": "redis://127.0.0.1:1",
		"PAGES_URL": failing.URL, "OWNER_URL": "https://nowhere..invalid", "BOOKING_IP_LIMIT_PER_MINUTE": "many",
	})
	if err == nil || !strings.Contains(err.Error(), "failed checks: 5") {
		t.Errorf("%v", err)
	}
	for _, line := range []string{
		"FAIL  settings   BOOKING_IP_LIMIT_PER_MINUTE: ", "warn  home       other users may enter", "-> chmod 700 " + home,
		"FAIL  stores     DATABASE_URL: ", "warn  mail       no mail is sent", "answers 404 Not Found",
		"warn  secrets    other users may read " + readable + " (OPS_TOKEN_FILE)", "-> chmod o-r " + readable,
		"FAIL  process    not ready: booking: no database",
		"FAIL  OWNER_URL  DNS does not know nowhere..invalid", "warn  backups    there is no file *.backup",
	} {
		if !strings.Contains(output, line) {
			t.Errorf("%q is missing in:\n%s", line, output)
		}
	}
	if strings.Contains(output, "s3cret") {
		t.Errorf("a password is printed:\n%s", output)
	}
	if output, err := diagnose(t, map[string]string{"PORT": "many"}); err == nil ||
		!strings.Contains(output, "FAIL  settings   PORT: ") {
		t.Errorf("%v: %s", err, output)
	}
}
