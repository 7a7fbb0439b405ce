//go:build !linux

package backing

import "syscall"

// endWithParent does nothing, because this kernel cannot do it. The next start stops a PostgreSQL that was left.
func endWithParent(*syscall.SysProcAttr) {}
