//go:build !linux

package soak

import "syscall"

// endsWithParent returns attributes that keep Ctrl-C from the child process. After Ctrl-C, the soak itself ends this
// process.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
