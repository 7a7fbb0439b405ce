package allinone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
)

// listeners are the listeners of the two ports of a part (a service or the front).
type listeners struct{ public, internal net.Listener }

// ports contains the listeners of all services and of the front, by name. All listeners are open before the first
// service starts, so that the settings of each service can contain the URLs of the other services.
type ports map[string]listeners

// openPorts opens all listeners. The public ports of the front and of the console service are in the settings. All
// other ports are free ports on loopback.
func openPorts(ctx context.Context, cfg Config) (ports, error) {
	opened := make(ports)
	wanted := map[string]portSetting{
		frontName: {"PORT", cfg.Port, cfg.host()}, consoleName: {"ADMIN_PORT", cfg.AdminPort, cfg.host()},
	}
	for _, name := range partNames() {
		public, err := listen(ctx, wanted[name])
		if err != nil {
			return nil, errors.Join(err, opened.close())
		}
		opened[name] = listeners{public: public}
		internal, err := listen(ctx, portSetting{})
		if err != nil {
			return nil, errors.Join(err, opened.close())
		}
		opened[name] = listeners{public: public, internal: internal}
	}
	return opened, nil
}

// loopbackHost is the address that only this machine can reach.
const loopbackHost = "127.0.0.1"

// portSetting is a setting for a port: the environment variable with the number, the number, and the address of this
// machine. The zero value selects any free port on loopback.
type portSetting struct {
	variable string
	port     int
	host     string
}

func listen(ctx context.Context, p portSetting) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(cmp.Or(p.host, loopbackHost),
		strconv.Itoa(p.port)))
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %d is in use; set %s to another", p.port, p.variable)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("port %d may not be used by this user; set %s to one above 1023", p.port, p.variable)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s: %s is no address of this machine; write one that is, or 0.0.0.0 for all",
			strings.TrimSuffix(strings.TrimPrefix(p.variable, "ADMIN_"), "PORT")+"HOST", p.host)
	default:
		return nil, fmt.Errorf("a loopback port cannot be opened: %w", err)
	}
}

// findURL returns the URL of a part's public port for requests from this machine.
func (p ports) findURL(name string) string {
	return findListenerURL(p[name].public)
}

// findListenerURL returns the URL of a listener for requests from this machine.
func findListenerURL(listener net.Listener) string {
	at := listener.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() {
		return "http://" + net.JoinHostPort(loopbackHost, strconv.Itoa(at.Port))
	}
	return "http://" + at.String()
}

// close closes all listeners. A part may have closed its listeners already.
func (p ports) close() error {
	for _, l := range p {
		for _, listener := range []net.Listener{l.public, l.internal} {
			if listener != nil {
				_ = listener.Close() // the only possible error is that it is already closed
			}
		}
	}
	return nil
}
