package allinone

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestNotifyManagerSendsState is not parallel because it changes the environment.
func TestNotifyManagerSendsState(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify") // the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	address := &net.UnixAddr{Name: filepath.Join(dir, "socket"), Net: "unixgram"}
	manager, err := net.ListenUnixgram("unixgram", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = manager.Close() }()
	t.Setenv("NOTIFY_SOCKET", address.Name)
	notifyManager("READY=1")
	if err := manager.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	state := make([]byte, 100)
	if n, err := manager.Read(state); err != nil || string(state[:n]) != "READY=1" {
		t.Errorf("%q %v", state[:n], err)
	}
	t.Setenv("NOTIFY_SOCKET", "/nowhere/socket")
	notifyManager("READY=1") // without a manager, nothing happens
}
