package server

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/peer"
)

// The front has no fixed address, so it is identified by its secret. It names the client in a header. The header of any
// other service is ignored.
func TestClientAddressTrustsFrontOnly(t *testing.T) {
	t.Parallel()
	secrets := map[string]string{"front": "0123456789abcdef0123456789abcdef",
		"pages": "fedcba9876543210fedcba9876543210"}
	secret, ofPages := peer.Credential(secrets["front"], "booking"), peer.Credential(secrets["pages"], "booking")
	callers, err := peer.ParseCallers(strings.Split(peer.CallersSetting(secrets, "booking"), ","))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ shown, forwarded, want string }{
		"the secret":                 {secret, "192.0.2.7", "192.0.2.7"},
		"the secret, through a mesh": {secret, "192.0.2.7, 10.1.2.3", "192.0.2.7"},
		"that of another service":    {ofPages, "192.0.2.7", "10.1.2.3"},
		"another":                    {secret + "0", "192.0.2.7", "10.1.2.3"},
		"a part of it":               {secret[:31], "192.0.2.7", "10.1.2.3"},
		"none":                       {"", "192.0.2.7", "10.1.2.3"},
		"the secret, and nobody":     {secret, "", "10.1.2.3"},
		"the secret, and no address": {secret, "unknown", "10.1.2.3"},
	} {
		b := trustedSenders{callers: callers}
		if got := b.clientAddress(netip.MustParseAddr("10.1.2.3"), c.forwarded, []byte(c.shown)); got.String() != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		r := &http.Request{RemoteAddr: "10.1.2.3:4567", Header: http.Header{"X-Forwarded-For": {c.forwarded},
			peer.SecretHeader: {c.shown}}}
		if got := b.clientAddressHTTP(r); got.String() != c.want {
			t.Errorf("%s, by net/http: %s, want %s", name, got, c.want)
		}
	}
	none := trustedSenders{}
	if got := none.clientAddress(netip.MustParseAddr("10.1.2.3"), "192.0.2.7", nil); got.String() != "10.1.2.3" {
		t.Errorf("without secrets, the address is %s, want that of the socket", got)
	}
}
