package ratelimit

import "net/netip"

// Client is the sender of requests that count against a limit. A request counts
// in one or more windows of the client. It passes only if every window allows it.
type Client struct {
	group   string // a Redis cluster stores all windows of a group on one node
	windows [3]share
	n       int
}

// share is one window of a client. The field `name` identifies the window within the group. The limit is multiplied by
// the field `factor`.
type share struct {
	name   string
	factor int
}

// networkFactor is the factor of the limit for the networks /56 and /48 of an IPv6 address.
const networkFactor = 10

// Address returns the client for an IP address (semantics.md §8). Each IPv4 address has its own count. An IPv4 address
// in IPv6 form has the same count as the IPv4 address.
//
// A request from an IPv6 address counts for the /64 network of the address, because one customer of a provider has this
// network. The request also counts for the /56 and the /48 network, with ten times the limit, because some customers
// have such a network.
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

// ID returns the client with the given id, such as the id of an API key.
func ID(id string) Client { return newSingle(id) }

func newSingle(name string) Client { return Client{group: name, n: 1, windows: [3]share{{"", 1}}} }

func (c Client) shares() []share { return c.windows[:c.n] }
