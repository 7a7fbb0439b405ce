package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestServeRunsMachineWithSettingsOfFile is not parallel because it changes the environment.
func TestServeRunsMachineWithSettingsOfFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "slotmesh.env")
	t.Setenv("FILE_PORT", "1")
	for _, name := range []string{"FILE_HOME", "FILE_NAME"} {
		t.Setenv(name, "") // restores the variable after the test
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	var ran []string
	call := func(content string, args ...string) (int, string) {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		host := Host{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: os.Getenv,
			Machine: &Machine{Settings: "THE_SETTING",
				Names: []string{"FILE_PORT", "FILE_HOME", "FILE_NAME"}, Run: func(_ context.Context, args []string) error {
					ran = args
					if len(args) > 1 && args[1] == "bad" {
						return errors.New("the file is bad")
					}
					return nil
				}}}
		code := Run(t.Context(), host, args)
		return code, out.String()
	}
	code, output := call("# comment\n\nFILE_PORT=2\nFILE_HOME=\"/var/lib/a b\"\n FILE_NAME = x\n", "serve", "--settings", file)
	if code != exitRefused || !strings.Contains(output, "slotmesh.env:5: write NAME=value") || ran != nil {
		t.Errorf("invalid line: %d %s %q", code, output, ran)
	}
	code, output = call("FILE_PORT=2\nFILE_HOME=\"/var/lib/a b\"\nFILE_NAME=x=y\n", "serve", "--settings", file)
	if code != exitDone || !slices.Equal(ran, []string{"serve"}) || os.Getenv("FILE_PORT") != "1" ||
		os.Getenv("FILE_HOME") != "/var/lib/a b" || os.Getenv("FILE_NAME") != "x=y" {
		t.Errorf("%d %s %q %s", code, output, ran, os.Getenv("FILE_HOME"))
	}
	if code, output = call("GOMEMLIMIT=1GiB\n", "serve", "--settings", file); code != exitRefused ||
		!strings.Contains(output, "GOMEMLIMIT takes effect only in the environment") {
		t.Errorf("GOMEMLIMIT: %d %s", code, output)
	}
	if code, output = call("\nFILE_PROT=1\n", "serve", "--settings", file); code != exitRefused ||
		!strings.Contains(output, "slotmesh.env:2: FILE_PROT: there is no such setting") {
		t.Errorf("misspelt name: %d %s", code, output)
	}
	if code, output = call("", "restore", "bad"); code != exitRefused || output != "slotmesh: the file is bad\n" {
		t.Errorf("restore: %d %s", code, output)
	}
	if code, output = call("", "serve", "--help"); code != exitDone || !strings.Contains(output, "THE_SETTING") {
		t.Errorf("help: %d %s", code, output)
	}
}
