package webhook

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/clip"
)

// Guard decides which addresses webhooks may call. It allows calls to public addresses by HTTPS on port 443. If
// AllowLoopback is set, it also allows calls to addresses of this machine by HTTP or HTTPS on any port. Only tests set
// AllowLoopback.
type Guard struct {
	AllowLoopback   bool
	AllowedNetworks []netip.Prefix // networks that the operator also allows, by HTTP or HTTPS and on any port
}

// isInAllowedNetwork reports whether the given address is in AllowedNetworks.
func (g Guard) isInAllowedNetwork(a netip.Addr) bool {
	return a.Zone() == "" && slices.ContainsFunc(g.AllowedNetworks, func(p netip.Prefix) bool {
		return p.Contains(a.Unmap())
	})
}

// errAddress means that a host name resolves to an address that webhooks may not call.
var errAddress = errors.New("the address is not a public one")

// specialNetworks lists the networks in IPv4 and in IPv6's global unicast space that are not public: special-purpose
// addresses (IANA, RFC 6890), multicast, and IPv6 networks that embed an IPv4 address.
var specialNetworks = mustParsePrefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
	"198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32",           // public, but returns metadata to virtual machines of Azure
	"2001::/23",                  // IETF protocol assignments, such as Teredo
	"2001:db8::/32", "3fff::/20", // documentation
	"2002::/16", // 6to4
	"2620:4f:8000::/48",
)

// globalUnicast is the part of the IPv6 address space for public networks. It excludes loopback, IPv4-mapped, NAT64,
// unique local and link-local addresses.
var globalUnicast = netip.MustParsePrefix("2000::/3")

func mustParsePrefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// allows reports whether webhooks may call the given address.
func (g Guard) allows(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	if g.AllowLoopback && a.Unmap().IsLoopback() || g.isInAllowedNetwork(a) {
		return true
	}
	if a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	for _, p := range specialNetworks {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// Control is the Control function of a net.Dialer: it rejects a connection to an address that webhooks may not call.
// The dialer calls Control after name resolution, right before it connects. Control therefore also rejects a host name
// that resolved to an allowed address in [Guard.CheckURL] and resolves to another address now.
func (g Guard) Control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !g.allows(to.Addr()) {
		return errAddress
	}
	if to.Port() != httpsPort && !to.Addr().IsLoopback() && !g.isInAllowedNetwork(to.Addr()) {
		return errAddress
	}
	return nil
}

const (
	httpsPort     = 443
	maxURL        = 2000            // bytes
	lookupTimeout = 2 * time.Second // time limit of a name lookup; an owner waits for its result
)

// numberPattern matches the last label of a host name if browsers and HTTP libraries would parse the host name as an
// IPv4 address.
var numberPattern = regexp.MustCompile(`^(0[xX][0-9a-fA-F]*|[0-9]+)$`)

// CheckURL rejects a URL that an endpoint may not have; the error gives the reason. CheckURL calls the argument
// `resolve` to look up the host. If the lookup fails, CheckURL accepts the URL, because the name may resolve later.
// Fault: invalid_parameter.
func (g Guard) CheckURL(ctx context.Context, text string, resolve func(context.Context, string) ([]netip.Addr,
	error)) error {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || !utf8.ValidString(text) {
		return request.Invalid("url: this is no URL; write one such as https://example.com/hooks, of at most %d bytes.",
			maxURL)
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if g.isLoopback(u, host) || g.isLocal(ctx, u, host, resolve) {
		return nil
	}
	switch {
	case u.Scheme != "https":
		return request.Invalid("url: only https is sent to; write https://….")
	case u.User != nil:
		return request.Invalid("url: leave out the user and password; receivers know us by the signature.")
	case u.Fragment != "":
		return request.Invalid("url: leave out what follows #; it is not sent.")
	case u.Port() != "" && u.Port() != "443":
		return request.Invalid("url: only port 443 is called; leave the port out.")
	case !isName(host):
		return request.Invalid("url: write the host by its public name, such as example.com; addresses and local " +
			"names are not called.")
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addresses, err := resolve(ctx, host)
	if err != nil {
		return nil // Control checks the address at each connection
	}
	for _, a := range addresses {
		if !g.allows(a.Unmap()) {
			return request.Invalid("url: %s leads to an address that is not public, and such are not called.",
				clip.Text(host))
		}
	}
	return nil
}

// isLocal reports whether all addresses of the URL's host are in AllowedNetworks.
func (g Guard) isLocal(ctx context.Context, u *url.URL, host string,
	resolve func(context.Context, string) ([]netip.Addr, error)) bool {
	if len(g.AllowedNetworks) == 0 || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Fragment != "" ||
		host == "" {
		return false
	}
	addresses := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		addresses = append(addresses, a)
	} else {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		if addresses, err = resolve(ctx, host); err != nil {
			return false
		}
	}
	return len(addresses) > 0 && !slices.ContainsFunc(addresses, func(a netip.Addr) bool {
		return !g.isInAllowedNetwork(a)
	})
}

// isLoopback reports whether AllowLoopback is set and the given URL refers to this machine.
func (g Guard) isLoopback(u *url.URL, host string) bool {
	a, err := netip.ParseAddr(host)
	return g.AllowLoopback && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil &&
		(host == "localhost" || err == nil && a.IsLoopback())
}

// isName reports whether the given host is a public DNS name. It returns false for an IP address in any notation.
func isName(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	return len(labels) > 1 && !slices.Contains(labels, "") && !numberPattern.MatchString(last) && last != "localhost" &&
		!strings.ContainsAny(host, ":%[]@ ")
}

// Resolve looks up a host name with the resolver that connections also use.
func Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}
