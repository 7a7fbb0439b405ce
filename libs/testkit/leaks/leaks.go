// Package leaks makes the tests of a package fail if a goroutine is still running after the tests.
package leaks

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// longLived lists goroutines that do not count as leaks. fasthttp keeps some
// goroutines until the process ends, and others for seconds after a server has stopped
// or a client was closed. lumberjack never ends the goroutine that removes old logs.
var longLived = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
	goleak.IgnoreTopFunction("github.com/valyala/fasthttp/stackless.funcWorker"),
	goleak.IgnoreAnyFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"),
}

// maxWait is the maximal time that a goroutine may take to end. The
// default of goleak, half a second, is too short on a busy machine.
const maxWait = 2 * time.Minute

// Verify runs the tests of a package, and fails if a goroutine is still
// running after them. The function TestMain of the package calls it.
func Verify(m goleak.TestingM) {
	code := m.Run()
	if code == 0 {
		if err := waitForGoroutines(); err != nil {
			fmt.Fprintf(os.Stderr, "goroutines outlive the tests: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

func waitForGoroutines() error {
	start := time.Now() //nolint:forbidigo // measures the wait, by the machine's time
	for {
		err := goleak.Find(longLived...)
		if err == nil || time.Since(start) > maxWait {
			return err
		}
	}
}
