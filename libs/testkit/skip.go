package testkit

import (
	"os"
	"testing"
)

// SkipOrFail skips a test that cannot run on this machine. The message states what is missing. If CI=true,
// the test fails instead, because CI decides whether a change is merged and must therefore run all tests.
func SkipOrFail(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("on CI nothing is skipped: "+format, args...)
	}
	t.Skipf(format, args...)
}
