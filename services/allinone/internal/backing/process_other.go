//go:build !linux

package backing

import "syscall"

// endWithParent does nothing where the kernel has no such service; the next start stops a PostgreSQL left behind.
func endWithParent(*syscall.SysProcAttr) {}
