package allinone

import (
	"net"
	"os"
)

// notifyManager sends a state, such as READY=1, to the service manager that started this process. The protocol is that
// of systemd (sd_notify(3)): a datagram to the Unix socket in the variable NOTIFY_SOCKET. Without this variable,
// nothing is sent. If sending fails, the service manager acts as if the state were not reached, and logs that.
func notifyManager(state string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return
	}
	_, _ = conn.Write([]byte(state))
	_ = conn.Close()
}
