package soak

import "syscall"

// endsWithParent lets no process outlive the soak, however that ends.
func endsWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
