package soak

import "syscall"

// endsWithParent returns attributes that end the child process with the soak, even after a crash.
func endsWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
