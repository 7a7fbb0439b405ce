//go:build !linux

package backing

import "syscall"

// endWithParent does nothing, because only Linux can end a child process together with its parent. The next start stops
// a PostgreSQL that still runs.
func endWithParent(*syscall.SysProcAttr) {}
