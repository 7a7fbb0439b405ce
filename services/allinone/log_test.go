package allinone

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOpenLogRotatesFullFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, LogFile)
	for i := range maxOldLogs + 2 {
		aside := filepath.Join(home, fmt.Sprintf("slotmesh-2026-01-0%dT08-00-00.000.log", i+1))
		if err := os.WriteFile(aside, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, make([]byte, logMegabytes<<20), 0o600); err != nil {
		t.Fatal(err)
	}

	log, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Write([]byte("{\"msg\":\"first\"}\n")); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}

	if text, err := os.ReadFile(path); err != nil || string(text) != "{\"msg\":\"first\"}\n" {
		t.Errorf("the log is %d bytes, %v", len(text), err)
	}
	// lumberjack removes old logs in a goroutine and does not report when it is done. The test repeats the check.
	aside := filepath.Join(home, "slotmesh-*.log")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		remaining, err := filepath.Glob(aside)
		if err != nil {
			t.Fatal(err)
		}
		if len(remaining) == maxOldLogs {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d logs are kept: %v", len(remaining), remaining)
		}
	}
}

func TestOpenLogReportsUnusablePath(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if log, err := openLog(filepath.Join(file, LogFile)); err == nil {
		_ = log.Close()
		t.Error("openLog accepts a folder that is a file")
	}
}
