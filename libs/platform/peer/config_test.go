package peer

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func TestConfigSetsTimeout(t *testing.T) {
	t.Parallel()
	var cfg, refused Config
	if err := config.Load(t.Context(), &refused,
		envconfig.MapLookuper(map[string]string{"PEER_TIMEOUT": "-1s"})); err == nil || !strings.Contains(err.Error(),
		"PEER_TIMEOUT") {
		t.Errorf("a timeout below 0: %v", err)
	}
	if err := config.Load(t.Context(), &cfg,
		envconfig.MapLookuper(map[string]string{"PEER_TIMEOUT": "20ms"})); err != nil {
		t.Fatal(err)
	}
	_, peerURL := startSilentPeer(t, "http://")
	set := cfg.Client("set", peerURL.base, telemetry.Discard())
	own := cfg.Client("own", peerURL.base, telemetry.Discard(), Timeout(time.Hour))
	if set.timeout != cfg.Timeout || own.timeout != time.Hour {
		t.Errorf("timeouts are %s as set and %s as the caller says", set.timeout, own.timeout)
	}
	if err := set.Call(t.Context(), http.MethodGet, "/", nil, nil); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("a peer that is silent: %v", err)
	}
}

func TestWriteTimeoutAppliesToWrites(t *testing.T) {
	t.Parallel()
	_, peerURL := startSilentPeer(t, "http://")
	client := New("patient", peerURL.base, telemetry.Discard(), Timeout(20*time.Millisecond), WriteTimeout(time.Hour))
	if err := client.Call(t.Context(), http.MethodGet, "/", nil, nil); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("a look-up: %v", err)
	}
	if err := client.Ask(t.Context(), "/", nil, nil); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("a look-up by POST: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := client.Call(ctx, http.MethodPost, "/", nil, nil)
	end, _ := ctx.Deadline()
	if early := time.Until(end); !fault.Is(err, fault.OutcomeUnknown) || early > time.Second/2 {
		t.Errorf("a write: %v, stopped %s before its deadline", err, early)
	}
}
