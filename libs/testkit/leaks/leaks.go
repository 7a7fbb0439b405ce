// Package leaks has the tests of a package fail where a goroutine outlives them.
package leaks

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// longLived are goroutines that fasthttp keeps for the process's life, or some seconds after a server has stopped or a client was closed, and
// lumberjack's, which never ends the one that removes old logs.
var longLived = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
	goleak.IgnoreAnyFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"),
}

// patience is what a goroutine that was told to end has to do so: goleak's own half a second is short on a busy machine.
const patience = 2 * time.Minute

// Verify runs a package's tests and fails when a goroutine outlives them. Called from TestMain.
func Verify(m goleak.TestingM) {
	code := m.Run()
	if code == 0 {
		if err := outlive(); err != nil {
			fmt.Fprintf(os.Stderr, "goroutines outlive the tests: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

func outlive() error {
	begun := time.Now() //nolint:forbidigo // the machine's time is what is waited by
	for {
		err := goleak.Find(longLived...)
		if err == nil || time.Since(begun) > patience {
			return err
		}
	}
}
