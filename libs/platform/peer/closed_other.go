//go:build !unix

package peer

import "net"

// isClosedByPeer returns false: on other systems than Unix, a closed connection is only detected when a later operation
// fails.
func isClosedByPeer(net.Conn) bool { return false }
