package dial_test

import (
	"net"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slotmesh/slotmesh/libs/platform/dial"
)

func TestDialerSetsUserTimeout(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	conn, err := dial.Dialer().DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var user, probes int
	if err := raw.Control(func(fd uintptr) {
		user, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
		probes, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_KEEPALIVE)
	}); err != nil {
		t.Fatal(err)
	}
	if user != int(dial.Unacknowledged.Milliseconds()) || probes != 1 {
		t.Errorf("TCP_USER_TIMEOUT is %d ms, SO_KEEPALIVE %d", user, probes)
	}
}

func TestDialerConnectsToUnixSocket(t *testing.T) {
	t.Parallel()
	at := filepath.Join(t.TempDir(), "socket")
	listener, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	conn, err := dial.Dialer().DialContext(t.Context(), "unix", at)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}
