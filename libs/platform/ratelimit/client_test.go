package ratelimit

import (
	"net/netip"
	"testing"
)

func TestAddressCountsByNetworks(t *testing.T) {
	t.Parallel()
	v4 := func(addr string) Client { return Client{group: addr, n: 1, windows: [3]share{{"", 1}}} }
	v6 := func(near, wide, whole string) Client {
		return Client{group: whole, n: 3, windows: [3]share{{near, 1}, {wide, 10}, {whole, 10}}}
	}
	for addr, want := range map[string]Client{
		"192.0.2.7":                    v4("192.0.2.7"),
		"::ffff:192.0.2.7":             v4("192.0.2.7"),
		"2001:db8:1:1234:3:4:5:6":      v6("2001:db8:1:1234::/64", "2001:db8:1:1200::/56", "2001:db8:1::/48"),
		"2001:db8:1:1234:ffff::1":      v6("2001:db8:1:1234::/64", "2001:db8:1:1200::/56", "2001:db8:1::/48"),
		"2001:db8:1:1334::1":           v6("2001:db8:1:1334::/64", "2001:db8:1:1300::/56", "2001:db8:1::/48"),
		"2001:db8:1:1234:3:4:5:6%eth1": v6("2001:db8:1:1234::/64", "2001:db8:1:1200::/56", "2001:db8:1::/48"),
	} {
		if got := Address(netip.MustParseAddr(addr)); got != want {
			t.Errorf("Address(%s) = %+v, want %+v", addr, got, want)
		}
	}
	if got := Address(netip.Addr{}); got.group == "" {
		t.Error("an unknown address has no group")
	}
}
