package backing

import "syscall"

// endWithParent has the kernel interrupt the child when we end in any way: a fast shutdown for PostgreSQL.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
