package backing

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// process is the running program of a store.
type process struct {
	name       string
	log        string // path of the log file
	cmd        *exec.Cmd
	isStopping atomic.Bool
	exited     chan struct{} // closed when the program has ended
}

// launch starts a program as the account in `p`. The output goes to a new file, logs/<name>.log. The program gets its
// own process group, so that it does not receive Ctrl-C. After Ctrl-C, this process can then stop the programs in the
// right order. On Linux, the program also ends if this process is killed.
func launch(p storeFolders, name, program string, args ...string) (*process, error) {
	proc := &process{name: name, log: filepath.Join(p.logs, name+".log"), exited: make(chan struct{})}
	// The old file is removed and not truncated, because child processes of a killed server may still write to it.
	if err := os.Remove(proc.log); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, homeError(p.logs, err)
	}
	out, err := os.Create(proc.log)
	if err != nil {
		return nil, homeError(p.logs, err)
	}
	proc.cmd = newCommand(p.account, program, args...)
	proc.cmd.Stdout, proc.cmd.Stderr = out, out
	proc.cmd.SysProcAttr.Setpgid = true
	started := make(chan error)
	go proc.runToEnd(out, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", program, err)
	}
	return proc, nil
}

// runToEnd starts the program and waits for its end. runToEnd stays on one thread of the operating system, because
// Linux ends the child process when the thread that started it ends (endWithParent).
func (p *process) runToEnd(out *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer out.Close()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // the log contains the reason for the end
	close(p.exited)
}

// watch waits for the end of the process in a goroutine. If stop was not called before, watch sends an error to
// `failed`.
func (p *process) watch(failed chan<- error) {
	go func() {
		<-p.exited
		if !p.isStopping.Load() {
			failed <- fmt.Errorf("%s has ended by itself: %s", p.name, readLogReason(p.log))
		}
	}()
}

// stop sends the signal `gentle` to the process and waits for its end. If the process does not end within stopTimeout,
// stop sends the signal `forced` and returns an error.
func (p *process) stop(gentle, forced syscall.Signal) error {
	p.isStopping.Store(true)
	if err := p.cmd.Process.Signal(gentle); err != nil {
		<-p.exited // the only possible error is that the process has already ended
		return nil
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(stopTimeout):
	}
	_ = p.cmd.Process.Signal(forced) // fails only if the process has just ended
	<-p.exited
	return fmt.Errorf("%s did not stop within %s and was made to", p.name, stopTimeout)
}

// newCommand returns a command that runs as the account `a`. The environment of the command is almost empty, because
// the PG* variables of this process would change the behaviour of PostgreSQL's programs.
func newCommand(a account, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...) //nolint:noctx // it is stopped in order (stop), not killed with a context
	cmd.Dir = "/"                         // the account may not be allowed to enter the current folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential()}
	endWithParent(cmd.SysProcAttr)
	return cmd
}
