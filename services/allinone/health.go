package allinone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/sethvargo/go-envconfig"
)

// CheckHealth prints the answer of a running process about its readiness, at OPS_PORT. The error is one sentence. It is
// nil if all services are ready.
func CheckHealth(ctx context.Context, env envconfig.Lookuper, out io.Writer) error {
	cfg, err := loadConfig(ctx, env)
	if err != nil {
		return err
	}
	text, err := readReadiness(ctx, cfg)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, text)
	return err
}

// notReadyError reports that a process runs and is not ready.
type notReadyError struct{ reasons string }

func (e *notReadyError) Error() string { return "not ready: " + e.reasons }

// readReadiness returns the readiness of the running process with the settings cfg. If the process is not ready, the
// error contains the reasons.
func readReadiness(ctx context.Context, cfg Config) (string, error) {
	if cfg.OpsPort == 0 {
		return "", errors.New("OPS_PORT: it is not set, so Slotmesh does not report its readiness; set it, and restart")
	}
	host, err := netip.ParseAddr(cmp.Or(cfg.OpsHost, loopbackHost))
	if err != nil || host.IsUnspecified() {
		host = netip.MustParseAddr(loopbackHost)
	}
	address := net.JoinHostPort(host.String(), strconv.Itoa(cfg.OpsPort))
	status, body, err := sendRequest(ctx, http.MethodGet, "http://"+address+"/readyz", nil, nil)
	text := strings.TrimSpace(string(body))
	switch {
	case err != nil:
		return "", fmt.Errorf("no Slotmesh answers at %s; start it, or look into its log", address)
	case status != http.StatusOK:
		return "", &notReadyError{strings.ReplaceAll(text, "\n", "; ")}
	}
	return text, nil
}
