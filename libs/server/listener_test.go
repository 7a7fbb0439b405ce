package server

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/slotmesh/slotmesh/libs/telemetry"
)

func TestConnectionsOfOneNetworkAreBoundedTogether(t *testing.T) {
	t.Parallel()
	const perAddress = 2
	one := func(address string) func(int) string { return func(int) string { return address } }
	each := func(format string) func(int) string { return func(i int) string { return fmt.Sprintf(format, i) } }
	for name, c := range map[string]struct {
		nth     func(i int) string // address of the network
		room    int
		another string // address outside it
	}{
		"an IPv4 address": {one("192.0.2.1"), perAddress, "192.0.2.2"},
		"a /64":           {each("2001:db8:1:1234::%x"), perAddress, "2001:db8:1:1235::1"},
		"a /48":           {each("2001:db8:1:%02x00::1"), wider * perAddress, "2001:db8:2::1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newListener(nil, bounds{byAddress: perAddress, tel: telemetry.Discard()})
			open := func(address string) (*conn, bool) {
				remote := netip.MustParseAddr(address)
				opened := &conn{from: l, shares: sharesOf(remote)}
				_, ok := l.admit(opened, remote)
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
				t.Errorf("%s is refused with it", c.another)
			}
			l.remove(first)
			if _, ok := open(c.nth(c.room)); !ok {
				t.Error("there is no room after a connection was closed")
			}
		})
	}
}
