package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// roleVariable is the environment variable that selects the [roleFunc] of a child process. The parent process starts
// its own program once for each role, with this variable set.
const roleVariable = "SLOTMESH_BENCH_ROLE"

// roleFunc runs the server of a child process until the process's standard input is closed. When the server is ready,
// the function calls `ready` once, with data for the parent process such as the server's URLs.
type roleFunc func(ctx context.Context, ready func(any) error) error

// Child runs the server that the environment variable SLOTMESH_BENCH_ROLE names: "slotmesh" or "bare". If the variable
// names no server, Child does nothing and returns false. The function `main` must call Child first, because child
// processes run the same program as their parent.
func Child() (bool, error) {
	roles := map[string]roleFunc{"slotmesh": serveSlotmesh, "bare": serveBare}
	play, ok := roles[os.Getenv(roleVariable)]
	if !ok {
		return false, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // standard input is closed when the parent process ends, for any reason
		cancel()
	}()
	return true, play(ctx, func(v any) error { return json.NewEncoder(os.Stdout).Encode(v) })
}

// child is a running child process.
type child struct {
	command *exec.Cmd
	stdin   io.Closer
}

// childTimeout limits the start of a child process, including migrations.
const childTimeout = 5 * time.Minute

// startChild starts this program as a child process with the named role ([roleFunc]). startChild waits until the child
// process is ready, and decodes the data that the child passes to `ready` into the argument `into`.
func startChild(ctx context.Context, role string, environment []string, into any) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self)
	command.Env = append(append(os.Environ(), roleVariable+"="+role), environment...)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	c := &child{command: command, stdin: stdin}
	said := make(chan error, 1)
	go func() {
		line, err := bufio.NewReader(stdout).ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, into)
		}
		said <- err
	}()
	select {
	case err = <-said:
	case <-time.After(childTimeout):
		err = errors.New("it was not ready in time")
	}
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("start the %s process: %w", role, err)
	}
	return c, nil
}

func (c *child) pid() int { return c.command.Process.Pid }

func (c *child) stop() {
	_ = c.stdin.Close()
	ended := make(chan struct{})
	go func() { defer close(ended); _ = c.command.Wait() }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = c.command.Process.Kill()
		<-ended
	}
}

// Memory contains the numbers of objects and bytes that a Go process has allocated since its start.
type Memory struct {
	Mallocs uint64
	Bytes   uint64
}

// serveDiagnostics serves the allocation counts and the profiles of this process on a loopback port. serveDiagnostics
// returns the base URL.
func serveDiagnostics(ctx context.Context) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/memory", func(w http.ResponseWriter, _ *http.Request) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		_ = json.NewEncoder(w).Encode(Memory{Mallocs: m.Mallocs, Bytes: m.TotalAlloc})
	})
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return "http://" + listener.Addr().String(), nil
}
