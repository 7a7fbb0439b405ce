package testkit

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// NeedChromium skips a test if Chromium is not installed, because `make test` does not require it. On CI the test
// fails instead (see [SkipOrFail]). The argument instead is a sentence about the tests that still run without Chromium.
func NeedChromium(t *testing.T, instead string) {
	t.Helper()
	if _, err := inputs.LookPath("chromium"); err != nil {
		SkipOrFail(t, "there is no chromium here to ask; %s (apt-get install chromium asks it)", instead)
	}
}

// ChromiumDOM opens an address in the installed Chromium and returns the DOM after the page's scripts have run.
func ChromiumDOM(t *testing.T, address string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), MaxWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "chromium", "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage",
		"--user-data-dir="+filepath.Join(t.TempDir(), "profile"), "--dump-dom", address)
	var faults bytes.Buffer
	// Chromium's other processes end later and write to the profile until then
	cmd.Stderr, cmd.WaitDelay = &faults, MaxWait
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, faults.Bytes())
	}
	return dom
}
