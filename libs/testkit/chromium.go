package testkit

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// NeedChromium skips a test where Chromium is not installed, which `make test` does not ask for; on CI it fails (see [Lacks]).
// Instead is the sentence that says what holds there all the same.
func NeedChromium(t *testing.T, instead string) {
	t.Helper()
	if _, err := inputs.LookPath("chromium"); err != nil {
		Lacks(t, "there is no chromium here to ask; %s (apt-get install chromium asks it)", instead)
	}
}

// ChromiumDOM opens an address in the Chromium of this machine, and gives the page as its scripts have left it.
func ChromiumDOM(t *testing.T, address string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+filepath.Join(t.TempDir(), "profile"), "--dump-dom", address)
	var faults bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &faults, Patience // its other processes end after it, and write to the profile until then
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, faults.Bytes())
	}
	return dom
}
