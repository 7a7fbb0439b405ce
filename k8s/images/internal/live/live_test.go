package live

import (
	"archive/tar"
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

const testTimeout = 2 * time.Minute

// newScript returns a program that writes its version and its first argument to the pipe `output`. On SIGTERM it ends
// with code 7.
func newScript(version, output string) string {
	return fmt.Sprintf("#!/bin/sh\ntrap 'exit 7' TERM\necho %s $1 >%s\nwhile :; do read -r line <%s.never; done\n",
		version, output, output)
}

func packArchive(t *testing.T, files map[string]string) *bytes.Buffer {
	t.Helper()
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content)),
			Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &packed
}

// openPipe creates a named pipe. The returned function fails the test unless the next line in the pipe is want.
func openPipe(t *testing.T, name string) func(want string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := os.OpenFile(name, os.O_RDWR, 0) // opened for writing too, so that it stays open between writers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = output.Close() })
	lines := bufio.NewReader(output)
	return func(want string) {
		t.Helper()
		if err := output.SetReadDeadline(time.Now().Add(testTimeout)); err != nil {
			t.Fatal(err)
		}
		if got, err := lines.ReadString('\n'); err != nil || got != want+"\n" {
			t.Fatalf("the next line is %q (%v), want %q", got, err, want)
		}
	}
}

func TestSuperviseRestartsReplacedProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	output := filepath.Join(dir, "said")
	if err := syscall.Mkfifo(output+".never", 0o600); err != nil {
		t.Fatal(err)
	}
	expect := openPipe(t, output)
	if err := Unpack(dir, packArchive(t, map[string]string{"live/service": newScript("first", output)})); err != nil {
		t.Fatal(err)
	}
	signals, code := make(chan os.Signal, 1), make(chan int, 1)
	go func() {
		c, err := Supervise(filepath.Join(dir, "live", "service"), []string{"argument"}, signals)
		if err != nil {
			t.Error(err)
		}
		code <- c
	}()
	expect("first argument")

	if err := Unpack(dir, packArchive(t, map[string]string{"/live/service": newScript("second", output)})); err != nil {
		t.Fatal(err)
	}
	signals <- syscall.SIGHUP
	expect("second argument")

	signals <- syscall.SIGTERM
	select {
	case c := <-code:
		if c != 7 {
			t.Errorf("the code is %d, the program's was 7", c)
		}
	case <-time.After(testTimeout):
		t.Error("the program did not end")
	}
}

func TestSuperviseReturnsExitCode(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]int{"exit 3": 3, "kill -9 $$": 137} {
		code, err := Supervise("/bin/sh", []string{"-c", program}, nil)
		if err != nil || code != want {
			t.Errorf("%s: got %d, %v", program, code, err)
		}
	}
}

func TestUnpackStaysBelowFolder(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "root")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Unpack(dir, packArchive(t, map[string]string{"../outside": "x"})); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(top, "outside")); err == nil {
		t.Error("a file was written outside")
	}
}

func TestDebugCommandUsesDelve(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if program, args := DebugCommand(filepath.Join(dir, "dlv"), "/live/service",
		[]string{"migrate"}); program != "/live/service" || !slices.Equal(args, []string{"migrate"}) {
		t.Errorf("without a debugger: %s %q", program, args)
	}
	// All arguments after -- are the program's.
	debugger := filepath.Join(dir, "dlv")
	if err := os.WriteFile(debugger,
		[]byte("#!/bin/sh\n[ \"$1 $2\" = 'exec /live/service' ] || exit 1\nwhile [ \"$1\" != -- ]; do shift; done\n[ \"$*\" = '-- migrate --all' ]\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	program, args := DebugCommand(debugger, "/live/service", []string{"migrate", "--all"})
	if code, err := Supervise(program, args, make(chan os.Signal)); code != 0 || err != nil {
		t.Errorf("%s %q: code %d, %v", program, args, code, err)
	}
}
