//go:build !linux

package backing

import "syscall"

// endWithParent does nothing, because only Linux has this function. The next start stops a PostgreSQL that still runs.
func endWithParent(*syscall.SysProcAttr) {}
