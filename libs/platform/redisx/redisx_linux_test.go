package redisx

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sys/unix"

	"github.com/slotmesh/slotmesh/libs/platform/dial"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// startListener accepts one connection at the returned address and reads it to its end.
func startListener(t *testing.T, secure *tls.Config) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	}()
	return listener.Addr().String()
}

func TestConnectionsHaveUserTimeout(t *testing.T) {
	t.Parallel()
	address := startListener(t, nil)
	client, err := Open(t.Context(), Config{URL: "redis://" + address, Timeout: time.Minute}, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	conn, err := client.(*redis.Client).Options().Dialer(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if got := readTimeouts(t, conn); got != dial.Unacknowledged {
		t.Errorf("the connection is closed after %s without an acknowledgement", got)
	}
}

// readTimeouts reads TCP_USER_TIMEOUT.
func readTimeouts(t *testing.T, conn net.Conn) time.Duration {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var user int
	if err := raw.Control(func(fd uintptr) {
		user, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP,
			unix.TCP_USER_TIMEOUT)
	}); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user) * time.Millisecond
}

func TestTLSConnectionsHaveUserTimeout(t *testing.T) {
	t.Parallel()
	known := httptest.NewTLSServer(nil) // for its certificate, which names 127.0.0.1
	defer known.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(known.Certificate())
	address := startListener(t, &tls.Config{Certificates: known.TLS.Certificates, MinVersion: tls.VersionTLS12})
	conn, err := newDialFunc(time.Minute, &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12})(t.Context(), "tcp",
		address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	secure, ok := conn.(*tls.Conn)
	if !ok || !secure.ConnectionState().HandshakeComplete {
		t.Fatalf("a %T", conn)
	}
	if got := readTimeouts(t, secure.NetConn()); got != dial.Unacknowledged {
		t.Errorf("the connection is closed after %s without an acknowledgement", got)
	}
}
