//go:build !linux

package soak

import "syscall"

// endsWithParent keeps Ctrl-C from the processes, which the soak ends itself.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
