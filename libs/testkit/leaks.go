package testkit

import "go.uber.org/goleak"

// VerifyNoLeaks runs a package's tests and fails when a goroutine outlives them. Called from TestMain.
func VerifyNoLeaks(m goleak.TestingM) {
	goleak.VerifyTestMain(m,
		// fasthttp keeps these for the process's life, or some seconds after a server has stopped or a client was closed.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
		// lumberjack never ends the goroutine that removes old logs.
		goleak.IgnoreAnyFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"),
	)
}
