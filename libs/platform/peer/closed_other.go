//go:build !unix

package peer

import "net"

// isClosedByPeer always returns false. On systems other than Unix, only a
// later operation on the connection detects that the peer has closed it.
func isClosedByPeer(net.Conn) bool { return false }
