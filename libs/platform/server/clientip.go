package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/peer"
)

// Proxies are the networks of the proxies whose header X-Forwarded-For is trusted.
type Proxies []netip.Prefix

// ParseProxies parses a list of networks in CIDR notation or
// single addresses. The error names the variable TRUSTED_PROXIES.
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

// Client returns the address of the client (semantics.md §8). The argument `socket` is the address of the connection's
// peer, and `forwardedFor` is the value of X-Forwarded-For. Client examines the address `socket` first, and then the
// entries of `forwardedFor` from right to left. It returns the first address that is not a trusted proxy. An entry that
// is not an address ends the search.
func (p Proxies) Client(socket netip.Addr, forwardedFor string) netip.Addr {
	client := socket.Unmap()
	for p.isTrusted(client) && forwardedFor != "" {
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

// parseForwarded parses an address. Some proxies add a port to the address, which is ignored.
func parseForwarded(s string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return addr.Unmap().WithZone(""), nil
	}
	withPort, err := netip.ParseAddrPort(s)
	return withPort.Addr().Unmap().WithZone(""), err
}

func (p Proxies) isTrusted(addr netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// frontCaller is the name of the service "front" in PEER_CALLERS.
const frontCaller = "front"

// trustedSenders are the senders whose header X-Forwarded-For is trusted: the proxies and the front of Slotmesh. A
// proxy is identified by its address. The front is identified by a credential, because its pods have no fixed
// addresses.
type trustedSenders struct {
	proxies Proxies
	callers peer.Callers
}

// clientAddress returns the address of the client that sent a request. The argument `credential` is
// the credential in the request, or empty. If the front sent the credential, the result is the
// first entry of X-Forwarded-For. In all other cases, [Proxies.Client] determines the address.
func (b *trustedSenders) clientAddress(socket netip.Addr, forwardedFor string, credential []byte) netip.Addr {
	if b.callers.Find(credential) == frontCaller {
		entry, _, _ := strings.Cut(forwardedFor, ",") // the proxy of a service mesh may append its own address
		if client, err := parseForwarded(strings.TrimSpace(entry)); err == nil {
			return client
		}
	}
	return b.proxies.Client(socket, forwardedFor)
}

// clientAddressHTTP returns the address of the client for a net/http request, as [ClientIP] does for fiber.
func (b *trustedSenders) clientAddressHTTP(r *http.Request) netip.Addr {
	socket, _ := netip.ParseAddrPort(r.RemoteAddr)
	return b.clientAddress(socket.Addr(), strings.Join(r.Header.Values(fiber.HeaderXForwardedFor), ","),
		[]byte(r.Header.Get(peer.SecretHeader)))
}

type sendersKey struct{}

// trustSenders returns middleware that makes `b` available to handlers. The middleware also removes headers about the
// original host and scheme if the sender is not trusted.
func trustSenders(b *trustedSenders) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Locals(sendersKey{}, b)
		b.cleanForwarded(c)
		return c.Next()
	}
}

// ClientIP returns the address of the client that sent the request. Limits count requests by this address.
func ClientIP(c *fiber.Ctx) netip.Addr {
	trusted, ok := c.Locals(sendersKey{}).(*trustedSenders)
	if !ok {
		trusted = &trustedSenders{}
	}
	headers := headerLines(c, fiber.HeaderXForwardedFor)
	return trusted.clientAddress(socketOf(c), strings.Join(headers, ","), c.Request().Header.Peek(peer.SecretHeader))
}
