// Package live replaces the program in a running container without a new image, as Tilt's live update needs it.
//
// [Supervise] runs the program for the container's first process and restarts it
// on a signal. [Unpack] writes the files that Tilt sends. So a development image
// needs neither a shell nor tar, and has no base image, as the production image.
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

// Supervise runs program with args until it ends. It forwards SIGTERM and SIGINT
// from signals to the program. SIGHUP restarts the program. Supervise returns
// the program's exit code, or 128 plus the signal's number if a signal ended it.
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
			return exitCode(child.ProcessState), nil
		}
	}
}

// DebugCommand returns the command that runs program under Delve if debugger exists, and program itself otherwise.
// Under Delve, program starts at once. Delve accepts clients on port 2345 of the loopback interface, one after
// another. It accepts them from any user, because a forwarded port belongs to the user of the node.
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

// awaitChild forwards signals to child until it ends. It reports whether to restart it.
func awaitChild(child *exec.Cmd, signals <-chan os.Signal) (bool, error) {
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
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
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return false, err
			}
			return shouldRestart, nil
		}
	}
}

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// Unpack writes the regular files of a tar archive below dir. It replaces
// each file atomically, so that a running program can be replaced too.
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
