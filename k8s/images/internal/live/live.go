// Package live replaces the program in a running container without a new image. Tilt's live update needs this package.
//
// [Supervise] is the loop of the container's first process: it runs the program and restarts it on a signal. [Unpack]
// writes the files that Tilt sends. A development image therefore needs neither a shell nor tar, and like the
// production image it has no base image.
package live

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Supervise runs a program with the given arguments until the program ends. It forwards SIGTERM and SIGINT from the
// channel `signals` to the program. On SIGHUP, it restarts the program. Supervise returns the program's exit code. If a
// signal ended the program, it returns 128 plus the number of the signal.
func Supervise(program string, args []string, signals <-chan os.Signal) (int, error) {
	for {
		child := exec.Command(program, args...)
		child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return 0, err
		}
		shouldRestart, err := awaitChild(child, signals)
		if err != nil {
			return 0, err
		}
		if !shouldRestart {
			return findExitCode(child.ProcessState), nil
		}
	}
}

// DebugCommand returns the command that runs a program under Delve. If the file in the argument `debugger` does not
// exist, it returns the program itself. Under Delve, the program starts at once and does not wait for a client. Delve
// accepts one client after another on port 2345 of the loopback interface. Delve accepts clients of any user, because a
// client on a forwarded port runs as a user of the node.
func DebugCommand(debugger, program string, args []string) (string, []string) {
	if _, err := os.Stat(debugger); err != nil {
		return program, args
	}
	return debugger, append([]string{
		"exec", program, "--headless", "--continue", "--accept-multiclient", "--only-same-user=false",
		"--api-version=2",
		"--listen=127.0.0.1:2345", "--",
	}, args...)
}

// awaitChild forwards signals to the child process until the process ends. It returns true if the process must be
// restarted.
func awaitChild(child *exec.Cmd, signals <-chan os.Signal) (bool, error) {
	end := make(chan error, 1)
	go func() { end <- child.Wait() }()
	shouldRestart := false
	for {
		select {
		case s := <-signals:
			shouldRestart = s == syscall.SIGHUP
			if shouldRestart {
				s = syscall.SIGTERM
			}
			if err := child.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return false, err
			}
		case err := <-end:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return false, err
			}
			return shouldRestart, nil
		}
	}
}

func findExitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// Unpack writes the regular files of a tar archive to the folder `dir`. It replaces each file atomically, so that it
// can also replace a running program.
func Unpack(dir string, archive io.Reader) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files := tar.NewReader(archive)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := replaceFile(root, header, files); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

func replaceFile(root *os.Root, header *tar.Header, content io.Reader) error {
	path, err := filepath.Rel("/", filepath.Join("/", header.Name))
	if err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	beside := path + ".new"
	file, err := root.OpenFile(beside, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, header.FileInfo().Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return root.Rename(beside, path)
}
