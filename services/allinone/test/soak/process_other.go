//go:build !linux

package soak

import "syscall"

// endsWithParent returns attributes that keep Ctrl-C from child processes, which the soak ends itself.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
