package ratelimit_test

import (
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/slotmesh/slotmesh/libs/ratelimit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRetryAfterSecondsRoundsUp(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]int{
		0: 0, 1: 1, time.Second - 1: 1, time.Second: 1, time.Second + 1: 2, time.Minute: 60,
	} {
		if got := (ratelimit.Decision{RetryAfter: wait}).RetryAfterSeconds(); got != want {
			t.Errorf("%s: %d, want %d", wait, got, want)
		}
	}
}

func TestClientKeyCountsIPv6ByItsNetwork(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"192.0.2.7":                 "192.0.2.7",
		"::ffff:192.0.2.7":          "192.0.2.7",
		"2001:db8:1:2:3:4:5:6":      "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::1":      "2001:db8:1:2::/64",
		"2001:db8:1:3::1":           "2001:db8:1:3::/64",
		"fe80::1%eth0":              "fe80::/64",
		"2001:db8:1:2:3:4:5:6%eth1": "2001:db8:1:2::/64",
	} {
		if got := ratelimit.ClientKey(netip.MustParseAddr(addr)); got != want {
			t.Errorf("ClientKey(%s) = %s, want %s", addr, got, want)
		}
	}
	if got := ratelimit.ClientKey(netip.Addr{}); got == "" {
		t.Error("an address that is not known has no key")
	}
}
