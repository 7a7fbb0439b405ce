package allinone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/allinone/test/deadlines"
)

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		os.Exit(runProgram())
	}
	leaks.Verify(m)
}

// newStoreSettings returns settings with an empty database, and with a Redis database that no other test uses. All
// tests send requests from one address, so that a shared Redis would count them together.
func newStoreSettings(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{"DATABASE_URL": testkit.Database(t, "allinone"), "REDIS_URL": testkit.RedisDatabase(t)}
}

// outputWatcher collects the output. It sends the output to the channel `greeting` when the greeting is complete.
type outputWatcher struct {
	text     strings.Builder
	greeting chan string
}

func (l *outputWatcher) Write(p []byte) (int, error) {
	n, err := l.text.Write(p)
	if strings.Contains(string(p), "Slotmesh is running") {
		l.greeting <- l.text.String()
	}
	return n, err
}

// runWithLongTimeouts is Run with timeouts that are long enough for a slow machine.
func runWithLongTimeouts(ctx context.Context, env envconfig.Lookuper, out io.Writer) error {
	cfg, err := loadConfig(ctx, env)
	if err != nil {
		return err
	}
	cfg.Settings = deadlines.Roomy
	return run(ctx, cfg, out)
}

// runUntilGreeting runs the command, calls use with its greeting, and then stops the command like Ctrl-C.
func runUntilGreeting(t *testing.T, env map[string]string, use func(greeting string)) {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &outputWatcher{greeting: make(chan string, 1)}
	ended := make(chan error, 1)
	go func() { ended <- runWithLongTimeouts(ctx, envconfig.MapLookuper(env), out) }()
	select {
	case greeting := <-out.greeting:
		use(greeting)
	case err := <-ended:
		t.Fatalf("the process ended: %v", err)
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

var (
	curlLine = regexp.MustCompile(`(?m)^ *curl .*$`)
	curlURL  = regexp.MustCompile(`'(http[^']*)'`)
	curlHead = regexp.MustCompile(`-H '([^:]*): ([^']*)'`)
	curlBody = regexp.MustCompile(`-d '([^']*)'`)
)

// runCurl sends the request of a printed curl command and returns the status.
func runCurl(t *testing.T, line string) int {
	t.Helper()
	method, body := http.MethodGet, ""
	if strings.Contains(line, "-X POST") {
		method, body = http.MethodPost, curlBody.FindStringSubmatch(line)[1]
	}
	header := make(http.Header)
	for _, h := range curlHead.FindAllStringSubmatch(line, -1) {
		header.Set(h[1], h[2])
	}
	status, answer, err := sendRequest(t.Context(), method, curlURL.FindStringSubmatch(line)[1], header, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d %.200s", status, answer)
	return status
}

func TestRunPrintsWorkingCommandsAndKeepsData(t *testing.T) {
	t.Parallel()
	env := newStoreSettings(t)
	env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"] = "0", "0", "0", t.TempDir()
	var booked string
	runUntilGreeting(t, env, func(greeting string) {
		try := curlLine.FindAllString(greeting, -1)
		if len(try) != 3 {
			t.Fatalf("printed:\n%s", greeting)
		}
		got := []int{runCurl(t, try[0]), runCurl(t, try[1]), runCurl(t, try[2]), runCurl(t, try[2])}
		if diff := cmp.Diff([]int{200, 200, 201, 409}, got); diff != "" {
			t.Error(diff)
		}
		booked = try[2]
	})
	runUntilGreeting(t, env, func(greeting string) {
		try := curlLine.FindAllString(greeting, -1)
		if key := curlHead.FindStringSubmatch(try[2])[2]; !strings.Contains(booked, key) {
			t.Errorf("the demo's key has changed: %s", key)
		}
		second := curlURL.ReplaceAllString(booked, curlURL.FindString(try[2])) // the port differs
		got := []int{runCurl(t, second), runCurl(t, try[2])}
		if diff := cmp.Diff([]int{409, 201}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestGreetingWithoutDemoShowsInvitation starts without the demo, so that no person can sign in yet. The greeting shows
// the command that invites the first operator.
func TestGreetingWithoutDemoShowsInvitation(t *testing.T) {
	t.Parallel()
	env := newStoreSettings(t)
	env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"], env["SLOTMESH_DEMO"] = "0", "0", "0",
		t.TempDir(), "false"
	begin := regexp.MustCompile(`begin +slotmesh users invite --server (http://\S+) --email \S+ --role operator .*\n(?s:.*)admin +(http://\S+)\n`)
	runUntilGreeting(t, env, func(greeting string) {
		if found := begin.FindStringSubmatch(greeting); found == nil || found[1] != found[2] ||
			signInLine.MatchString(greeting) || !mailLine.MatchString(greeting) {
			t.Errorf("printed:\n%s", greeting)
		}
	})
	delete(env, "MAIL_PORT")
	runUntilGreeting(t, env, func(greeting string) {
		if mailLine.MatchString(greeting) {
			t.Errorf("the mails are shown without sign-in:\n%s", greeting)
		}
	})
}

// mailLine matches the line about the page that shows the mails.
var mailLine = regexp.MustCompile(`(?m)^  mail     http`)

// signInLine matches the link with which the demo's owner signs in.
var signInLine = regexp.MustCompile(`sign in +(http://\S+)`)

func TestGreetingSignInLinkWorksOnce(t *testing.T) {
	t.Parallel()
	env := newStoreSettings(t)
	env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"] = "0", "0", "0", t.TempDir()
	runUntilGreeting(t, env, func(greeting string) {
		found := signInLine.FindStringSubmatch(greeting)
		if found == nil {
			t.Fatalf("printed:\n%s", greeting)
		}
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		browser := http.Client{Jar: jar, Timeout: testkit.MaxWait}
		defer browser.CloseIdleConnections()
		for _, want := range []int{http.StatusOK, http.StatusNotFound} {
			answer, err := browser.PostForm(found[1], nil)
			if err != nil {
				t.Fatal(err)
			}
			page, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if owns := strings.Contains(string(page), "Harbor Studio"); answer.StatusCode != want ||
				owns != (want == http.StatusOK) {
				t.Errorf("%d %s", answer.StatusCode, page)
			}
		}
	})
}

// beginLine matches the link with which an operator signs in.
var beginLine = regexp.MustCompile(`begin +(http://\S+)`)

// TestGreetingOperatorLinkOpensBusinessForm opens the operator's links that two starts print. Each link leads to a page
// with a link to the form for a new business.
func TestGreetingOperatorLinkOpensBusinessForm(t *testing.T) {
	t.Parallel()
	env := newStoreSettings(t)
	env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"] = "0", "0", "0", t.TempDir()
	for range 2 {
		runUntilGreeting(t, env, func(greeting string) {
			found := beginLine.FindStringSubmatch(greeting)
			if found == nil {
				t.Fatalf("printed:\n%s", greeting)
			}
			jar, err := cookiejar.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			browser := http.Client{Jar: jar, Timeout: testkit.MaxWait}
			defer browser.CloseIdleConnections()
			answer, err := browser.PostForm(found[1], nil)
			if err != nil {
				t.Fatal(err)
			}
			page, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusOK || !strings.Contains(string(page), `href="/business"`) {
				t.Errorf("%d %s", answer.StatusCode, page)
			}
		})
	}
}

func TestStartReplacesKeyOfOtherDatabase(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for range 2 {
		env := newStoreSettings(t)
		env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"] = "0", "0", "0", home
		runUntilGreeting(t, env, func(greeting string) {
			if status := runCurl(t, curlLine.FindAllString(greeting, -1)[2]); status != http.StatusCreated {
				t.Errorf("got %d", status)
			}
		})
	}
}

func TestStartKeepsSecretsPrivate(t *testing.T) {
	t.Parallel()
	env := newStoreSettings(t)
	env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"] = "0", "0", "0", t.TempDir()
	runUntilGreeting(t, env, func(string) {})
	log, err := os.ReadFile(filepath.Join(env["SLOTMESH_HOME"], LogFile))
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(env["SLOTMESH_HOME"], TokenFile))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), "Slotmesh has started") || strings.Contains(string(log),
		strings.TrimSpace(string(token))) {
		t.Errorf("the log does not say that it has started, or has the admin token:\n%s", log)
	}
	for _, name := range []string{TokenFile, DemoKeyFile} {
		info, err := os.Stat(filepath.Join(env["SLOTMESH_HOME"], name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

func TestStartUsesConfiguredClock(t *testing.T) {
	t.Parallel()
	env := newStoreSettings(t)
	env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"] = "0", "0", "0", t.TempDir()
	env["SLOTMESH_NOW"] = "2031-06-02T08:00:00Z" // a Monday: tomorrow is open
	runUntilGreeting(t, env, func(greeting string) {
		try := curlLine.FindAllString(greeting, -1)
		if !strings.Contains(try[1], "date=2031-06-03") || runCurl(t, try[2]) != http.StatusCreated {
			t.Errorf("printed:\n%s", greeting)
		}
	})
}

func TestRunReportsInvalidSettingsInOneSentence(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() }) // after the parallel subtests
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		env  map[string]string
		want string
	}{
		"a public port in use": {map[string]string{"PORT": port, "ADMIN_PORT": "0"},
			"port " + port + " is in use; set PORT to another"},
		"an admin port in use": {map[string]string{"PORT": "0", "ADMIN_PORT": port},
			"port " + port + " is in use; set ADMIN_PORT to another"},
		"a mail port in use": {map[string]string{"PORT": "0", "ADMIN_PORT": "0", "MAIL_PORT": port},
			"port " + port + " is in use; set MAIL_PORT to another"},
		"one port for both": {map[string]string{"PORT": port, "ADMIN_PORT": port},
			"settings: ADMIN_PORT: it must differ from PORT"},
		"no port": {map[string]string{"PORT": "65536"},
			"settings: PORT: 65536 is not a port; write one from 1 to 65535"},
		"an ops port in use": {map[string]string{"PORT": "0", "ADMIN_PORT": "0", "OPS_PORT": port},
			"port " + port + " is in use; set OPS_PORT to another"},
		"no host": {map[string]string{"HOST": "here"},
			`settings: HOST: "here" is no address of this machine; write one such as 192.168.1.20, or 0.0.0.0 for all`},
		"another's host": {map[string]string{"PORT": "0", "ADMIN_PORT": "0", "HOST": "192.0.2.1"},
			"HOST: 192.0.2.1 is no address of this machine; write one that is, or 0.0.0.0 for all"},
		"no instant": {map[string]string{"SLOTMESH_NOW": "noon"},
			`SLOTMESH_NOW: "noon" is not an instant; write one such as 2027-03-01T09:00:00Z`},
		"no network": {map[string]string{"TRUSTED_PROXIES": "nobody"},
			`settings: TRUSTED_PROXIES: "nobody" is not a network; write CIDRs such as 10.0.0.0/8`},
		"a database not there": {map[string]string{"PORT": "0", "ADMIN_PORT": "0",
			"DATABASE_URL": "postgres://u:secret@127.0.0.1:1/d?sslmode=disable"},
			`DATABASE_URL: cannot use database "d" at 127.0.0.1:1 as user "u": connect: connection refused`},
		"a home under no folder": {map[string]string{"SLOTMESH_HOME": "/dev/null/home"},
			"SLOTMESH_HOME: cannot write in /dev/null/home: not a directory; name a folder that this user may write to and that has space"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.env["SLOTMESH_HOME"] == "" {
				test.env["SLOTMESH_HOME"] = t.TempDir()
			}
			if test.env["MAIL_PORT"] == "" {
				test.env["MAIL_PORT"] = "0"
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // stops a start that succeeds by mistake
			defer cancel()
			err := Run(ctx, envconfig.MapLookuper(test.env), io.Discard)
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestNewTablesErrorAddsAdvice(t *testing.T) {
	t.Parallel()
	other := fmt.Errorf("migrate: %w", &postgres.ChangedTextError{Migration: "00001_booking.sql", Schema: "booking"})
	for want, got := range map[string]error{
		"the tables of booking cannot be made or brought up to date, as a build that was never released has made them; delete /data/postgres, which loses all data, and start again": newTablesError("booking", "/data/postgres", other),
		"DATABASE_URL: the tables of booking cannot be made or brought up to date: " +
			other.Error(): newTablesError("booking", "", other),
		"the tables of booking cannot be made or brought up to date: disk full": newTablesError("booking",
			"/data/postgres", errors.New("disk full")),
	} {
		if got.Error() != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

func TestFailedNamesEndedStore(t *testing.T) {
	t.Parallel()
	home, err := os.MkdirTemp("/tmp", "allinone-test-") // the user of the stores cannot enter folders of t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), Config{Home: home, Settings: deadlines.Roomy}, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}()
	if want := filepath.Join(home, "postgres"); p.stores.Data != want {
		t.Errorf("the folder of PostgreSQL's data is %q, want %s", p.stores.Data, want)
	}
	text, err := os.ReadFile(filepath.Join(p.stores.Data, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.Split(string(text), "\n")[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-p.Failed(); !strings.HasPrefix(err.Error(), "postgres has ended by itself: ") {
		t.Errorf("got %v", err)
	}
}
