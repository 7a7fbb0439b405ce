package testkit

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Link is a proxy for a store. A test can close the connections of the proxy, or read and change the bytes.
type Link struct {
	Address    string // TCP address that clients use instead of the store's address
	listener   net.Listener
	mu         sync.Mutex
	open       []net.Conn
	isCut      bool
	goroutines sync.WaitGroup
}

// NewLink returns a proxy to the Redis of the tests. The comment on [LinkTo] describes the argument `join`.
func NewLink(t testing.TB, join func(near, far net.Conn) (func(), func())) *Link {
	t.Helper()
	target, err := url.Parse(lookup(t, RedisURL))
	if err != nil {
		t.Fatal(err)
	}
	network, address := "tcp", target.Host
	if target.Scheme == "unix" {
		network, address = "unix", target.Path
	}
	return LinkTo(t, network, address, join)
}

// LinkTo returns a proxy to the store at a network address. A test can close the connections with [Link.Cut]. The
// connections also close when the test ends.
//
// For each connection, the function `join` returns two functions. Each of these functions copies the bytes in one
// direction. The connection closes when one of them returns. If `join` is nil, the bytes are copied unchanged.
func LinkTo(t testing.TB, network, address string, join func(near, far net.Conn) (func(), func())) *Link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if join == nil {
		join = copyBothWays
	}
	l := &Link{Address: listener.Addr().String(), listener: listener}
	l.goroutines.Go(func() { l.accept(network, address, join) })
	t.Cleanup(l.Cut)
	return l
}

func copyBothWays(near, far net.Conn) (func(), func()) {
	return func() { _, _ = io.Copy(far, near) }, func() { _, _ = io.Copy(near, far) }
}

func (l *Link) accept(network, address string, join func(near, far net.Conn) (func(), func())) {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial(network, address)
		if err != nil {
			_ = near.Close()
			continue
		}
		l.mu.Lock()
		cut := l.isCut
		l.open = append(l.open, near, far)
		l.mu.Unlock()
		if cut { // the connection was accepted just before Cut
			_, _ = near.Close(), far.Close()
			return
		}
		there, back := join(near, far)
		for _, way := range []func(){there, back} {
			l.goroutines.Go(func() {
				way()
				_, _ = near.Close(), far.Close()
			})
		}
	}
}

// Cut closes all connections and accepts no new ones.
func (l *Link) Cut() {
	_ = l.listener.Close()
	l.mu.Lock()
	l.isCut = true
	for _, c := range l.open {
		_ = c.Close()
	}
	l.open = nil
	l.mu.Unlock()
	l.goroutines.Wait()
}
