package testkit

import (
	"os"
	"testing"
)

// Lacks skips a test that this machine cannot run, with a sentence about what is missing. If CI=true
// the test fails instead: a machine that decides whether a change lands must have everything.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("on CI nothing is skipped: "+format, args...)
	}
	t.Skipf(format, args...)
}
