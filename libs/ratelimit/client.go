package ratelimit

import "net/netip"

// Client is whose requests count together, in one window or in several that must all have room.
type Client struct {
	group   string // windows of one group lie on one node of a Redis cluster
	windows [3]share
	n       int
}

// share is one window of a client: its name within the group, and how many times the limit it has.
type share struct {
	name  string
	times int
}

// wider is how many times the limit the networks around a /64 have.
const wider = 10

// Address is the client at an address: an IPv4 address by itself, also where it is written as IPv6; an IPv6 address by
// its /64, which one customer holds as a whole, and with ten times the limit by its /56 and its /48, of which
// providers give out either (semantics.md §8).
func Address(addr netip.Addr) Client {
	addr = addr.Unmap().WithZone("")
	if !addr.Is6() {
		return single(addr.String())
	}
	network := func(bits int) string { return netip.PrefixFrom(addr, bits).Masked().String() }
	whole := network(48)
	return Client{group: whole, n: 3, windows: [3]share{{network(64), 1}, {network(56), wider}, {whole, wider}}}
}

// ID is the client that has an id, such as that of an API key.
func ID(id string) Client { return single(id) }

func single(name string) Client { return Client{group: name, n: 1, windows: [3]share{{"", 1}}} }

func (c Client) shares() []share { return c.windows[:c.n] }
