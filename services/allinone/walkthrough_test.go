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

// walkthroughs are the documents that lead new users from nothing to done. The last one starts another program at its
// end.
var walkthroughs = []string{"../console/docs/first-offer.md", "../catalog/docs/first-integration.md",
	"../mcp/docs/first-agent.md", "docs/first-day.md"}

// asProgram is set where the tests' program stands in for slotmesh-allinone, which need not be built then.
const asProgram = "SLOTMESH_TEST_AS_PROGRAM"

// program is what slotmesh-allinone does, with deadlines that a slow machine keeps, and returns its exit code.
func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	does := func() error { return Do(ctx, os.Args[1:], envconfig.OsLookuper(), os.Stdout) }
	if len(os.Args) == 1 {
		does = func() error { return runRoomy(ctx, envconfig.OsLookuper(), os.Stdout) }
	}
	if err := does(); err != nil {
		_, _ = os.Stderr.WriteString("slotmesh: " + err.Error() + "\n")
		return 1
	}
	return 0
}

// A walk is somebody at two terminals in a checkout: of one, in which Slotmesh runs, and of one for all else.
type walk struct {
	*testing.T
	dir      string
	env      []string
	running  *exec.Cmd
	ended    chan error        // gets what running ended with
	replaces *strings.Replacer // the addresses of the documents by those of what runs
}

// Each step of each document is done as it stands there, by one program, and prints what the document says.
func TestTheWalkthroughsOfNewUsersAreAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, needed := range []string{"curl", "jq"} {
		if _, err := inputs.LookPath(needed); err != nil {
			testkit.SkipOrFail(t, "%s is not installed", needed)
		}
	}
	w := openWalk(t)
	for _, name := range walkthroughs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d steps", filepath.Base(name), len(stepLine.FindAllIndex(text, -1)))
		w.document(filepath.Base(name), blocksOf(t, string(text)))
	}
	w.stop()
}

// openWalk makes a folder with what a walkthrough needs of a checkout.
func openWalk(t *testing.T) *walk {
	t.Helper()
	w := &walk{T: t, dir: openTemp(t)}
	// the stores' user enters the homes, so that nothing is left elsewhere
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
			[]byte("#!/bin/sh\n"+asProgram+"=yes exec '"+own+"' \"$@\"\n"), 0o755))
	if errs != nil {
		t.Fatal(errs)
	}
	ports := freePorts(t, "PORT", "ADMIN_PORT", "MAIL_PORT", "OPS_PORT")
	local := "http://127.0.0.1:"
	w.env = append(strangers(os.Environ()), "SLOTMESH_SERVER="+local+ports["ADMIN_PORT"], "XDG_CONFIG_HOME="+w.dir,
		"PORT="+ports["PORT"], "ADMIN_PORT="+ports["ADMIN_PORT"],
		"MAIL_PORT="+ports["MAIL_PORT"])
	w.replaces = strings.NewReplacer(local+"8080", local+ports["PORT"], local+"8090", local+ports["ADMIN_PORT"],
		local+"8095", local+ports["OPS_PORT"],
		"OPS_PORT=8095", "OPS_PORT="+ports["OPS_PORT"])
	return w
}

// strangers are the variables that say nothing of Slotmesh or its stores, which the documents leave at their defaults.
func strangers(environment []string) []string {
	return slices.DeleteFunc(environment, func(variable string) bool {
		return strings.HasPrefix(variable, "SLOTMESH_") || strings.HasPrefix(variable, "DATABASE_") ||
			strings.HasPrefix(variable, "REDIS_")
	})
}

// nextPort is where freePorts looks next, so that it gives none twice: between those that testkit runs programs at and
// those that the system gives to whoever asks for any.
var nextPort = func() *atomic.Int32 {
	var next atomic.Int32
	next.Store(30000 + rand.Int32N(2500))
	return &next
}()

// freePorts are ports of this machine that nobody listens at, and that nobody else takes: they stay free.
func freePorts(t *testing.T, variables ...string) map[string]string {
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

// document does what a document asks for.
func (w *walk) document(name string, blocks []block) {
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
		w.shell(name, blocks[:next])
		blocks = blocks[next:]
	}
}

// run starts the program with settings before its name, in place of what runs with others.
func (w *walk) run(settings string) {
	w.Helper()
	settings = w.replaces.Replace(settings)
	if settings == "" && w.running != nil {
		return
	}
	w.stop()
	said := &lines{greeted: make(chan string, 1)}
	w.running = exec.CommandContext(w.Context(), "sh", "-c", settings+"exec bin/slotmesh-allinone")
	w.running.Dir, w.running.Env, w.running.Stdout, w.running.Stderr, w.running.WaitDelay = w.dir, w.env, said,
		w.Output(), testkit.MaxWait
	w.running.Cancel = func() error { return w.running.Process.Signal(syscall.SIGINT) } // it stops its stores
	if err := w.running.Start(); err != nil {
		w.Fatal(err)
	}
	ended, running := make(chan error, 1), w.running
	w.ended = ended
	go func() { ended <- running.Wait() }()
	select {
	case <-said.greeted:
	case err := <-ended:
		w.Fatalf("it ended: %v", err)
	}
}

// stop stops what runs as Ctrl-C does.
func (w *walk) stop() {
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

// over parts what the commands of one block print from what the next ones do.
const over = "\x00over\n"

// shell runs the commands of blocks in one shell, and compares what they print.
func (w *walk) shell(name string, blocks []block) {
	w.Helper()
	script := "set -eu\n"
	for _, b := range blocks {
		script += w.replaces.Replace(b.commands) + "printf '\\000over\\n'\n"
	}
	var said bytes.Buffer
	shell := exec.CommandContext(w.Context(), "sh", "-c", script)
	shell.Dir, shell.Env, shell.Stdout, shell.Stderr, shell.WaitDelay = w.dir, w.env, &said, &said, testkit.MaxWait
	err := shell.Run()
	parts := strings.Split(said.String(), over)
	for i, b := range blocks {
		switch {
		case i == len(parts)-1:
			w.Fatalf("%s breaks off, %v, at\n%sand prints\n%s", name, err, b.commands, parts[i])
		case !pattern(w.replaces.Replace(b.prints)).MatchString(parts[i]):
			w.Errorf("%s says that\n%sprints\n%sand it is\n%s", name, b.commands, b.prints, parts[i])
		}
	}
}

// pattern is what a document says is printed: … is any text of a line, and alone in its line any lines; runs of blanks
// are one.
func pattern(prints string) *regexp.Regexp {
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

// block is one of commands, and what they print.
type block struct{ commands, prints string }

var (
	stepLine   = regexp.MustCompile(`(?m)^\d+\. `)
	fencedText = regexp.MustCompile("(?m)^ *```(\\w+)\n((?s:.*?))^ *```\n")
	indented   = regexp.MustCompile(`(?m)^   `)
)

// blocksOf are those of a document, in order.
func blocksOf(t *testing.T, text string) []block {
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
		t.Fatalf("there are %d blocks", len(blocks))
	}
	return blocks
}
