package backing

import "syscall"

// endWithParent makes the kernel send SIGINT to the child when we end in any way, which is a fast shutdown for
// PostgreSQL.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
