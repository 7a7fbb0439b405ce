package server

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/peer"
)

// schemeHeaders are all headers that fiber uses to decide whether the client used https.
var schemeHeaders = []string{
	fiber.HeaderXForwardedProto, fiber.HeaderXForwardedProtocol, fiber.HeaderXForwardedSsl, fiber.HeaderXUrlScheme,
}

// trusts reports whether a sender's headers about the host and the scheme of the client's request are trusted.
func (b *trustedSenders) trusts(socket netip.Addr, credential []byte) bool {
	return b.proxies.isTrusted(socket.Unmap()) || b.callers.Find(credential) == frontCaller
}

// cleanForwarded keeps only the last entry of X-Forwarded-Host and X-Forwarded-Proto,
// because the nearest proxy wrote that entry. If the sender is not trusted, cleanForwarded
// removes the headers. Otherwise a client could choose the host of links in mails.
func (b *trustedSenders) cleanForwarded(c *fiber.Ctx) {
	header := &c.Request().Header
	var host, scheme string
	if b.trusts(socketOf(c), header.Peek(peer.SecretHeader)) {
		host = lastEntry(headerLines(c, fiber.HeaderXForwardedHost))
		scheme = lastEntry(headerLines(c, fiber.HeaderXForwardedProto))
	}
	header.Del(fiber.HeaderXForwardedHost)
	for _, name := range schemeHeaders {
		header.Del(name)
	}
	if host != "" {
		header.Set(fiber.HeaderXForwardedHost, host)
	}
	if scheme == "http" || scheme == "https" {
		header.Set(fiber.HeaderXForwardedProto, scheme)
	}
}

// lastEntry returns the last entry of a header that is a comma-separated list.
func lastEntry(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	last := lines[len(lines)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}

func socketOf(c *fiber.Ctx) netip.Addr {
	socket, _ := netip.AddrFromSlice(c.Context().RemoteIP())
	return socket
}

// strictTransport is the value of the header Strict-Transport-Security. After an answer over https, a browser
// uses only https for a year. The value does not include subdomains, because Slotmesh does not control them.
const strictTransport = "max-age=31536000"

// SetPublicURL sets the URL of the public port. If the URL begins with https, every answer contains
// Strict-Transport-Security. If not, only answers to https requests contain it. SetPublicURL must be called before Run.
func (s *Server) SetPublicURL(base string) { s.isHTTPS = strings.HasPrefix(base, "https://") }

// setStrictTransport is middleware that adds the header Strict-Transport-Security to answers.
func (s *Server) setStrictTransport(c *fiber.Ctx) error {
	err := c.Next()
	if s.isHTTPS || c.Protocol() == "https" {
		c.Set(fiber.HeaderStrictTransportSecurity, strictTransport)
	}
	return err
}

// isHTTPS reports whether a trusted proxy received the given net/http request over https.
func (b *trustedSenders) isHTTPS(r *http.Request) bool {
	socket, _ := netip.ParseAddrPort(r.RemoteAddr)
	return b.trusts(socket.Addr(), []byte(r.Header.Get(peer.SecretHeader))) &&
		lastEntry(r.Header.Values(fiber.HeaderXForwardedProto)) == "https"
}
