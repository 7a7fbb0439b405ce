package mcp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/mcp"
)

// randomAddress returns a random address, so that other tests do not count against its limits.
func randomAddress() string {
	return "2001:db8:" + testkit.Unique()[:4] + ":" + testkit.Unique()[:4] + "::1"
}

// sendWithinMinute calls `send` until one call takes less than a minute, and returns its last answer. After a minute, a
// limit no longer counts the first request.
func sendWithinMinute(send func() reply) reply {
	for {
		start := time.Now()
		if last := send(); time.Since(start) < time.Minute {
			return last
		}
	}
}

func TestAddressLimitCountsBeforeKeyCheck(t *testing.T) {
	t.Parallel()
	address := startServer(t, newPeers(), func(c *mcp.Config) {
		c.Limits.PublicPerMinute = 2
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	refused := sendWithinMinute(func() reply {
		from := http.Header{"X-Forwarded-For": {randomAddress()}, "Authorization": {"Bearer bad"}}
		for range 2 {
			post(t, address, http.MethodPost, ping, from).want(t, "below the limit", 401, "invalid_api_key")
		}
		return post(t, address, http.MethodPost, ping, from)
	})
	refused.want(t, "over it", 429, "rate_limited")
	if refused.header.Get("Retry-After") == "" || refused.header.Get("RateLimit-Policy") != `"mcp";q=2;w=60` {
		t.Errorf("the headers are %v", refused.header)
	}
	post(t, address, http.MethodPost, ping, http.Header{"X-Forwarded-For": {randomAddress()}}).want(t,
		"another address",
		200, "")
}

func TestKeyLimitCountsAgents(t *testing.T) {
	t.Parallel()
	refused := sendWithinMinute(func() reply {
		n, id := newPeers(), testkit.Unique()
		n.answers["POST /internal/keys/check"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"business_id":"` + businessID + `","id":"01900000-0000-7000-8000-` + id[:12] +
				`","scope":"all"}`))
		})
		address := startServer(t, n, func(c *mcp.Config) { c.Limits.KeyPerMinute = 2 })
		for range 2 {
			post(t, address, http.MethodPost, ping, nil).want(t, "within the limit", 200, "")
		}
		return post(t, address, http.MethodPost, ping, nil)
	})
	refused.want(t, "over it", 429, "rate_limited")
	if refused.header.Get("Retry-After") == "" || refused.header.Get("WWW-Authenticate") != "" {
		t.Errorf("the headers are %v", refused.header)
	}
}
