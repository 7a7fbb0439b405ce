package testkit

import (
	"os"
	"testing"
)

// Lacks skips a test that this machine has no means for, with the sentence that says what is missing. Where CI=true it fails
// instead: a machine that decides whether a change lands must have everything.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("on CI nothing is skipped: "+format, args...)
	}
	t.Skipf(format, args...)
}
