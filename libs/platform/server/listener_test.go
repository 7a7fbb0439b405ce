package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

func TestConnectionsAreBoundedByNetwork(t *testing.T) {
	t.Parallel()
	const perAddress = 2
	one := func(address string) func(int) string { return func(int) string { return address } }
	each := func(format string) func(int) string { return func(i int) string { return fmt.Sprintf(format, i) } }
	for name, c := range map[string]struct {
		nth     func(i int) string // i-th address in the network
		room    int
		another string // address outside it
	}{
		"an IPv4 address": {one("192.0.2.1"), perAddress, "192.0.2.2"},
		"a /64":           {each("2001:db8:1:1234::%x"), perAddress, "2001:db8:1:1235::1"},
		"a /48":           {each("2001:db8:1:%02x00::1"), prefix48Factor * perAddress, "2001:db8:2::1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newListener(nil, bounds{byAddress: perAddress, tel: telemetry.Discard()})
			open := func(address string) (*conn, bool) {
				remote := netip.MustParseAddr(address)
				near, far := net.Pipe()
				t.Cleanup(func() { _ = errors.Join(near.Close(), far.Close()) })
				opened := &conn{Conn: near, port: l, shares: networkShares(remote)}
				_, ok := l.admit(opened, remote)
				opened.markBusy() // busy connections are not closed
				return opened, ok
			}
			var first *conn
			for i := range c.room {
				opened, ok := open(c.nth(i))
				if !ok {
					t.Fatalf("connection %d of %d is refused", i+1, c.room)
				}
				if first == nil {
					first = opened
				}
			}
			if _, ok := open(c.nth(c.room)); ok {
				t.Errorf("connection %d is open, where there is room for %d", c.room+1, c.room)
			}
			if _, ok := open(c.another); !ok {
				t.Errorf("%s is also refused", c.another)
			}
			l.remove(first)
			if _, ok := open(c.nth(c.room)); !ok {
				t.Error("a connection is refused although another one was closed")
			}
		})
	}
}

// If a bound is reached, a new connection closes the connection that has been idle for the longest time among those
// under this bound.
func TestLongestIdleConnectionIsReclaimed(t *testing.T) {
	t.Parallel()
	l := newListener(nil, bounds{total: 4, byAddress: 2, tel: telemetry.Discard()})
	open := func(address string) (*conn, bool) {
		near, far := net.Pipe()
		t.Cleanup(func() { _ = errors.Join(near.Close(), far.Close()) })
		remote := netip.MustParseAddr(address)
		c := &conn{Conn: near, port: l, shares: networkShares(remote)}
		_, ok := l.admit(c, remote)
		return c, ok
	}
	isOpen := func(c *conn) bool { _, ok := l.open[c]; return ok && c.state.Load() != reclaimed }
	other, _ := open("192.0.2.9")
	first, _ := open("192.0.2.1")
	second, _ := open("192.0.2.1")
	first.markBusy()
	first.markIdle() // idle for a shorter time than the second from now on
	third, ok := open("192.0.2.1")
	if !ok || isOpen(second) || !isOpen(first) || !isOpen(other) {
		t.Errorf("at the limit of one address, accepted: %v; open: second %v, first %v, another address %v", ok,
			isOpen(second),
			isOpen(first), isOpen(other))
	}
	first.markBusy()
	third.markBusy()
	if _, ok := open("192.0.2.1"); ok || !isOpen(first) || !isOpen(third) {
		t.Error("a busy connection was closed for a new one")
	}
	fourth, _ := open("192.0.2.8")
	fifth, ok := open("192.0.2.7") // the fifth of four
	if !ok || isOpen(other) || !isOpen(fourth) || !isOpen(fifth) {
		t.Errorf("within the bound of all: %v, the longest idle %v, the others %v %v", ok, isOpen(other),
			isOpen(fourth), isOpen(fifth))
	}
	for _, c := range []*conn{first, third, fourth, fifth} {
		l.remove(c)
	}
	if len(l.open) != 0 || len(l.byNetwork) != 0 || l.all.members.Len() != 0 || l.all.idle.Load() != 0 {
		t.Errorf("after all were closed: %d open, %d networks, %d members, %d idle", len(l.open), len(l.byNetwork),
			l.all.members.Len(), l.all.idle.Load())
	}
}
