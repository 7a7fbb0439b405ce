package soak

import "syscall"

// endsWithParent returns attributes with which the child process ends when the soak ends, even if the soak crashes.
func endsWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
