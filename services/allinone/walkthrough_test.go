package allinone

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// walkthroughs are the guides for new users. The last one starts another program at its end.
var walkthroughs = []string{"../../docs/businesses/offer-as-a-file.md", "../../docs/api/first-booking.md",
	"../../docs/api/first-agent.md", "../../docs/operators/first-day.md"}

// programVariable is set when the test binary runs as slotmesh-allinone, which then need not be built.
const programVariable = "SLOTMESH_TEST_AS_PROGRAM"

// runProgram does the same as slotmesh-allinone, with timeouts that are long enough for a slow machine. It returns the
// exit code.
func runProgram() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	does := func() error { return Do(ctx, os.Args[1:], envconfig.OsLookuper(), os.Stdout) }
	if len(os.Args) == 1 {
		does = func() error { return runWithLongTimeouts(ctx, envconfig.OsLookuper(), os.Stdout) }
	}
	if err := does(); err != nil {
		_, _ = os.Stderr.WriteString("slotmesh: " + err.Error() + "\n")
		return 1
	}
	return 0
}

// session has two terminals in a checkout: Slotmesh runs in one, the other commands run in the second.
type session struct {
	*testing.T
	dir       string
	env       []string
	running   *exec.Cmd
	ended     chan error        // receives the error of the running program
	addresses *strings.Replacer // replaces the addresses in the guides by those of this session
}

// TestWalkthroughsWorkAsWritten runs the commands of all guides in one session, and compares their output with the
// guides.
func TestWalkthroughsWorkAsWritten(t *testing.T) {
	t.Parallel()
	for _, needed := range []string{"curl", "jq"} {
		if _, err := inputs.LookPath(needed); err != nil {
			testkit.SkipOrFail(t, "%s is not installed", needed)
		}
	}
	w := newSession(t)
	for _, name := range walkthroughs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d steps", filepath.Base(name), len(stepLine.FindAllIndex(text, -1)))
		w.runDocument(filepath.Base(name), parseBlocks(t, string(text)))
	}
	w.stop()
}

// newSession creates a folder with the files of a checkout that the guides use.
func newSession(t *testing.T) *session {
	t.Helper()
	w := &session{T: t, dir: newOpenFolder(t)}
	// The user of the stores can enter these homes, so that data is not stored elsewhere.
	for _, home := range []string{"bin", ".slotmesh", "restored"} {
		if err := os.Mkdir(filepath.Join(w.dir, home), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Build(t, "../console", filepath.Join(w.dir, "bin", "slotmesh"), "./cmd/slotmesh")
	own, errs := os.Executable()
	services, err := filepath.Abs("..")
	errs = errors.Join(errs, err, os.Symlink(services, filepath.Join(w.dir, "services")),
		os.WriteFile(filepath.Join(w.dir, "bin", "slotmesh-allinone"),
			[]byte("#!/bin/sh\n"+programVariable+"=yes exec '"+own+"' \"$@\"\n"), 0o755))
	if errs != nil {
		t.Fatal(errs)
	}
	ports := findFreePorts(t, "PORT", "ADMIN_PORT", "MAIL_PORT", "OPS_PORT")
	local := "http://127.0.0.1:"
	w.env = append(dropSlotmeshVariables(os.Environ()), "SLOTMESH_SERVER="+local+ports["ADMIN_PORT"],
		"XDG_CONFIG_HOME="+w.dir,
		"PORT="+ports["PORT"], "ADMIN_PORT="+ports["ADMIN_PORT"],
		"MAIL_PORT="+ports["MAIL_PORT"])
	w.addresses = strings.NewReplacer(local+"8080", local+ports["PORT"], local+"8090", local+ports["ADMIN_PORT"],
		local+"8095", local+ports["OPS_PORT"],
		"OPS_PORT=8095", "OPS_PORT="+ports["OPS_PORT"])
	return w
}

// dropSlotmeshVariables removes the variables that set Slotmesh or its stores, because the guides use the defaults.
func dropSlotmeshVariables(environment []string) []string {
	return slices.DeleteFunc(environment, func(variable string) bool {
		return strings.HasPrefix(variable, "SLOTMESH_") || strings.HasPrefix(variable, "DATABASE_") ||
			strings.HasPrefix(variable, "REDIS_")
	})
}

// nextPort is the next port that findFreePorts tries, so that it returns no port twice. The ports are between those of
// testkit's programs and those that the system chooses.
var nextPort = func() *atomic.Int32 {
	var next atomic.Int32
	next.Store(30000 + rand.Int32N(2500))
	return &next
}()

// findFreePorts returns a port of this machine for each variable. No program listens on it, and no other test uses it.
func findFreePorts(t *testing.T, variables ...string) map[string]string {
	t.Helper()
	ports := make(map[string]string)
	for len(ports) < len(variables) {
		port := int(nextPort.Add(1))
		free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(port))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = free.Close() }()
		ports[variables[len(ports)]] = strconv.Itoa(port)
	}
	return ports
}

// runDocument runs the commands of a guide.
func (w *session) runDocument(name string, blocks []block) {
	w.Helper()
	for len(blocks) > 0 {
		if settings, runs := strings.CutSuffix(blocks[0].commands, "make run\n"); runs {
			w.run(settings)
			blocks = blocks[1:]
			continue
		}
		next := 1
		for next < len(blocks) && !strings.HasSuffix(blocks[next].commands, "make run\n") {
			next++
		}
		w.runShell(name, blocks[:next])
		blocks = blocks[next:]
	}
}

// run starts the program with `settings` before its name. It first stops a program that runs with other settings.
func (w *session) run(settings string) {
	w.Helper()
	settings = w.addresses.Replace(settings)
	if settings == "" && w.running != nil {
		return
	}
	w.stop()
	said := &outputWatcher{greeting: make(chan string, 1)}
	w.running = exec.CommandContext(w.Context(), "sh", "-c", settings+"exec bin/slotmesh-allinone")
	w.running.Dir, w.running.Env, w.running.Stdout, w.running.Stderr, w.running.WaitDelay = w.dir, w.env, said,
		w.Output(), testkit.MaxWait
	// the program then stops its stores
	w.running.Cancel = func() error { return w.running.Process.Signal(syscall.SIGINT) }
	if err := w.running.Start(); err != nil {
		w.Fatal(err)
	}
	ended, running := make(chan error, 1), w.running
	w.ended = ended
	go func() { ended <- running.Wait() }()
	select {
	case <-said.greeting:
	case err := <-ended:
		w.Fatalf("the process ended: %v", err)
	}
}

// stop stops the program like Ctrl-C.
func (w *session) stop() {
	w.Helper()
	if w.running == nil {
		return
	}
	if err := w.running.Process.Signal(syscall.SIGINT); err != nil {
		w.Fatal(err)
	}
	if err := <-w.ended; err != nil {
		w.Fatal(err)
	}
	w.running = nil
}

// outputSeparator separates the outputs of two blocks.
const outputSeparator = "\x00over\n"

// runShell runs the commands of the blocks in one shell, and compares their output.
func (w *session) runShell(name string, blocks []block) {
	w.Helper()
	script := "set -eu\n"
	for _, b := range blocks {
		script += w.addresses.Replace(b.commands) + "printf '\\000over\\n'\n"
	}
	var output bytes.Buffer
	shell := exec.CommandContext(w.Context(), "sh", "-c", script)
	shell.Dir, shell.Env, shell.Stdout, shell.Stderr, shell.WaitDelay = w.dir, w.env, &output, &output, testkit.MaxWait
	err := shell.Run()
	parts := strings.Split(output.String(), outputSeparator)
	for i, b := range blocks {
		switch {
		case i == len(parts)-1:
			w.Fatalf("%s breaks off, %v, at\n%sand prints\n%s", name, err, b.commands, parts[i])
		case !compilePattern(w.addresses.Replace(b.prints)).MatchString(parts[i]):
			w.Errorf("%s says that\n%sprints\n%sand it is\n%s", name, b.commands, b.prints, parts[i])
		}
	}
}

// compilePattern returns a pattern for the output in a guide. The sign … matches any text in a line, and any lines if
// it is alone in its line. A run of blanks matches any other run of blanks.
func compilePattern(prints string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.Lines(prints) {
		if line == "…\n" {
			b.WriteString(`(.*\n)*`)
			continue
		}
		line = regexp.MustCompile(` +`).ReplaceAllString(regexp.QuoteMeta(strings.TrimSpace(line)), ` +`)
		b.WriteString(strings.ReplaceAll(line, "…", `.*`) + ` *\n`)
	}
	return regexp.MustCompile(b.String() + `\z`)
}

// block has commands and their expected output.
type block struct{ commands, prints string }

var (
	stepLine   = regexp.MustCompile(`(?m)^\d+\. `)
	fencedText = regexp.MustCompile("(?m)^ *```(\\w+)\n((?s:.*?))^ *```\n")
	indented   = regexp.MustCompile(`(?m)^   `)
)

// parseBlocks returns the blocks of a guide in order.
func parseBlocks(t *testing.T, text string) []block {
	t.Helper()
	var blocks []block
	for _, found := range fencedText.FindAllStringSubmatch(text, -1) {
		content := indented.ReplaceAllString(found[2], "")
		switch {
		case found[1] == "sh":
			blocks = append(blocks, block{commands: content})
		case found[1] == "text" && len(blocks) > 0 && blocks[len(blocks)-1].prints == "":
			blocks[len(blocks)-1].prints = content
		default:
			t.Fatalf("a block of %s follows no commands:\n%s", found[1], content)
		}
	}
	if len(blocks) < 5 {
		t.Fatalf("the README has %d blocks of commands, want at least 5", len(blocks))
	}
	return blocks
}
