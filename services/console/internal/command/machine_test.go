package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBackupAndRestoreRunMachineProgram shows that backup and restore run slotmesh-allinone from the PATH. It
// is not parallel because it sets the PATH.
func TestBackupAndRestoreRunMachineProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	call := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := Run(t.Context(), Host{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: os.Getenv},
			args)
		return code, out.String()
	}
	if code, output := call("backup", "file"); code != exitRefused || !strings.Contains(output,
		"no program slotmesh-allinone") {
		t.Errorf("without the program: %d %s", code, output)
	}
	script := "#!/bin/sh\necho \"$@ of $SLOTMESH_HOME\"\n[ $2 = good ]\n"
	if err := os.WriteFile(filepath.Join(dir, "slotmesh-allinone"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLOTMESH_HOME", "there")
	for _, c := range []struct {
		args []string
		code int
		said string
	}{
		{[]string{"backup", "good"}, exitDone, "backup good of there\n"},
		{[]string{"restore", "good"}, exitDone, "restore good of there\n"},
		{[]string{"restore", "bad"}, exitRefused, "restore bad of there\n"},
	} {
		if code, output := call(c.args...); code != c.code || output != c.said {
			t.Errorf("%q: %d %q", c.args, code, output)
		}
	}
	if code, _ := call("backup"); code != exitUsage {
		t.Errorf("without a file: %d", code)
	}
}
