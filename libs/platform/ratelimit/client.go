package ratelimit

import "net/netip"

// Client is the sender of requests whose number a limit bounds. Its requests count
// in one window or in several. A request passes only if every window allows it.
type Client struct {
	group   string // windows of one group are on one node of a Redis cluster
	windows [3]share
	n       int
}

// share is one window of a client: its name within the group, and the factor by which the limit is multiplied.
type share struct {
	name   string
	factor int
}

// networkFactor is the factor of the limit for the networks around a /64.
const networkFactor = 10

// Address returns the client at an address (semantics.md §8).
// An IPv4 address counts by itself, also in its IPv6 form.
//
// An IPv6 address counts by its /64, which belongs to one customer. It also counts by its /56 and its
// /48, with ten times the limit, because providers assign networks of either size to one customer.
func Address(addr netip.Addr) Client {
	addr = addr.Unmap().WithZone("")
	if !addr.Is6() {
		return newSingle(addr.String())
	}
	network := func(bits int) string { return netip.PrefixFrom(addr, bits).Masked().String() }
	prefix48 := network(48)
	return Client{group: prefix48, n: 3, windows: [3]share{{network(64), 1}, {network(56), networkFactor},
		{prefix48, networkFactor}}}
}

// ID returns the client with an id, such as that of an API key.
func ID(id string) Client { return newSingle(id) }

func newSingle(name string) Client { return Client{group: name, n: 1, windows: [3]share{{"", 1}}} }

func (c Client) shares() []share { return c.windows[:c.n] }
