package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/peer"
)

// Proxies are the networks whose X-Forwarded-For is trusted.
type Proxies []netip.Prefix

// ParseProxies parses CIDRs or single addresses. Its error names the variable TRUSTED_PROXIES.
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

// Client returns the client's address (semantics.md §8). It starts with the socket's address
// and continues through the entries of forwardedFor from right to left. The result is the
// first address that is not a trusted proxy. An entry that is not an address ends the search.
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

// parseForwarded parses an address, optionally with a port that a proxy added.
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

// frontCaller is the service name of the front in PEER_CALLERS.
const frontCaller = "front"

// trustedSenders are the senders whose X-Forwarded-For is trusted. Proxies are known by their address.
// Slotmesh's own front is known by its credential, because its pods have no fixed addresses.
type trustedSenders struct {
	proxies Proxies
	callers peer.Callers
}

// clientAddress returns the address of the client of a request. The argument credential is that of the request, or
// empty. If the credential is the front's, the result is the first entry of X-Forwarded-For; otherwise see
// [Proxies.Client].
func (b *trustedSenders) clientAddress(socket netip.Addr, forwardedFor string, credential []byte) netip.Addr {
	if b.callers.Find(credential) == frontCaller {
		entry, _, _ := strings.Cut(forwardedFor, ",") // a mesh may append the address of its own proxy
		if client, err := parseForwarded(strings.TrimSpace(entry)); err == nil {
			return client
		}
	}
	return b.proxies.Client(socket, forwardedFor)
}

// clientAddressHTTP is [ClientIP] for net/http.
func (b *trustedSenders) clientAddressHTTP(r *http.Request) netip.Addr {
	socket, _ := netip.ParseAddrPort(r.RemoteAddr)
	return b.clientAddress(socket.Addr(), strings.Join(r.Header.Values(fiber.HeaderXForwardedFor), ","),
		[]byte(r.Header.Get(peer.SecretHeader)))
}

type sendersKey struct{}

// trustSenders makes b available to handlers, and removes what untrusted senders state about host and scheme.
func trustSenders(b *trustedSenders) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Locals(sendersKey{}, b)
		b.cleanForwarded(c)
		return c.Next()
	}
}

// ClientIP returns the address by which limits count the request.
func ClientIP(c *fiber.Ctx) netip.Addr {
	trusted, ok := c.Locals(sendersKey{}).(*trustedSenders)
	if !ok {
		trusted = &trustedSenders{}
	}
	headers := headerLines(c, fiber.HeaderXForwardedFor)
	return trusted.clientAddress(socketOf(c), strings.Join(headers, ","), c.Request().Header.Peek(peer.SecretHeader))
}
