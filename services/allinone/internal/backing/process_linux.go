package backing

import "syscall"

// endWithParent makes the kernel send SIGINT to the child process when this process ends, however it ends. PostgreSQL
// answers SIGINT with a fast shutdown.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
