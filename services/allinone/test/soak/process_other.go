//go:build !linux

package soak

import "syscall"

// endsWithParent returns attributes with which Ctrl-C does not reach the child process, because the soak ends the
// process.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
