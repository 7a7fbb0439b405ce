package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer"
)

// Proxies are the networks whose X-Forwarded-For is believed.
type Proxies []netip.Prefix

// ParseProxies reads CIDRs or single addresses; its error names the TRUSTED_PROXIES variable.
func ParseProxies(list []string) (Proxies, error) {
	var proxies Proxies
	for _, entry := range list {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		if addr, err := netip.ParseAddr(entry); err == nil {
			proxies = append(proxies, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(entry)
		if err != nil {
			return nil, fmt.Errorf("TRUSTED_PROXIES: %q is not a network; write CIDRs such as 10.0.0.0/8", entry)
		}
		proxies = append(proxies, prefix.Masked())
	}
	return proxies, nil
}

// Client returns the right-most address that is no trusted proxy, starting at the socket's and going through the
// X-Forwarded-For header from its right end (semantics.md §8). An entry that is no address ends the search.
func (p Proxies) Client(socket netip.Addr, forwardedFor string) netip.Addr {
	client := socket.Unmap()
	for p.trusted(client) && forwardedFor != "" {
		var last string
		if i := strings.LastIndexByte(forwardedFor, ','); i >= 0 {
			forwardedFor, last = forwardedFor[:i], forwardedFor[i+1:]
		} else {
			forwardedFor, last = "", forwardedFor
		}
		addr, err := parseForwarded(strings.TrimSpace(last))
		if err != nil {
			break
		}
		client = addr
	}
	return client
}

// parseForwarded reads an address, with a port where a proxy added one.
func parseForwarded(s string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return addr.Unmap().WithZone(""), nil
	}
	withPort, err := netip.ParseAddrPort(s)
	return withPort.Addr().Unmap().WithZone(""), err
}

func (p Proxies) trusted(addr netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// frontCaller is the name under which the front shows its secret.
const frontCaller = "front"

// believed are those whose X-Forwarded-For is believed: proxies by their address, and Slotmesh's own front, whose pods have no addresses of their
// own, by its secret.
type believed struct {
	proxies Proxies
	callers peer.Callers
}

// client is [Proxies.Client] of a request that shows a secret, or none. The front names the client by itself, first; no other service
// is believed.
func (b *believed) client(socket netip.Addr, forwardedFor string, shown []byte) netip.Addr {
	if b.callers.Find(shown) == frontCaller {
		named, _, _ := strings.Cut(forwardedFor, ",") // a mesh may add whom it had it from
		if client, err := parseForwarded(strings.TrimSpace(named)); err == nil {
			return client
		}
	}
	return b.proxies.Client(socket, forwardedFor)
}

// clientOf is [ClientIP] of net/http.
func (b *believed) clientOf(r *http.Request) netip.Addr {
	socket, _ := netip.ParseAddrPort(r.RemoteAddr)
	return b.client(socket.Addr(), strings.Join(r.Header.Values(fiber.HeaderXForwardedFor), ","), []byte(r.Header.Get(peer.SecretHeader)))
}

type believedKey struct{}

// trust gives the handlers those whose X-Forwarded-For is believed, and removes what others state about host and scheme.
func trust(b *believed) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Locals(believedKey{}, b)
		b.cleanForwarded(c)
		return c.Next()
	}
}

// ClientIP is the address that limits count the request by.
func ClientIP(c *fiber.Ctx) netip.Addr {
	trusted, ok := c.Locals(believedKey{}).(*believed)
	if !ok {
		trusted = &believed{}
	}
	headers := headerLines(c, fiber.HeaderXForwardedFor)
	return trusted.client(socketOf(c), strings.Join(headers, ","), c.Request().Header.Peek(peer.SecretHeader))
}
