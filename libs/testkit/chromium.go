package testkit

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// NeedChromium skips a test if Chromium is not installed, because `make test` does not
// require Chromium. On CI, the test fails instead (see [SkipOrFail]). The sentence in
// the argument `instead` describes the tests that still run without Chromium.
func NeedChromium(t *testing.T, instead string) {
	t.Helper()
	if _, err := inputs.LookPath("chromium"); err != nil {
		SkipOrFail(t, "there is no chromium here to ask; %s (apt-get install chromium asks it)", instead)
	}
}

// ChromiumDOM opens the URL `address` in the installed Chromium. It returns the DOM of the page after the scripts of
// the page have run.
func ChromiumDOM(t *testing.T, address string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), MaxWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "chromium", "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage",
		"--user-data-dir="+filepath.Join(t.TempDir(), "profile"), "--dump-dom", address)
	var faults bytes.Buffer
	// Other processes of Chromium end later, and write to the profile folder until then. WaitDelay makes Output wait
	// for these processes, so that the folder can be removed.
	cmd.Stderr, cmd.WaitDelay = &faults, MaxWait
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, faults.Bytes())
	}
	return dom
}
